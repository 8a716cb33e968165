package project

import (
	"cmp"
	"context"
	"slices"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/httpd/api"
	"github.com/patchbay-dev/patchbay/core/services/containers/failure"
	"github.com/patchbay-dev/patchbay/core/services/containers/record"
)

// Which of the archived a list shows.
const (
	ArchivedExclude = "exclude"
	ArchivedInclude = "include"
	ArchivedOnly    = "only"
)

// matchesArchived reports whether a list with a filter shows something that is, or is not, archived.
func matchesArchived(filter string, archived bool) bool {
	switch filter {
	case ArchivedInclude:
		return true
	case ArchivedOnly:
		return archived
	}
	return !archived
}

func validArchived(filter string) error {
	if filter != "" && filter != ArchivedExclude && filter != ArchivedInclude && filter != ArchivedOnly {
		return record.InvalidField("archived", "The filter archived must be exclude, include or only.")
	}
	return nil
}

// Stacks lists the stacks by name.
func (p *Projects) Stacks(ctx context.Context, archived string) ([]StackItem, error) {
	if err := validArchived(archived); err != nil {
		return nil, err
	}
	inv, err := p.LoadInventory(ctx)
	if err != nil {
		return nil, err
	}
	out := []StackItem{}
	for _, st := range inv.Stacks {
		if matchesArchived(archived, st.ArchivedAt != 0) {
			out = append(out, inv.stackItem(st))
		}
	}
	slices.SortFunc(out, func(a, b StackItem) int { return cmp.Compare(a.Name, b.Name) })
	return out, nil
}

func (inv *Inventory) stackItem(st *record.Stack) StackItem {
	out := StackItem{ID: st.ID, Name: st.Project, Status: "unknown", LastCheckAt: api.TimeOfMillis(st.LastCheckAt),
		Archived: st.ArchivedAt != 0, Self: inv.ContainsSelf(st.ID)}
	states := map[string]record.LifecycleState{}
	for _, svc := range inv.Services {
		if svc.StackID != st.ID {
			continue
		}
		if svc.ArchivedAt != 0 {
			out.ArchivedServices++
			continue
		}
		out.Services++
		if svc.State != record.StateStopped || !svc.RunsOnce() {
			states[svc.ID] = svc.State
		}
		if inv.IsActionable(svc, false) {
			out.Updates++
		}
		if inv.StatusOf(svc) == StatusUnknown {
			out.Unknown++
		}
	}
	switch SumStates(states) {
	case record.StateRunning:
		out.Status = "healthy"
	case record.StateStopped, record.StatePartial:
		out.Status = "degraded"
	}
	return out
}

// Overview is what the page of all stacks shows: the stacks with their services.
func (p *Projects) Overview(ctx context.Context, archived string) ([]StackDetail, error) {
	if err := validArchived(archived); err != nil {
		return nil, err
	}
	inv, err := p.LoadInventory(ctx)
	if err != nil {
		return nil, err
	}
	by := map[string][]ServiceDetail{}
	for _, svc := range inv.Services {
		by[svc.StackID] = append(by[svc.StackID], inv.serviceDetail(svc))
	}
	out := []StackDetail{}
	for _, st := range inv.Stacks {
		if matchesArchived(archived, st.ArchivedAt != 0) {
			out = append(out, inv.stackDetail(st, by[st.ID]))
		}
	}
	slices.SortFunc(out, func(a, b StackDetail) int { return cmp.Compare(a.Name, b.Name) })
	return out, nil
}

// Stack reads a stack with its services. Versions behind digests that nobody has looked for are looked for from now on.
func (p *Projects) Stack(ctx context.Context, id string) (StackDetail, error) {
	inv, err := p.LoadInventory(ctx)
	if err != nil {
		return StackDetail{}, err
	}
	st := inv.Stacks[id]
	if st == nil {
		return StackDetail{}, fault.New(fault.NotFound, record.NoStack)
	}
	var services []ServiceDetail
	for _, svc := range inv.Services {
		if svc.StackID == id {
			d := inv.serviceDetail(svc)
			p.describeInference(ctx, svc, &d)
			services = append(services, d)
		}
	}
	return inv.stackDetail(st, services), nil
}

// Service reads a service and its stack.
func (p *Projects) Service(ctx context.Context, id string) (ServiceDetail, StackItem, error) {
	inv, err := p.LoadInventory(ctx)
	if err != nil {
		return ServiceDetail{}, StackItem{}, err
	}
	svc := inv.Services[id]
	if svc == nil || inv.Stacks[svc.StackID] == nil {
		return ServiceDetail{}, StackItem{}, fault.New(fault.NotFound, record.NoService)
	}
	d := inv.serviceDetail(svc)
	p.describeInference(ctx, svc, &d)
	return d, inv.stackItem(inv.Stacks[svc.StackID]), nil
}

func (inv *Inventory) stackDetail(st *record.Stack, services []ServiceDetail) StackDetail {
	slices.SortFunc(services, func(a, b ServiceDetail) int { return cmp.Compare(a.Name, b.Name) })
	out := StackDetail{
		ID: st.ID, Name: st.Project, Compose: ComposeFiles{Type: "path", WorkingDir: st.WorkingDir, Files: append([]string{}, st.Files...)},
		Services: append([]ServiceDetail{}, services...), LastCheckAt: api.TimeOfMillis(st.LastCheckAt), Archived: st.ArchivedAt != 0,
		ArchivedReason: st.ArchivedReason,
		Self:           inv.ContainsSelf(st.ID),
	}
	if len(st.EnvFiles) > 0 {
		out.Compose.EnvFile = st.EnvFiles[0]
	}
	return out
}

