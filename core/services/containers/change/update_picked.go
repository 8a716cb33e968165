package change

import (
	"context"
	"slices"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/services/containers/project"
	"github.com/patchbay-dev/patchbay/core/services/containers/record"
	"github.com/patchbay-dev/patchbay/core/services/containers/work"
)

// PickedUpdate is what became of an update of picked services.
type PickedUpdate struct {
	// Jobs are the ids of the jobs that were queued.
	Jobs []string
	// Refused are the jobs that were not queued, since something else works on their services.
	Refused []RefusedUpdate
}

// RefusedUpdate is a job of an update of picked services that was not queued.
type RefusedUpdate struct {
	// Services are the names of its services, such as "blog / web".
	Services []string
	Err      error
}

// UpdatePicked queues an update of the targets of a request, whose scope it chooses: one job if they are everything that can
// be updated, one for each stack of which they are all such services, and one for each service otherwise. All targets are
// checked before the first job is queued. A job that is refused because of other work leaves the others alone.
func (x *Changes) UpdatePicked(ctx context.Context, req UpdateRequest) (out PickedUpdate, err error) {
	req.Scope, req.StackID, req.ServiceID = work.ScopeAll, "", ""
	if err := req.normalizeRequest(); err != nil {
		return out, err
	}
	inv, err := x.cfg.Projects.LoadInventory(ctx)
	if err != nil {
		return out, err
	}
	for _, t := range req.Targets {
		if inv.Services[t.ServiceID] == nil {
			return out, record.InvalidField("targets", record.NoService)
		}
		if err := checkApplicable(inv, t, req.AllowArchMismatch); err != nil {
			return out, err
		}
	}
	if err := x.refuseUnseenDrift(ctx, inv, &req); err != nil {
		return out, err
	}
	for _, part := range splitUpdate(inv, req) {
		id, err := x.Update(ctx, part)
		switch {
		case err == nil:
			out.Jobs = append(out.Jobs, id)
		case fault.CodeOf(err) == fault.Conflict:
			out.Refused = append(out.Refused, RefusedUpdate{targetNames(inv, part.Targets), err})
		default:
			return out, err
		}
	}
	return out, nil
}

// splitUpdate returns the requests that update the targets of a request and nothing else, in the order of the targets.
func splitUpdate(inv *project.Inventory, req UpdateRequest) (out []UpdateRequest) {
	if checkCoverage(inv, &req) == nil {
		return []UpdateRequest{req}
	}
	stacks := map[string][]project.Target{}
	var order []string
	for _, t := range req.Targets {
		id := inv.Services[t.ServiceID].StackID
		if stacks[id] == nil {
			order = append(order, id)
		}
		stacks[id] = append(stacks[id], t)
	}
	for _, id := range order {
		part := req
		part.Scope, part.StackID, part.Targets = work.ScopeStack, id, stacks[id]
		if len(part.Targets) > 1 && checkCoverage(inv, &part) == nil {
			out = append(out, part)
			continue
		}
		for _, t := range stacks[id] {
			part.Scope, part.StackID, part.ServiceID, part.Targets = work.ScopeService, "", t.ServiceID, []project.Target{t}
			out = append(out, part)
		}
	}
	return out
}

// targetNames returns the names of targets, sorted.
func targetNames(inv *project.Inventory, targets []project.Target) (out []string) {
	for _, t := range targets {
		svc := inv.Services[t.ServiceID]
		out = append(out, inv.Stacks[svc.StackID].Project+" / "+svc.Name)
	}
	slices.Sort(out)
	return out
}
