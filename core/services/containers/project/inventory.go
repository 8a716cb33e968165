package project

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/patchbay-dev/patchbay/core/httpd/api"
	"github.com/patchbay-dev/patchbay/core/services/containers/ignore"
	"github.com/patchbay-dev/patchbay/core/services/containers/image"
	"github.com/patchbay-dev/patchbay/core/services/containers/record"
)

// Inventory is everything that is managed, as it stood at one moment.
type Inventory struct {
	minAge   time.Duration
	Now      int64
	self     string
	Stacks   map[string]*record.Stack
	Services map[string]*record.Service
	rules    map[string][]ignoreRule
	// rolledBack are the candidates that were rolled back, by service.
	rolledBack map[string]rollbackRecord
}

// ignoreRule is an enabled rule, ready to be matched.
type ignoreRule struct {
	record.Ignore
	matcher ignore.Matcher
}

// LoadInventory reads everything that is managed, as it stands now.
func (p *Projects) LoadInventory(ctx context.Context) (*Inventory, error) {
	inv := &Inventory{
		minAge: p.cfg.Settings().MinAge, Now: p.now(), self: p.selfRepo(),
		Stacks: map[string]*record.Stack{}, Services: map[string]*record.Service{}, rules: map[string][]ignoreRule{},
	}
	stacks, err := p.store.ListStacks(ctx)
	if err != nil {
		return nil, fmt.Errorf("read the stacks: %w", err)
	}
	for i := range stacks {
		inv.Stacks[stacks[i].ID] = &stacks[i]
	}
	services, err := p.store.ListServices(ctx)
	if err != nil {
		return nil, fmt.Errorf("read the services: %w", err)
	}
	for i := range services {
		inv.Services[services[i].ID] = &services[i]
	}
	if inv.rolledBack, err = p.store.rolledBackCandidates(ctx); err != nil {
		return nil, fmt.Errorf("read what was rolled back: %w", err)
	}
	rules, err := p.store.ListIgnoreRules(ctx)
	if err != nil {
		return nil, fmt.Errorf("read the ignore rules: %w", err)
	}
	for _, r := range rules {
		if !r.Enabled {
			continue
		}
		m, err := ignore.Compile(ignore.Rule{Kind: r.Kind, Value: r.Value})
		if err != nil {
			p.cfg.Logger.Warn("ignore rule skipped", "rule", r.ID, "error", err)
			continue
		}
		inv.rules[r.ServiceID] = append(inv.rules[r.ServiceID], ignoreRule{r, m})
	}
	return inv, nil
}

// IsArchived reports whether a service or its stack is archived.
func (inv *Inventory) IsArchived(svc *record.Service) bool {
	st := inv.Stacks[svc.StackID]
	return svc.ArchivedAt != 0 || st == nil || st.ArchivedAt != 0
}

// IsSelf reports whether a service is this instance itself.
func (inv *Inventory) IsSelf(svc *record.Service) bool {
	return inv.self != "" && svc.Repo == inv.self
}

// ContainsSelf reports whether a stack contains this instance.
func (inv *Inventory) ContainsSelf(stackID string) bool {
	for _, svc := range inv.Services {
		if svc.StackID == stackID && svc.ArchivedAt == 0 && inv.IsSelf(svc) {
			return true
		}
	}
	return false
}

// IgnoringRule returns the rule that ignores a service's candidate, or nil. Rules are matched with the digest, with the tag
// and with the version that it resolves to.
func (inv *Inventory) IgnoringRule(svc *record.Service) *ignoreRule {
	if svc.CandidateDigest == "" {
		return nil
	}
	for i, r := range inv.rules[svc.ID] {
		if r.matcher.MatchDigest(svc.CandidateDigest) || r.matcher.Match(svc.CandidateTag, svc.CandidateVersion) {
			return &inv.rules[svc.ID][i]
		}
	}
	return nil
}

// IsActionable reports whether an update of a whole stack, or of all services, includes a service. A candidate that was
// rolled back is left out: it is applied to its service alone.
func (inv *Inventory) IsActionable(svc *record.Service, allowMismatch bool) bool {
	return inv.RollbackOf(svc) == nil && inv.IsApplicable(svc, allowMismatch)
}

