package containers

import (
	"context"
	"fmt"

	"github.com/patchbay-dev/patchbay/core/services/containers/ignore"
	"github.com/patchbay-dev/patchbay/core/services/containers/record"
)

// inventory is everything that is managed, as it stood at one moment.
type inventory struct {
	set      Settings
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

func (s *Service) loadInventory(ctx context.Context) (*inventory, error) {
	inv := &inventory{
		set: s.settings(), now: s.now(), self: s.selfRepo(),
		stacks: map[string]*record.Stack{}, services: map[string]*record.Service{}, rules: map[string][]ignoreRule{},
	}
	stacks, err := s.repo.ListStacks(ctx)
	if err != nil {
		return nil, fmt.Errorf("read the stacks: %w", err)
	}
	for i := range stacks {
		inv.stacks[stacks[i].ID] = &stacks[i]
	}
	services, err := s.repo.ListServices(ctx)
	if err != nil {
		return nil, fmt.Errorf("read the services: %w", err)
	}
	for i := range services {
		inv.services[services[i].ID] = &services[i]
	}
	if inv.rolledBack, err = s.repo.rolledBackCandidates(ctx); err != nil {
		return nil, fmt.Errorf("read what was rolled back: %w", err)
	}
	rules, err := s.repo.ListIgnoreRules(ctx)
	if err != nil {
		return nil, fmt.Errorf("read the ignore rules: %w", err)
	}
	for _, r := range rules {
		if !r.Enabled {
			continue
		}
		m, err := ignore.Compile(ignore.Rule{Kind: r.Kind, Value: r.Value})
		if err != nil {
			s.log.Warn("an ignore rule cannot be used", "rule", r.ID, "error", err)
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

// holdsSelf reports whether a stack contains this instance.
func (inv *inventory) holdsSelf(stackID string) bool {
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
