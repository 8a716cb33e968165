package change

import (
	"cmp"
	"context"
	"slices"

	"github.com/patchbay-dev/patchbay/core/services/containers/project"
	"github.com/patchbay-dev/patchbay/core/services/containers/record"
	"github.com/patchbay-dev/patchbay/core/services/containers/work"
)

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
