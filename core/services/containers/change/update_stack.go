package change

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/queue"
	"github.com/patchbay-dev/patchbay/core/services/containers/failure"
	"github.com/patchbay-dev/patchbay/core/services/containers/order"
	"github.com/patchbay-dev/patchbay/core/services/containers/project"
	"github.com/patchbay-dev/patchbay/core/services/containers/record"
	"github.com/patchbay-dev/patchbay/core/services/containers/work"
	"github.com/patchbay-dev/patchbay/core/store"
)

// updateStack updates the targets of one stack. What ran before and was stopped with the engine meanwhile is started at the end.
func (u *updateRun) updateStack(ctx context.Context, g TargetGroup) (*StackSummary, []*change, error) {
	unlock, err := u.s.cfg.Locks.LockKey(ctx, g.Stack.ID)
	if err != nil {
		return nil, nil, err
	}
	defer unlock()
	sum, done, err := u.updateTargets(ctx, g)
	left := u.s.recreateLeft(ctx, done)
	if errors.Is(err, failure.ErrEngineAway) {
		return sum, done, err
	}
	others := slices.DeleteFunc(slices.Clone(g.Svcs), func(svc record.Service) bool {
		return !slices.Contains(u.spec.Ran, svc.ID) || slices.ContainsFunc(done, func(c *change) bool { return c.svc.ID == svc.ID })
	})
	return sum, done, cmp.Or(err, left, u.s.startStopped(ctx, u.r, &g.Stack, done, others))
}

// endedTarget is how the update of one service has ended: with a change, or with an error that ends the job.
type endedTarget struct {
	change *change
	err    error
}

// updateTargets updates services that do not depend on each other at the same time. Once one has failed no other is begun.
func (u *updateRun) updateTargets(ctx context.Context, g TargetGroup) (*StackSummary, []*change, error) {
	sum := newStackSummary(&g.Stack)
	g, tasks, err := u.s.OrderTargets(ctx, u.job.ID, g)
	if err != nil {
		return sum, nil, err
	}
	u.r.UpdateProgress(ctx, func(p *work.ProgressState) { p.Current, p.Total = len(u.done), len(u.spec.Targets) })
	ended, beside := make([]endedTarget, len(tasks)), &gathering{}
	if len(tasks) > 1 {
		beside.pause = gatherTime
	}
	begun := order.Run(tasks, StackPlaces, func(i int, place *order.Place) bool {
		c, err := u.updateTarget(ctx, &g, i, slot{place, beside})
		ended[i] = endedTarget{c, err}
		u.r.UpdateProgress(ctx, func(p *work.ProgressState) { p.Current++ })
		return err == nil && c.rec.Status == record.ChangeSuccess && ctx.Err() == nil
	})
	var done []*change
	for i, e := range ended {
		svc := &g.Svcs[i]
		switch {
		case !begun[i]:
			sum.Update.Skipped = append(sum.Update.Skipped, svc.ID)
		case e.err != nil:
			if e.change != nil {
				sum.addWaiting(e.change, e.err)
			} else if ctx.Err() == nil {
				sum.AddFailure(ServiceFailure{ServiceID: svc.ID, FailureStep: stepPrecheck, LastError: failure.Text(e.err), Reason: failure.Code(e.err)}, nil)
				e.err = fault.Wrap(e.err, fault.Conflict, "%s / %s: %s", g.Stack.Project, svc.Name, failure.Text(e.err))
			}
			if err == nil || errors.Is(e.err, failure.ErrEngineAway) && !errors.Is(err, failure.ErrEngineAway) {
				err = e.err
			}
		default:
			done = append(done, e.change)
			sum.addChange(ctx, e.change)
		}
	}
	if i := slices.IndexFunc(done, func(c *change) bool { return c.rec.Status != record.ChangeSuccess }); i >= 0 && err == nil {
		sum.reportCompleted(ctx, u.r, done, done[i])
	}
	return sum, done, err
}

// slot is where a change stands among those of its stack that are worked on at the same time.
type slot struct {
	place  *order.Place
	beside *gathering
}

// updateTarget updates one service of a stack.
func (u *updateRun) updateTarget(ctx context.Context, g *TargetGroup, i int, at slot) (*change, error) {
	c, err := u.beginUpdate(ctx, g.Stack, g.Svcs[i], g.Targets[i])
	if err != nil {
		return nil, err
	}
	// Each service is an equal part of the job, in percent.
	c.share, c.place, c.beside = 100/float64(len(u.spec.Targets)), at.place, at.beside
	if c.rec.Status == record.ChangeRunning {
		err = c.runSteps(ctx)
	}
	u.r.NoteShare(c.svc.ID, c.share)
	return c, err
}

