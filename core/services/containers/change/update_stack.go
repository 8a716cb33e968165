package change

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/services/containers/compose"
	"github.com/patchbay-dev/patchbay/core/services/containers/failure"
	"github.com/patchbay-dev/patchbay/core/services/containers/host"
	"github.com/patchbay-dev/patchbay/core/services/containers/order"
	"github.com/patchbay-dev/patchbay/core/services/containers/record"
	"github.com/patchbay-dev/patchbay/core/services/containers/work"
	"github.com/patchbay-dev/patchbay/sdk/engine"
)

// StackPlaces is how many services of a stack are worked on at the same time. Those that are only watched take no place.
const StackPlaces = 4

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

// OrderTargets puts services after those that they depend on, and returns what each has to wait for. These are those, and of
// the ones before it
// in the list all that work on the same containers or image. Where the files or the engine do not tell, all wait for each other.
func (x *Changes) OrderTargets(ctx context.Context, jobID string, g TargetGroup) (TargetGroup, []order.Task, error) {
	// Those that have ended count as well: others may wait for them.
	begun, err := x.store.changesOfJob(context.WithoutCancel(ctx), jobID)
	if err != nil {
		return g, nil, fmt.Errorf("read the journal: %w", err)
	}
	wasBegun := func(svc *record.Service) bool {
		_, ok := begun[svc.ID]
		return ok
	}
	tasks := make([]order.Task, len(g.Svcs))
	p, err := x.cfg.Host.LoadProject(ctx, &g.Stack)
	list, unknown := x.cfg.Host.ContainersOf(ctx, g.Stack.Project, "")
	if err != nil || unknown != nil {
		for i := range tasks {
			tasks[i].Begun = wasBegun(&g.Svcs[i])
			if i > 0 {
				tasks[i].After = []int{i - 1}
			}
		}
		return g, tasks, nil
	}
	needs := findDependencies(p, list)
	depths := dependencyDepths(needs)
	index := make([]int, len(g.Svcs))
	for i := range index {
		index[i] = i
	}
	slices.SortStableFunc(index, func(a, b int) int { return depths[g.Svcs[a].Name] - depths[g.Svcs[b].Name] })
	out := TargetGroup{Stack: g.Stack}
	works := make([][]string, len(index))
	for i, at := range index {
		svc := g.Svcs[at]
		out.Targets, out.Svcs = append(out.Targets, g.Targets[at]), append(out.Svcs, svc)
		works[i] = append([]string{svc.Name, "image " + svc.ImageRef().String()}, host.DependentNames(p, list, svc.Name)...)
		tasks[i].Begun = wasBegun(&svc)
		for j := range i {
			if needs[svc.Name][out.Svcs[j].Name] || slices.ContainsFunc(works[i], func(name string) bool { return slices.Contains(works[j], name) }) {
				tasks[i].After = append(tasks[i].After, j)
			}
		}
	}
	return out, tasks, nil
}

// findDependencies returns which services each one depends on, directly or through others. list are the project's containers.
func findDependencies(p *compose.Project, list []engine.Container) map[string]map[string]bool {
	needs := map[string]map[string]bool{}
	for _, svc := range p.Services {
		needs[svc.Name] = map[string]bool{}
	}
	for _, svc := range p.Services {
		for _, on := range svc.DependsOn {
			if p.Service(on) != nil {
				needs[svc.Name][on] = true
			}
		}
		for _, name := range host.DependentNames(p, list, svc.Name) {
			needs[name][svc.Name] = true
		}
	}
	for range p.Services {
		for _, all := range needs {
			for on := range all {
				for further := range needs[on] {
					all[further] = true
				}
			}
		}
	}
	return needs
}

// dependencyDepths returns how many services each one depends on. Services in a circle depend on themselves.
func dependencyDepths(needs map[string]map[string]bool) map[string]int {
	depths := map[string]int{}
	for name, all := range needs {
		depths[name] = len(all)
	}
	return depths
}
