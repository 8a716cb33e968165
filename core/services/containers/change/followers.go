package change

import (
	"context"
	"fmt"
	"slices"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/services/containers/failure"
	"github.com/patchbay-dev/patchbay/core/services/containers/project"
	"github.com/patchbay-dev/patchbay/core/services/containers/record"
	"github.com/patchbay-dev/patchbay/core/services/containers/work"
	"github.com/patchbay-dev/patchbay/sdk/engine"
)

// A dependent that the same job updates follows the service that it depends on. It is recreated once, with its own new image, and not
// before that with the former one. Its image is pulled before anything is recreated, so that it is away for a short time only.

// markFollowers marks the dependents that are targets of the job themselves.
func markFollowers(dependents []record.Dependent, targets []project.Target) []record.Dependent {
	for i, d := range dependents {
		dependents[i].Follows = slices.ContainsFunc(targets, func(t project.Target) bool { return t.ServiceID == d.ServiceID })
	}
	return dependents
}

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

// recreateLeft recreates the dependents that changes have left to later ones which did not come to it: they still share namespaces or
// volumes with containers that are gone.
func (x *Changes) recreateLeft(ctx context.Context, changes []*change) error {
	if work.IsHandover(ctx) {
		return nil
	}
	var failed error
	for _, c := range changes {
		for _, d := range c.rec.Dependents {
			if !d.Follows {
				continue
			}
			if err := c.dependentSteps().recreateOutdated(ctx, d); err != nil {
				c.r.LogError(ctx, "%s: %s, which shares namespaces or volumes with it, does not run as it did: %s", c.displayName(), d.Name, failure.Text(err))
				failed = fault.Wrap(err, fault.Conflict, "%s / %s does not run as it did: %s", c.stack.Project, d.Name, failure.Text(err))
			}
		}
	}
	return failed
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