// updateRun is one attempt to run the job of an update.
type updateRun struct {
	s    *Changes
	job  *queue.Job
	spec UpdateJob
	r    *work.Reporter
	// done are the changes that have ended, of all stacks.
	done []*change
}

// beginUpdate writes what is there before anything is changed. After a crash it finds the record of the attempt before.
func (u *updateRun) beginUpdate(ctx context.Context, st record.Stack, svc record.Service, t project.Target) (*change, error) {
	rec, err := u.s.store.ChangeOf(ctx, u.job.ID, svc.ID)
	if err != nil {
		return nil, fmt.Errorf("read the journal: %w", err)
	}
	if rec != nil {
		return u.s.newChange(u.r, rec, svc, st, u.spec.changeOptions, t), nil
	}
	var running project.RunningImage
	var dependents []record.Dependent
	err = u.s.cfg.Host.ThroughOutage(ctx, func() (err error) {
		if running, err = u.s.cfg.Projects.RunningImage(ctx, &st, &svc); err == nil {
			dependents, err = u.s.dependentRecords(ctx, &st, &svc)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	if err := u.s.keepRunning(ctx, u.r, u.spec.Ran, svc.ID, &running); err != nil {
		return nil, err
	}
	var once string
	err = u.s.cfg.Host.ThroughOutage(ctx, func() (err error) {
		once, err = u.s.whyRunsOnce(ctx, &st, &svc, &running)
		return err
	})
	if err != nil {
		return nil, err
	}
	rec, err = u.s.store.BeginChange(ctx, &record.Change{
		ID: store.NewID("chg"), JobID: u.job.ID, Kind: record.ChangeUpdate, StackID: st.ID, ServiceID: svc.ID, Status: record.ChangeRunning, Step: StepPull, Image: svc.Image,
		FromImage: running.ID, FromDigest: running.Digest, FromVersion: svc.RuntimeVersion, FromState: running.State,
		ToDigest: t.TargetDigest, ToVersion: svc.CandidateVersion, StartedAt: u.s.now(), Replicas: running.Replicas, RunsOnce: once, Dependents: markFollowers(dependents, u.spec.Targets),
	})
	if err != nil {
		return nil, err
	}
	return u.s.newChange(u.r, rec, svc, st, u.spec.changeOptions, t), nil
}

// RunUpdate brings the targets of a job to their versions, stack by stack. What fails ends its stack; the other stacks go on.
func (x *Changes) RunUpdate(ctx context.Context, job *queue.Job, spec UpdateJob, r *work.Reporter) (any, error) {
	if spec.Resumes != "" {
		return x.runResumed(ctx, job, spec.changeOptions, r)
	}
	open, err := x.begunChanges(ctx, job, r)
	if err != nil {
		return nil, err
	}
	if len(open) > 0 && ctx.Err() != nil && !work.IsHandover(ctx) {
		return x.settleChanges(ctx, spec.changeOptions, r, open)
	}
	inv, err := x.cfg.Projects.LoadInventory(ctx)
	if err != nil {
		return nil, err
	}
	if spec.Mode == ModeDryRun {
		return x.Planner().planUpdate(ctx, inv, &spec, r)
	}
	out := UpdateSummary{Mode: spec.Mode, Targets: spec.Targets, Stacks: []StackSummary{}, LeftOut: listLeftOut(inv, &spec)}
	reportLeftOut(ctx, r, out.LeftOut)
	if spec.Ran, err = x.ranBefore(ctx, job, spec.Targets, r, inv); err != nil {
		return out, err
	}
	u := &updateRun{s: x, job: job, spec: spec, r: r}
	for _, group := range groupTargets(inv, spec.Targets) {
		sum, changes, err := u.updateStack(ctx, group)
		if sum != nil {
			out.Stacks = append(out.Stacks, *sum)
		}
		u.done = append(u.done, changes...)
		if err != nil {
			return out, err
		}
		if ctx.Err() != nil {
			break
		}
	}
	if err := jobResult(ctx, u.done); err != nil {
		return out, err
	}
	if len(u.done) == len(spec.Targets) && !slices.ContainsFunc(u.done, func(c *change) bool { return c.outcome.Cut }) {
		// Who cancels now comes too late.
		return out, nil
	}
	return out, context.Cause(ctx)
}
