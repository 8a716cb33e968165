package candidate

import (
	"context"
	"fmt"
	"strings"

	"github.com/patchbay-dev/patchbay/core/services/containers/ignore"
	"github.com/patchbay-dev/patchbay/core/services/containers/record"
	"github.com/patchbay-dev/patchbay/core/services/containers/work"
	"github.com/patchbay-dev/patchbay/core/store"
)

// IgnoreRule keeps new versions of a service back.
type IgnoreRule struct {
	ID      string      `json:"id" example:"ign_01K9ZS5T9W1V6Q0P9A8E7C6B5D"`
	Enabled bool        `json:"enabled"`
	Scope   IgnoreScope `json:"scope"`
	Match   RuleMatch   `json:"match"`
	Note    string      `json:"note,omitempty"`
}

// IgnoreScope is what a rule is for.
type IgnoreScope struct {
	Type      string `json:"type" enum:"service"`
	ServiceID string `json:"serviceId" maxLength:"64" example:"svc_01K9ZS5T9W1V6Q0P9A8E7C6B5D"`
}

// RuleMatch is what a rule matches: the tag of a candidate, the version behind it, or its digest.
type RuleMatch struct {
	Kind  string `json:"kind" doc:"exact, prefix, regex (RE2), semver (a range) or digest." example:"semver"`
	Value string `json:"value" example:"^1.26"`
}

func toRule(r *record.Ignore) IgnoreRule {
	return IgnoreRule{ID: r.ID, Enabled: r.Enabled, Scope: IgnoreScope{Type: work.ScopeService, ServiceID: r.ServiceID},
		Match: RuleMatch{Kind: r.Kind, Value: r.Value}, Note: r.Note}
}

// IgnoreRules lists the rules, of one service if serviceID is not empty.
func (c *Candidates) IgnoreRules(ctx context.Context, serviceID string) ([]IgnoreRule, error) {
	rows, err := c.store.ListIgnoreRules(ctx)
	if err != nil {
		return nil, fmt.Errorf("read the ignore rules: %w", err)
	}
	out := []IgnoreRule{}
	for i := range rows {
		if serviceID == "" || rows[i].ServiceID == serviceID {
			out = append(out, toRule(&rows[i]))
		}
	}
	return out, nil
}

// maxRuleNote bounds a note in bytes.
const maxRuleNote = 500

// AddIgnoreRule stores a rule and returns its id.
func (c *Candidates) AddIgnoreRule(ctx context.Context, r IgnoreRule) (string, error) {
	if r.Scope.Type != work.ScopeService {
		return "", record.InvalidField("scope.type", "A rule is for a service: its scope has the type service.")
	}
	for field, text := range map[string]string{"scope.serviceId": r.Scope.ServiceID, "match.kind": r.Match.Kind, "match.value": r.Match.Value,
		"note": r.Note} {
		if strings.IndexByte(text, 0) >= 0 {
			return "", record.InvalidField(field, "A rule holds no NUL character.")
		}
	}
	if len(r.Note) > maxRuleNote {
		return "", record.InvalidField("note", "The note must be at most %d bytes long.", maxRuleNote)
	}
	if _, err := c.store.FindService(ctx, r.Scope.ServiceID); err != nil {
		return "", record.InvalidField("scope.serviceId", record.NoService)
	}
	if _, err := ignore.Compile(ignore.Rule{Kind: r.Match.Kind, Value: r.Match.Value}); err != nil {
		return "", err
	}
	rec := &record.Ignore{ID: store.NewID("ign"), ServiceID: r.Scope.ServiceID, Enabled: r.Enabled, Kind: r.Match.Kind, Value: r.Match.Value,
		Note: r.Note, CreatedAt: c.nowMillis()}
	return rec.ID, c.store.addIgnore(ctx, rec)
}

// DeleteIgnoreRule deletes a rule and tells whether there was one.
func (c *Candidates) DeleteIgnoreRule(ctx context.Context, id string) (deleted bool, err error) {
	if id == "" || strings.IndexByte(id, 0) >= 0 {
		return false, record.InvalidField("ruleId", "ruleId is missing, or holds a NUL character.")
	}
	return c.store.deleteIgnore(ctx, id)
}
