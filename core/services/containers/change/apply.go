package change

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/services/containers/failure"
	"github.com/patchbay-dev/patchbay/core/services/containers/health"
	"github.com/patchbay-dev/patchbay/core/services/containers/host"
	"github.com/patchbay-dev/patchbay/core/services/containers/project"
	"github.com/patchbay-dev/patchbay/core/services/containers/record"
	"github.com/patchbay-dev/patchbay/core/services/containers/work"
	"github.com/patchbay-dev/patchbay/sdk/engine"
)

func (c *change) pullAllowed(ctx context.Context) error {
	if err := c.checkAllowed(ctx); err != nil {
		return err
	}
	if err := c.pullSteps().pullTarget(ctx); err != nil {
		return err
	}
	return c.dependentSteps().pullFollowers(ctx)
}

// composeUp recreates the service with compose, unless its files differ from what runs by more than was allowed.
func (c *change) composeUp(ctx context.Context) error {
	c.reportProgress(ctx, 0.65, "recreating "+c.svc.Name)
	if err := c.checkDrift(ctx); errors.Is(err, host.ErrFiles) {
		return precheckError{err}
	} else if err != nil {
		return err
	}
	if completed, err := c.hasCompleted(ctx); completed || err != nil {
		return err
	}
	return c.recreateWithDependents(ctx)
}

// hasNewImage reports whether a container of the service has the new image already, or that cannot be found out.
func (c *change) hasNewImage(ctx context.Context) bool {
	list, err := c.s.cfg.Host.ContainersOf(context.WithoutCancel(ctx), c.stack.Project, c.svc.Name)
	return err != nil || slices.ContainsFunc(list, func(ct engine.Container) bool { return ct.ImageID == c.rec.ToImage })
}

// tagTarget tags the new image with the name that the project uses, so that compose runs it.
func (c *change) tagTarget(ctx context.Context) error {
	c.reportProgress(ctx, 0.6, "naming the image "+c.svc.Image)
	return c.s.cfg.Host.RetryStep(ctx, func() error { return c.s.cfg.Host.Engine().Tag(ctx, c.rec.ToImage, c.svc.ImageRef().String()) })
}

// restoreTag tags the former image with the name that the project uses. It undoes tagTarget.
func (c *change) restoreTag(ctx context.Context) {
	c.nameFormer(ctx)
	if c.rec.FromImage != "" {
		c.startAgain(ctx)
	}
}

// nameFormer gives the name that the project uses back to the former image.
func (c *change) nameFormer(ctx context.Context) {
	if c.rec.FromImage == "" {
		return
	}
	ctx, cancel := work.OutlastJob(ctx, 5*time.Minute)
	defer cancel()
	if err := c.s.cfg.Host.ThroughOutage(ctx, func() error { return c.s.cfg.Host.Engine().Tag(ctx, c.rec.FromImage, c.svc.ImageRef().String()) }); err != nil {
		c.r.LogWarning(ctx, "%s: the name could not be given back to the former image: %s", c.displayName(), failure.Text(err))
	}
}

func (c *change) recreateWithDependents(ctx context.Context) error {
	// The files may have changed since the update was asked for: compose reads them now, and so do we.
	if err := c.s.cfg.Host.SameImage(ctx, &c.stack, &c.svc); err != nil {
		return err
	}
	if c.rec.Replicas == 0 {
		return fault.New(fault.Conflict, "%s has no container, and its compose files define none.", c.svc.Name)
	}
	c.recreated = c.s.cfg.Host.OutageCount()
	call := c.composeCall(engine.ActionRecreate)
	call.NoStart = c.staysStopped()
	run := func(ctx context.Context, call host.ComposeCall) error {
		_, err := c.s.cfg.Host.RunCompose(ctx, c.r, &c.stack, call)
		return err
	}
	recreate := run
	if c.beside != nil && c.rec.RunsOnce == "" {
		// What runs to its end has a command of its own: one that is repeated for the sake of others would run it again.
		recreate = func(ctx context.Context, call host.ComposeCall) error {
			return c.beside.runCommand(ctx, c.place, call, run)
		}
	}
	if err := recreate(ctx, call); err != nil {
		return err
	}
	return c.dependentSteps().recreateDependents(ctx)
}

func (c *change) awaitHealth(ctx context.Context) error {
	if c.staysStopped() {
		return c.s.health.CheckStopped(ctx, &c.stack, &c.svc, c.wantedAfter(c.rec.ToImage, c.rec.ToDigest))
	}
	if c.rec.RunsOnce != "" {
		c.reportProgress(ctx, 0.8, "waiting until it has run to its end")
		if completed, err := c.hasCompleted(ctx); completed || err != nil {
			return err
		}
	} else {
		c.reportProgress(ctx, 0.8, "waiting until it is healthy")
	}
	return c.awaitHealthy(ctx, c.wantedAfter(c.rec.ToImage, c.rec.ToDigest), c.recreateWithDependents)
}

