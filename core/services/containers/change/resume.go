package change

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/queue"
	"github.com/patchbay-dev/patchbay/core/services/containers/image"
	"github.com/patchbay-dev/patchbay/core/services/containers/project"
	"github.com/patchbay-dev/patchbay/core/services/containers/record"
	"github.com/patchbay-dev/patchbay/core/services/containers/work"
)

// engineWait is for how long a job that goes on waits for the engine.
const engineWait = 5 * time.Minute

// begunChanges returns the changes that an earlier attempt of the job has begun and not ended. If there are any, it waits for
// the engine, which may start later than the core.
func (x *Changes) begunChanges(ctx context.Context, job *queue.Job, r *work.Reporter) ([]record.Change, error) {
	open, err := x.store.OpenChanges(context.WithoutCancel(ctx), job.ID)
	if err != nil {
		return nil, fmt.Errorf("read the journal: %w", err)
	}
	if len(open) == 0 {
		return nil, nil
	}
	r.Resumed = true
	r.LogWarning(ctx, "The core ended while this job ran; it goes on from its journal.")
	// An engine that does not come is the error of the step that needs it.
	_ = x.cfg.Host.AwaitEngine(ctx, engineWait)
	for i := range open {
		if err := x.completeRecord(ctx, &open[i]); err != nil {
			return nil, err
		}
	}
	return open, nil
}

// settleChanges ends the changes that an earlier attempt has left open, for a canceled job, which begins nothing new.
func (x *Changes) settleChanges(ctx context.Context, spec changeOptions, r *work.Reporter, open []record.Change) (any, error) {
	out := UpdateSummary{Mode: ModeApply, Targets: spec.Targets, Stacks: []StackSummary{}}
	var done []*change
	var failed error
	for i := range open {
		c, err := x.settleChange(ctx, spec, r, &open[i])
		if err != nil {
			if c != nil {
				out.Stacks = append(out.Stacks, c.summarizeWaiting(err).Stacks...)
			}
			return out, err
		}
		if err := cmp.Or(x.recreateLeft(ctx, []*change{c}), x.startStopped(ctx, r, &c.stack, []*change{c}, x.othersThatRan(ctx, spec, &c.svc))); err != nil {
			failed = err
		}
		sum := newStackSummary(&c.stack)
		sum.addChange(ctx, c)
		out.Stacks, done = append(out.Stacks, *sum), append(done, c)
	}
	return out, cmp.Or(jobResult(ctx, done), failed, context.Cause(ctx))
}

func (x *Changes) settleChange(ctx context.Context, spec changeOptions, r *work.Reporter, rec *record.Change) (*change, error) {
	wait, cancel := context.WithTimeout(context.WithoutCancel(ctx), rollbackTime)
	defer cancel()
	svc, err := x.store.FindService(wait, rec.ServiceID)
	if err != nil {
		return nil, err
	}
	st, err := x.store.FindStack(wait, svc.StackID)
	if err != nil {
		return nil, err
	}
	unlock, err := x.cfg.Locks.LockKey(wait, st.ID)
	if err != nil {
		return nil, err
	}
	defer unlock()
	target := project.Target{ServiceID: svc.ID, TargetDigest: rec.ToDigest}
	if i := slices.IndexFunc(spec.Targets, func(t project.Target) bool { return t.ServiceID == svc.ID }); i >= 0 {
		target.PullTags = spec.Targets[i].PullTags
	}
	c := x.newChange(r, rec, svc, st, spec, target)
	c.share = 100
	if rec.Status != record.ChangeRunning {
		return c, nil
	}
	if rec.Kind == record.ChangeRollback {
		return c, c.rollbackSteps().backTo(ctx)
	}
	return c, c.runSteps(ctx)
}

// newChange takes a record up. The service goes by the name of the image that it had when the change began: the project's
// files may say something else by now.
func (x *Changes) newChange(r *work.Reporter, rec *record.Change, svc record.Service, st record.Stack, spec changeOptions, t project.Target) *change {
	if ref, err := image.Parse(rec.Image); err == nil {
		svc.Image, svc.Repo, svc.Tag, svc.Pinned = rec.Image, ref.Repo(), ref.Tag, ref.Digest
	}
	return &change{s: x, r: r, rec: rec, svc: svc, stack: st, spec: spec, target: t, started: x.cfg.Now(), recreated: -1}
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
		return fault.New(fault.Conflict, "The compose files of %s name another image for %s now: %s.", st.Project, svc.Name, svc.Image)
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