func (inv *Inventory) serviceDetail(svc *record.Service) ServiceDetail {
	out := ServiceDetail{
		ID: svc.ID, StackID: svc.StackID, Name: svc.Name, NewerTags: svc.NewerTags, Settings: toServiceSettings(svc), State: svc.State,
		Status: inv.StatusOf(svc),
		Mounts: svc.Mounts, CheckedAt: api.TimeOfMillis(svc.CheckedAt), CheckError: svc.CheckError, Archived: svc.ArchivedAt != 0,
		ArchivedReason: svc.ArchivedReason,
		Self:           inv.IsSelf(svc), RunsOnce: svc.RunsOnce(), Pinned: svc.Pinned != "",
		Image: ImageState{Ref: svc.Image, Tag: svc.Tag, Digest: svc.RuntimeDigest, DigestError: svc.RuntimeError,
			ResolvedTag: svc.RuntimeVersion},
	}
	if svc.CandidateDigest == "" {
		if out.Status == StatusUnknown {
			out.UnknownReason = unknownReason(svc)
		}
		return out
	}
	out.Candidate = &Candidate{
		Tag: svc.CandidateTag, Digest: svc.CandidateDigest, ResolvedTag: svc.CandidateVersion,
		ArchMatch: cmp.Or(svc.CandidateMatch, ArchUnknown), Arch: svc.CandidateArch,
		FirstSeenAt: api.TimeOfMillis(svc.CandidateSince), RolledBack: inv.RollbackOf(svc),
	}
	if after := inv.ApplyAfter(svc); after > inv.Now {
		out.Candidate.ApplyAfter = api.TimeOfMillis(after)
	}
	if r := inv.IgnoringRule(svc); r != nil {
		out.Ignore = &IgnoreMatch{Matched: true, RuleID: r.ID, Reason: r.Kind + " " + r.Value}
	}
	return out
}

// describeInference reports whether the version behind what runs is known, and has it looked for if not.
func (p *Projects) describeInference(ctx context.Context, svc *record.Service, d *ServiceDetail) {
	if svc.RuntimeDigest == "" || svc.ArchivedAt != 0 {
		return
	}
	snap, err := p.versions.DigestVersion(ctx, svc.ID, svc.RuntimeDigest)
	switch {
	case err != nil:
		d.Inference = &InferenceState{Status: "pending", Reason: failure.Text(err)}
	case snap == nil:
		d.Inference = &InferenceState{Status: "pending", ResolvedTag: svc.RuntimeVersion}
	default:
		d.Inference = &InferenceState{Status: "ready", CheckedAt: snap.CheckedAt, ResolvedTag: cmp.Or(snap.ResolvedTag, svc.RuntimeVersion),
			Unresolved: snap.ResolvedTag == ""}
		d.Image.ResolvedTags = snap.Tags
	}
	if svc.CandidateDigest != "" && svc.CandidateVersion == "" {
		_, _ = p.versions.DigestVersion(ctx, svc.ID, svc.CandidateDigest)
	}
}

// ArchiveStack hides a stack from lists, checks and updates; RestoreStack shows it again.
func (p *Projects) ArchiveStack(ctx context.Context, id string) error {
	if _, err := p.store.FindStack(ctx, id); err != nil {
		return err
	}
	return p.store.UpdateStack(ctx, id, map[string]any{"archived_at": p.now(), "archived_reason": record.ArchivedByUser}, p.now())
}

// RestoreStack undoes ArchiveStack.
func (p *Projects) RestoreStack(ctx context.Context, id string) error {
	if _, err := p.store.FindStack(ctx, id); err != nil {
		return err
	}
	return p.store.UpdateStack(ctx, id, map[string]any{"archived_at": 0, "archived_reason": ""}, p.now())
}

// ArchiveService hides a service from lists, checks and updates; RestoreService shows it again.
func (p *Projects) ArchiveService(ctx context.Context, id string) error {
	if _, err := p.store.FindService(ctx, id); err != nil {
		return err
	}
	return p.store.UpdateService(ctx, id, map[string]any{"archived_at": p.now(), "archived_reason": record.ArchivedByUser}, p.now())
}

// RestoreService undoes ArchiveService.
func (p *Projects) RestoreService(ctx context.Context, id string) error {
	if _, err := p.store.FindService(ctx, id); err != nil {
		return err
	}
	return p.store.UpdateService(ctx, id, map[string]any{"archived_at": 0, "archived_reason": ""}, p.now())
}

// CountServices returns how many services of stacks there are that are not archived: "all", those "running", and those with an
// "update" that may be applied.
func (p *Projects) CountServices(ctx context.Context) (map[string]int64, error) {
	stacks, err := p.Overview(ctx, ArchivedExclude)
	out := map[string]int64{"all": 0, "running": 0, "update": 0}
	for _, st := range stacks {
		for i := range st.Services {
			svc := &st.Services[i]
			if svc.Archived {
				continue
			}
			out["all"]++
			if svc.State == record.StateRunning {
				out["running"]++
			}
			if svc.Actionable() {
				out["update"]++
			}
		}
	}
	return out, err
}
