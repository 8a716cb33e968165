package change

import (
	"context"
	"slices"

	"github.com/patchbay-dev/patchbay/core/queue"
	"github.com/patchbay-dev/patchbay/core/services/containers/work"
)

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
