package change

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/services/containers/compose"
	"github.com/patchbay-dev/patchbay/core/services/containers/failure"
	"github.com/patchbay-dev/patchbay/core/services/containers/health"
	"github.com/patchbay-dev/patchbay/core/services/containers/host"
	"github.com/patchbay-dev/patchbay/core/services/containers/project"
	"github.com/patchbay-dev/patchbay/core/services/containers/record"
	"github.com/patchbay-dev/patchbay/core/services/containers/work"
	"github.com/patchbay-dev/patchbay/sdk/engine"
)

// dependentSteps are the steps of a change that are about the dependents of its service.
type dependentSteps struct{ *change }

func (c *change) dependentSteps() dependentSteps { return dependentSteps{c} }

// leavesOut reports whether the change leaves it to a later one to recreate a dependent. A rollback leaves nothing to others.
func (c dependentSteps) leavesOut(d record.Dependent) bool {
	return d.Follows && stepOrder(c.rec.Step) >= 0
}

// pullFollowers pulls the new images of the dependents that follow. One whose image cannot be had is recreated with the change instead.
func (c dependentSteps) pullFollowers(ctx context.Context) error {
	for i := range c.rec.Dependents {
		d := &c.rec.Dependents[i]
		at := slices.IndexFunc(c.spec.Targets, func(t project.Target) bool { return t.ServiceID == d.ServiceID })
		if !d.Follows || at < 0 {
			continue
		}
		svc, err := c.s.store.FindService(ctx, d.ServiceID)
		if err != nil {
			return err
		}
		if _, err = c.pullSteps().fetchImage(ctx, svc.ImageRef().WithDigest(c.spec.Targets[at].TargetDigest)); err != nil {
			if ctx.Err() != nil {
				return err
			}
			c.r.LogWarning(ctx, "%s: the new image of %s, which shares namespaces or volumes with it, could not be pulled: %s", c.displayName(), d.Name, failure.Text(err))
			d.Follows = false
		}
	}
	return nil
}

// recreateDependents recreates the services that share something with the containers that were just recreated, each with
// the image that it had.
func (c dependentSteps) recreateDependents(ctx context.Context) error {
	for _, d := range c.rec.Dependents {
		if c.leavesOut(d) {
			continue
		}
		if err := c.recreateDependent(ctx, d); err != nil {
			return err
		}
	}
	return nil
}

// recreateDependent recreates a dependent with the image that it had.
func (c dependentSteps) recreateDependent(ctx context.Context, d record.Dependent) error {
	c.r.LogInfo(ctx, "%s: recreating %s, which shares namespaces or volumes with it", c.displayName(), d.Name)
	svc, err := c.s.store.FindService(ctx, d.ServiceID)
	if err != nil {
		return err
	}
	if err := c.retagDependent(ctx, &svc, d.ImageID); err != nil {
		return err
	}
	call := host.ComposeCall{Action: engine.ActionRecreate, Services: []string{d.Name}, Scale: map[string]int{d.Name: d.Replicas}, Force: true, NoStart: d.Stopped}
	_, err = c.s.cfg.Host.RunCompose(ctx, c.r, &c.stack, call)
	return err
}

// retagDependent gives the name of a dependent's image back to the one that it runs, if another has got it.
func (c dependentSteps) retagDependent(ctx context.Context, svc *record.Service, imageID string) error {
	ref := svc.ImageRef()
	if imageID == "" || svc.Repo == "" || ref.Digest != "" {
		return nil
	}
	return c.s.cfg.Host.RetryStep(ctx, func() error {
		found, err := c.s.cfg.Host.Engine().Images(ctx, []string{ref.String()})
		if err != nil || len(found) == 1 && found[0] != nil && found[0].ID == imageID {
			return err
		}
		return c.s.cfg.Host.Engine().Tag(ctx, imageID, ref.String())
	})
}

