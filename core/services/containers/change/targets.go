package change

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/patchbay-dev/patchbay/core/services/containers/compose"
	"github.com/patchbay-dev/patchbay/core/services/containers/host"
	"github.com/patchbay-dev/patchbay/core/services/containers/order"
	"github.com/patchbay-dev/patchbay/core/services/containers/project"
	"github.com/patchbay-dev/patchbay/core/services/containers/record"
	"github.com/patchbay-dev/patchbay/core/services/containers/work"
	"github.com/patchbay-dev/patchbay/sdk/engine"
)

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

// listLeftOut returns the services that an update does not include only because their candidates were rolled back, by name. An
// update of one service leaves none out.
func listLeftOut(inv *project.Inventory, spec *UpdateJob) (out []LeftOut) {
	if spec.Scope == work.ScopeService {
		return nil
	}
	for _, svc := range inv.Services {
		mark := inv.RollbackOf(svc)
		isTarget := slices.ContainsFunc(spec.Targets, func(t project.Target) bool { return t.ServiceID == svc.ID })
		if mark == nil || isTarget || spec.Scope == work.ScopeStack && svc.StackID != spec.StackID || !inv.IsApplicable(svc, spec.AllowArchMismatch) {
			continue
		}
		out = append(out, LeftOut{
			ServiceID: svc.ID, StackID: svc.StackID, Name: inv.Stacks[svc.StackID].Project + " / " + svc.Name, Digest: svc.CandidateDigest, Reason: record.ChangeRolledBack, JobID: mark.JobID,
		})
	}
	slices.SortFunc(out, func(a, b LeftOut) int { return cmp.Compare(a.Name, b.Name) })
	return out
}

// reportLeftOut writes the services that an update leaves out into the log of its job.
func reportLeftOut(ctx context.Context, r *work.Reporter, list []LeftOut) {
	for _, l := range list {
		r.LogWarning(ctx, "%s: left out, since %s was rolled back before; update it by itself, or ignore that version", l.Name, record.ShortDigest(l.Digest))
	}
}
