package change

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/services/containers/compose"
	"github.com/patchbay-dev/patchbay/core/services/containers/failure"
	"github.com/patchbay-dev/patchbay/core/services/containers/host"
	"github.com/patchbay-dev/patchbay/core/services/containers/project"
	"github.com/patchbay-dev/patchbay/core/services/containers/record"
	"github.com/patchbay-dev/patchbay/core/services/containers/work"
	"github.com/patchbay-dev/patchbay/sdk/engine"
)

// Dependent is a service that lives in namespaces, or uses volumes, of another's containers. It is recreated with them.
type Dependent struct {
	ServiceID string `json:"serviceId"`
	Name      string `json:"name" example:"client"`
}

// dependentLocks are the locks of the services that are recreated with a service. This instance itself is not recreated.
func (x *Changes) dependentLocks(ctx context.Context, inv *project.Inventory, svc *record.Service) ([]string, error) {
	dependents, err := x.cfg.Host.DependentServices(ctx, inv.Stacks[svc.StackID], svc.Name)
	if err != nil {
		return nil, err
	}
	var locks []string
	for i := range dependents {
		if inv.IsSelf(&dependents[i]) {
			return nil, record.ProtectedError(dependents[i].Name)
		}
		locks = append(locks, work.ServiceLock(dependents[i].ID))
	}
	return locks, nil
}

// Dependents are the services that are recreated with some services, by the ids of these. Services without any are left
// out.
func (pl *Planner) Dependents(ctx context.Context, ids []string) (map[string][]Dependent, error) {
	inv, err := pl.cfg.Projects.LoadInventory(ctx)
	if err != nil {
		return nil, err
	}
	out := map[string][]Dependent{}
	for _, id := range ids {
		svc := inv.Services[id]
		if svc == nil || inv.Stacks[svc.StackID] == nil {
			continue
		}
		found, err := pl.cfg.Host.DependentServices(ctx, inv.Stacks[svc.StackID], svc.Name)
		if err != nil {
			return nil, err
		}
		for _, d := range found {
			out[id] = append(out[id], Dependent{ServiceID: d.ID, Name: d.Name})
		}
	}
	return out, nil
}

// planDependents adds the dependents of a service, and what recreating them would change, to its plan. What is a target of the job itself
// is recreated there.
func (pl *Planner) planDependents(ctx context.Context, st *record.Stack, svc *record.Service, with []project.Target, p *ServicePlan) error {
	dependents, err := pl.cfg.Host.DependentServices(ctx, st, svc.Name)
	if err != nil {
		return err
	}
	for i := range dependents {
		d := &dependents[i]
		p.Dependents = append(p.Dependents, Dependent{ServiceID: d.ID, Name: d.Name})
		if slices.ContainsFunc(with, func(t project.Target) bool { return t.ServiceID == d.ID }) {
			continue
		}
		scale, err := pl.cfg.Host.ScaleOf(ctx, st, d.Name)
		if err != nil {
			return err
		}
		res, err := pl.cfg.Host.ComposeDry(ctx, st, host.ComposeCall{Action: engine.ActionRecreate, Services: []string{d.Name}, Scale: scale, Force: true})
		if err != nil {
			return err
		}
		drift, err := pl.cfg.Drift.Compare(ctx, st, d)
		if err != nil {
			return err
		}
		p.Commands = append(p.Commands, strings.Join(res.Command, " "))
		p.Drift, p.Unresolved = append(p.Drift, drift.Drift...), append(p.Unresolved, drift.Unresolved...)
	}
	return nil
}

// dependentRecords are the dependents of a service as they are now.
func (x *Changes) dependentRecords(ctx context.Context, st *record.Stack, svc *record.Service) ([]record.Dependent, error) {
	dependents, err := x.cfg.Host.DependentServices(ctx, st, svc.Name)
	if err != nil {
		return nil, err
	}
	var out []record.Dependent
	for i := range dependents {
		now, err := x.cfg.Projects.RunningImage(ctx, st, &dependents[i])
		if err != nil {
			return nil, err
		}
		out = append(out, record.Dependent{ServiceID: dependents[i].ID, Name: dependents[i].Name, ImageID: now.ID, Replicas: now.Replicas, Stopped: now.State == record.StateStopped})
	}
	return out, nil
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
	want := wantedContainers{imageID: d.ImageID, replicas: d.Replicas}
	if d.Stopped {
		return c.s.health.checkStopped(ctx, &c.stack, &svc, want)
	}
	if err := c.s.health.waitHealthy(ctx, c.r, &c.stack, &svc, want); err != nil {
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