// IsApplicable reports whether a service that runs, or ends by itself, has a candidate that nothing holds back.
func (inv *Inventory) IsApplicable(svc *record.Service, allowMismatch bool) bool {
	return svc.CandidateDigest != "" && svc.Pinned == "" && !inv.IsArchived(svc) && !inv.IsSelf(svc) &&
		(svc.State != record.StateStopped || svc.RunsOnce()) && inv.IgnoringRule(svc) == nil &&
		(svc.CandidateMatch != ArchMismatch || allowMismatch) && inv.ApplyAfter(svc) <= inv.Now
}

// The reasons for which a service was not compared; the others are those of RuntimeState.Problem.
const (
	unknownUnchecked = "never_checked"
	unknownFailed    = "check_failed"
	unknownNoTag     = "no_tag"
)

// unknownReason returns why it is not known whether a service is up to date, "" where what runs was compared.
func unknownReason(svc *record.Service) string {
	switch {
	case svc.CheckedAt == 0:
		return unknownUnchecked
	case svc.CheckError != "":
		return unknownFailed
	case svc.ImageRef().Tag == "" && !svc.Built:
		return unknownNoTag
	case svc.Built && svc.RuntimeDigest == "":
		return RuntimeLocal
	case svc.RuntimeError != "":
		return svc.RuntimeError
	case svc.RuntimeDigest == "":
		return runtimeNone
	case svc.Built && svc.TagDigest == "":
		// The registry was not asked.
		return RuntimeLocal
	}
	return ""
}

// StatusOf returns what there is to do with a service.
func (inv *Inventory) StatusOf(svc *record.Service) string {
	switch {
	case svc.CandidateDigest == "" && unknownReason(svc) != "":
		return StatusUnknown
	case svc.CandidateDigest == "":
		return statusOK
	case inv.IgnoringRule(svc) != nil:
		return StatusBlocked
	case svc.Pinned != "":
		return StatusPinned
	case svc.CandidateMatch == ArchMismatch:
		return StatusArchMismatch
	case inv.ApplyAfter(svc) > inv.Now:
		return statusWaiting
	case svc.CandidateMatch == ArchUnknown:
		return StatusHint
	}
	return StatusUpdatable
}

// ApplyAfter is when the minimum age of a service's candidate is reached, in Unix milliseconds.
func (inv *Inventory) ApplyAfter(svc *record.Service) int64 {
	age := inv.minAge
	if svc.MinAge >= 0 {
		age = time.Duration(svc.MinAge) * time.Second
	}
	if svc.CandidateDigest == "" || age == 0 {
		return 0
	}
	return svc.CandidateSince + age.Milliseconds()
}

// MembersOf returns the services of a stack that are not archived.
func (inv *Inventory) MembersOf(stackID string) []*record.Service {
	var out []*record.Service
	for _, svc := range inv.Services {
		if svc.StackID == stackID && svc.ArchivedAt == 0 {
			out = append(out, svc)
		}
	}
	slices.SortFunc(out, func(a, b *record.Service) int { return cmp.Compare(a.Name, b.Name) })
	return out
}

// RollbackOf returns how the candidate of a service was rolled back, or nil if it was not.
func (inv *Inventory) RollbackOf(svc *record.Service) *RolledBack {
	rec, ok := inv.rolledBack[svc.ID]
	if !ok || rec.Digest != svc.CandidateDigest {
		return nil
	}
	return &RolledBack{JobID: rec.JobID, At: api.TimeOfMillis(rec.FinishedAt), Manual: rec.Kind == record.ChangeRollback, Error: rec.Error}
}

// SumStates returns the state of a stack whose services have the given ones.
func SumStates(states map[string]record.LifecycleState) record.LifecycleState {
	n := map[record.LifecycleState]int{}
	for _, st := range states {
		n[st]++
	}
	switch {
	case len(states) == 0 || n[record.StateUnknown] == len(states):
		return record.StateUnknown
	case n[record.StateRunning] == len(states):
		return record.StateRunning
	case n[record.StateStopped] == len(states):
		return record.StateStopped
	}
	return record.StatePartial
}

// The answers to whether an image is made for the host.
const (
	ArchMatch    = "match"
	ArchMismatch = "mismatch"
	ArchUnknown  = "unknown"
)

func (p *Projects) selfRepo() string {
	r, err := image.Parse(p.cfg.Settings().ImageRepo)
	if err != nil {
		return ""
	}
	return r.Repo()
}
