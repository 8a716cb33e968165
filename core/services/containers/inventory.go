package containers

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/patchbay-dev/patchbay/core/httpd/api"
	"github.com/patchbay-dev/patchbay/core/services/containers/ignore"
	"github.com/patchbay-dev/patchbay/core/services/containers/record"
	"github.com/patchbay-dev/patchbay/sdk/engine"
)

// inventory is everything that is managed, as it stood at one moment.
type inventory struct {
	minAge   time.Duration
	now      int64
	self     string
	stacks   map[string]*record.Stack
	services map[string]*record.Service
	rules    map[string][]ignoreRule
	// rolledBack are the candidates that were rolled back, by service.
	rolledBack map[string]rollbackRecord
}

// ignoreRule is an enabled rule, ready to be matched.
type ignoreRule struct {
	record.Ignore
	matcher ignore.Matcher
}

func (p *Projects) loadInventory(ctx context.Context) (*inventory, error) {
	inv := &inventory{
		minAge: p.cfg.Settings().MinAge, now: p.now(), self: p.selfRepo(),
		stacks: map[string]*record.Stack{}, services: map[string]*record.Service{}, rules: map[string][]ignoreRule{},
	}
	stacks, err := p.store.ListStacks(ctx)
	if err != nil {
		return nil, fmt.Errorf("read the stacks: %w", err)
	}
	for i := range stacks {
		inv.stacks[stacks[i].ID] = &stacks[i]
	}
	services, err := p.store.ListServices(ctx)
	if err != nil {
		return nil, fmt.Errorf("read the services: %w", err)
	}
	for i := range services {
		inv.services[services[i].ID] = &services[i]
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
			p.cfg.Logger.Warn("an ignore rule cannot be used", "rule", r.ID, "error", err)
			continue
		}
		inv.rules[r.ServiceID] = append(inv.rules[r.ServiceID], ignoreRule{r, m})
	}
	return inv, nil
}

func (inv *inventory) isArchived(svc *record.Service) bool {
	st := inv.stacks[svc.StackID]
	return svc.ArchivedAt != 0 || st == nil || st.ArchivedAt != 0
}

// isSelf reports whether a service is this instance itself.
func (inv *inventory) isSelf(svc *record.Service) bool {
	return inv.self != "" && svc.Repo == inv.self
}

// containsSelf reports whether a stack contains this instance.
func (inv *inventory) containsSelf(stackID string) bool {
	for _, svc := range inv.services {
		if svc.StackID == stackID && svc.ArchivedAt == 0 && inv.isSelf(svc) {
			return true
		}
	}
	return false
}

// ignoringRule returns the rule that ignores a service's candidate, or nil. Rules are matched with the digest, with the tag
// and with the version that it resolves to.
func (inv *inventory) ignoringRule(svc *record.Service) *ignoreRule {
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

// isActionable reports whether an update of a whole stack, or of all services, includes a service. A candidate that was
// rolled back is left out: it is applied to its service alone.
func (inv *inventory) isActionable(svc *record.Service, allowMismatch bool) bool {
	return inv.rollbackOf(svc) == nil && inv.isApplicable(svc, allowMismatch)
}

// isApplicable reports whether a service that runs, or ends by itself, has a candidate that nothing holds back.
func (inv *inventory) isApplicable(svc *record.Service, allowMismatch bool) bool {
	return svc.CandidateDigest != "" && svc.Pinned == "" && !inv.isArchived(svc) && !inv.isSelf(svc) && (svc.State != record.StateStopped || svc.RunsOnce()) && inv.ignoringRule(svc) == nil &&
		(svc.CandidateMatch != archMismatch || allowMismatch) && inv.applyAfter(svc) <= inv.now
}

// The words for what there is to do with a service.
const (
	statusOK           = "ok"
	statusUpdatable    = "updatable"
	statusHint         = "hint"
	statusArchMismatch = "archMismatch"
	statusBlocked      = "blocked"
	statusWaiting      = "waiting"
	statusPinned       = "pinned"
	// statusUnknown: what runs was not compared with the registry.
	statusUnknown = "unknown"
)

// The reasons for which a service was not compared; the others are those of runtimeState.
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
		return runtimeLocal
	case svc.RuntimeError != "":
		return svc.RuntimeError
	case svc.RuntimeDigest == "":
		return runtimeNone
	case svc.Built && svc.TagDigest == "":
		// The registry was not asked.
		return runtimeLocal
	}
	return ""
}

func (inv *inventory) statusOf(svc *record.Service) string {
	switch {
	case svc.CandidateDigest == "" && unknownReason(svc) != "":
		return statusUnknown
	case svc.CandidateDigest == "":
		return statusOK
	case inv.ignoringRule(svc) != nil:
		return statusBlocked
	case svc.Pinned != "":
		return statusPinned
	case svc.CandidateMatch == archMismatch:
		return statusArchMismatch
	case inv.applyAfter(svc) > inv.now:
		return statusWaiting
	case svc.CandidateMatch == archUnknown:
		return statusHint
	}
	return statusUpdatable
}

// applyAfter is when the minimum age of a service's candidate is reached, in Unix milliseconds.
func (inv *inventory) applyAfter(svc *record.Service) int64 {
	age := inv.minAge
	if svc.MinAge >= 0 {
		age = time.Duration(svc.MinAge) * time.Second
	}
	if svc.CandidateDigest == "" || age == 0 {
		return 0
	}
	return svc.CandidateSince + age.Milliseconds()
}

// membersOf returns the services of a stack that are not archived.
func (inv *inventory) membersOf(stackID string) []*record.Service {
	var out []*record.Service
	for _, svc := range inv.services {
		if svc.StackID == stackID && svc.ArchivedAt == 0 {
			out = append(out, svc)
		}
	}
	slices.SortFunc(out, func(a, b *record.Service) int { return cmp.Compare(a.Name, b.Name) })
	return out
}

// rollbackOf returns how the candidate of a service was rolled back, or nil if it was not.
func (inv *inventory) rollbackOf(svc *record.Service) *RolledBack {
	rec, ok := inv.rolledBack[svc.ID]
	if !ok || rec.Digest != svc.CandidateDigest {
		return nil
	}
	return &RolledBack{JobID: rec.JobID, At: api.TimeOfMillis(rec.FinishedAt), Manual: rec.Kind == record.ChangeRollback, Error: rec.Error}
}

func sumStates(states map[string]record.LifecycleState) record.LifecycleState {
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

func stateOf(list []engine.Container) record.LifecycleState {
	running := 0
	for _, c := range list {
		if c.State == "running" || c.State == "restarting" {
			running++
		}
	}
	switch {
	case running == 0:
		return record.StateStopped
	case running == len(list):
		return record.StateRunning
	}
	return record.StatePartial
}

// The answers to whether an image is made for the host.
const (
	archMatch    = "match"
	archMismatch = "mismatch"
	archUnknown  = "unknown"
)
