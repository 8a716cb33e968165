package change

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/patchbay-dev/patchbay/core/queue"
	"github.com/patchbay-dev/patchbay/core/services/containers/project"
	"github.com/patchbay-dev/patchbay/core/services/containers/record"
	"github.com/patchbay-dev/patchbay/core/services/containers/work"
)

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

// completeRecord gives the number of containers to a record that a version without it has written.
func (x *Changes) completeRecord(ctx context.Context, rec *record.Change) error {
	if rec.Replicas > 0 {
		return nil
	}
	ctx = context.WithoutCancel(ctx)
	svc, err := x.store.FindService(ctx, rec.ServiceID)
	if err != nil {
		return err
	}
	st, err := x.store.FindStack(ctx, svc.StackID)
	if err != nil {
		return err
	}
	running, err := x.cfg.Projects.RunningImage(ctx, &st, &svc)
	if err != nil {
		return err
	}
	rec.Replicas = running.Replicas
	return x.store.saveChange(ctx, rec)
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

// engineWait is for how long a job that goes on waits for the engine.
const engineWait = 5 * time.Minute
