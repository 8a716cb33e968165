package change

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/queue"
	"github.com/patchbay-dev/patchbay/core/services/containers/project"
	"github.com/patchbay-dev/patchbay/core/services/containers/record"
	"github.com/patchbay-dev/patchbay/core/services/containers/work"
	"github.com/patchbay-dev/patchbay/core/store"
)

// firstOfStack returns which of two failed changes decides: the last stack does, and in a stack the first change, as in its summary.
func firstOfStack(before, c *change) *change {
	if before != nil && before.stack.ID == c.stack.ID {
		return before
	}
	return c
}

// jobResult is how a job ends whose changes are done: failed if one failed for good, rolled back if one was rolled back.
func jobResult(ctx context.Context, done []*change) error {
	var failed, back *change
	for _, c := range done {
		switch c.rec.Status {
		case record.ChangeFailed:
			failed = firstOfStack(failed, c)
		case record.ChangeRolledBack:
			back = firstOfStack(back, c)
		}
	}
	if failed == nil && back == nil {
		return nil
	}
	if failed == nil {
		return queue.EndRolledBack(fault.New(fault.Conflict, "%s was rolled back: %s%s", back.displayName(), back.rec.Error, othersText(done, back)))
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return fault.New(fault.Conflict, "%s: %s%s", failed.displayName(), failed.rec.Error, othersText(done, failed))
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
		return x.planner.planUpdate(ctx, inv, &spec, r)
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

// TargetGroup is the part of a job that concerns one stack.
type TargetGroup struct {
	Stack   record.Stack
	Targets []project.Target
	Svcs    []record.Service
}

// groupTargets returns the targets grouped by stack, ordered by stack and service.
func groupTargets(inv *project.Inventory, targets []project.Target) []TargetGroup {
	by := map[string]*TargetGroup{}
	for _, t := range targets {
		svc := inv.Services[t.ServiceID]
		if svc == nil || inv.Stacks[svc.StackID] == nil {
			continue
		}
		g := by[svc.StackID]
		if g == nil {
			g = &TargetGroup{Stack: *inv.Stacks[svc.StackID]}
			by[svc.StackID] = g
		}
		g.Targets, g.Svcs = append(g.Targets, t), append(g.Svcs, *svc)
	}
	var out []TargetGroup
	for _, g := range by {
		out = append(out, *g)
	}
	slices.SortFunc(out, func(a, b TargetGroup) int { return strings.Compare(a.Stack.Project, b.Stack.Project) })
	return out
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