// syncTag tags the image that runs with the name that the project uses, if another image has got it.
func (c *change) syncTag(ctx context.Context) error {
	c.reportProgress(ctx, 0.92, "checking the name of the image")
	return c.s.cfg.Host.RetryStep(ctx, func() error {
		found, err := c.s.cfg.Host.Engine().Images(ctx, []string{c.svc.ImageRef().String()})
		if err != nil {
			return err
		}
		if len(found) == 1 && found[0] != nil && found[0].ID == c.rec.ToImage {
			return nil
		}
		return c.s.cfg.Host.Engine().Tag(ctx, c.rec.ToImage, c.svc.ImageRef().String())
	})
}

// awaitHealthy waits until the wanted containers and those of dependents are healthy. What a request of an interrupted compose command has
// created after the repair is put in order by recreate, and so is what an outage of the engine has stopped: containers that it ended say
// nothing about their image.
func (c *change) awaitHealthy(ctx context.Context, want health.Wanted, recreate func(context.Context) error) error {
	await := func() error {
		// Whoever only waits leaves its place to another one.
		c.place.Leave()
		defer c.place.Return()
		if err := c.s.health.WaitHealthy(ctx, c.r, &c.stack, &c.svc, want); err != nil {
			return err
		}
		return c.dependentSteps().awaitDependents(ctx)
	}
	if c.recreated >= 0 && c.recreated != c.s.cfg.Host.OutageCount() {
		if err := recreate(ctx); err != nil {
			return err
		}
	}
	err := await()
	// Nobody has seen what happened between two attempts of a job: the engine may have been away then.
	if unseen := c.recreated < 0 && errors.Is(err, health.ErrNotRunning); !unseen && !errors.Is(err, health.ErrLeftover) {
		return err
	}
	if err := recreate(ctx); err != nil {
		return err
	}
	return await()
}

// checkAllowed returns a precheckError if the change may no longer begin, because the service was archived or the project's
// files name another image since the change was requested.
func (c *change) checkAllowed(ctx context.Context) error {
	if err := c.runPrecheck(ctx); err != nil {
		return precheckError{err}
	}
	return nil
}

func (c *change) runPrecheck(ctx context.Context) error {
	svc, err := c.s.store.FindService(ctx, c.svc.ID)
	if err != nil {
		return err
	}
	st, err := c.s.store.FindStack(ctx, svc.StackID)
	if err != nil {
		return err
	}
	want := cmp.Or(c.spec.Images[svc.ID], c.rec.Image)
	switch {
	case svc.ArchivedAt != 0 || st.ArchivedAt != 0:
		return record.ArchivedError(svc.Name)
	case svc.Image != want || c.rec.Image != want:
		return fault.New(fault.Conflict, "The compose files of %s now name a different image for %s: %s.", st.Project, svc.Name, svc.Image)
	}
	c.stack = st
	return c.checkDrift(ctx)
}

// imageLock is held while a change moves the name of an image. Services of several stacks may share the name: without the
// lock one change would recreate its service from what the other has just named.
func (c *change) imageLock(ctx context.Context) (unlock func(), err error) {
	key := "image/" + c.svc.ImageRef().String()
	if ctx.Err() == nil {
		return c.s.cfg.Locks.LockKey(ctx, key)
	}
	wait, cancel := context.WithTimeout(context.WithoutCancel(ctx), rollbackTime)
	defer cancel()
	return c.s.cfg.Locks.LockKey(wait, key)
}

// precheckError is why the checks before a change refuse it.
type precheckError struct{ error }

// Unwrap returns what the check found.
func (p precheckError) Unwrap() error { return p.error }

// hasCompleted reports whether the service ends by itself and has done so with its new image: an earlier attempt of the job has run it.
func (c *change) hasCompleted(ctx context.Context) (bool, error) {
	if c.rec.RunsOnce == "" || c.rec.ToImage == c.rec.FromImage {
		return false, nil
	}
	list, err := c.s.cfg.Host.ContainersOf(ctx, c.stack.Project, c.svc.Name)
	if err != nil || len(list) != c.rec.Replicas {
		return false, err
	}
	for _, ct := range list {
		d, err := c.s.cfg.Host.Engine().Inspect(ctx, ct.ID)
		if err != nil {
			return false, fmt.Errorf("inspect %s: %w", ct.Name, err)
		}
		if d.ImageID != c.rec.ToImage || !project.IsComplete(d) {
			return false, nil
		}
	}
	return true, nil
}