// restartDependents is for a provider that was stopped and started without being recreated: its namespaces are new.
func (c dependentSteps) restartDependents(ctx context.Context) {
	for _, d := range c.rec.Dependents {
		if d.Stopped {
			continue
		}
		if _, err := c.s.cfg.Host.RunCompose(ctx, c.r, &c.stack, host.ComposeCall{Action: engine.ActionRestart, Services: []string{d.Name}}); err != nil {
			c.r.LogError(ctx, "%s: %s, which shares namespaces with it, could not be restarted: %s", c.displayName(), d.Name, failure.Text(err))
		}
	}
}

// awaitDependents waits until the dependents are healthy, each with its containers, in namespaces of containers that exist.
func (c dependentSteps) awaitDependents(ctx context.Context) error {
	for _, d := range c.rec.Dependents {
		if c.leavesOut(d) {
			continue
		}
		if err := c.awaitDependent(ctx, d); err != nil {
			return err
		}
	}
	return nil
}

func (c dependentSteps) awaitDependent(ctx context.Context, d record.Dependent) error {
	svc, err := c.s.store.FindService(ctx, d.ServiceID)
	if err != nil {
		return err
	}
	want := health.Wanted{ImageID: d.ImageID, Replicas: d.Replicas}
	if d.Stopped {
		return c.s.health.CheckStopped(ctx, &c.stack, &svc, want)
	}
	if err := c.s.health.WaitHealthy(ctx, c.r, &c.stack, &svc, want); err != nil {
		return err
	}
	return c.checkNamespaces(ctx, d.Name)
}

// checkNamespaces makes sure that the containers of a dependent share nothing with containers that are gone.
func (c dependentSteps) checkNamespaces(ctx context.Context, service string) error {
	list, err := c.s.cfg.Host.ContainersOf(ctx, c.stack.Project, "")
	if err != nil {
		return err
	}
	for _, ct := range list {
		if ct.Labels[host.LabelService] != service {
			continue
		}
		d, err := c.s.cfg.Host.Engine().Inspect(ctx, ct.ID)
		if err != nil {
			return fmt.Errorf("inspect %s: %w", ct.Name, err)
		}
		if d.Config == nil {
			continue
		}
		for _, mode := range []string{d.Config.NetworkMode, d.Config.PIDMode, d.Config.IPCMode} {
			id, shared := strings.CutPrefix(mode, compose.SharesContainer)
			if !shared {
				continue
			}
			if _, err := c.s.cfg.Host.Engine().Inspect(ctx, id); err != nil {
				if fault.CodeOf(err) == fault.NotFound {
					return fault.New(fault.Conflict, "The container %s shares a namespace with a container that is gone.", ct.Name)
				}
				return fmt.Errorf("inspect %s: %w", record.ShortDigest(id), err)
			}
		}
	}
	return nil
}

// recreateOutdated recreates a dependent whose containers are older than those of the service that it depends on.
func (c dependentSteps) recreateOutdated(ctx context.Context, d record.Dependent) error {
	ctx, cancel := work.OutlastJob(ctx, rollbackTime)
	defer cancel()
	return c.s.cfg.Host.RepeatAfterOutage(ctx, c.r, c.displayName(), func(ctx context.Context) error {
		list, err := c.s.cfg.Host.ContainersOf(ctx, c.stack.Project, "")
		if err != nil {
			return fmt.Errorf("look for what was left out: %w", err)
		}
		oldest, newest := int64(0), int64(0)
		for _, ct := range list {
			switch ct.Labels[engine.LabelService] {
			case d.Name:
				if oldest == 0 || ct.CreatedAt < oldest {
					oldest = ct.CreatedAt
				}
			case c.svc.Name:
				newest = max(newest, ct.CreatedAt)
			}
		}
		if oldest >= newest {
			return nil
		}
		if err := c.recreateDependent(ctx, d); err != nil {
			return err
		}
		return c.awaitDependent(ctx, d)
	})
}
