package access

import (
	"context"

	"github.com/patchbay-dev/patchbay/core/httpd/api"
	"github.com/patchbay-dev/patchbay/core/lists"
)

// The states of a token's quota: the widest window that is used up, or QuotaNormal.
const (
	QuotaNormal = "normal"
	QuotaHour   = "hour"
	QuotaDay    = "day"
	QuotaMonth  = "month"
)

// TokenFilter selects access tokens. The zero value selects all.
type TokenFilter struct {
	// Group is the group; nil any, "" those without one.
	Group *string
	// Query is looked for in ids, notes and groups, in any case.
	Query string
	// Owner is "bound", "unbound" or the id of a user; "" any.
	Owner string
	// Enabled is "active" or "frozen"; "" any.
	Enabled string
	// QuotaState is one of the states of a quota; "" any.
	QuotaState string
}

// TokenGroup is a group of access tokens.
type TokenGroup struct {
	Name            string   `json:"name" doc:"Name of the group; empty for tokens without one."`
	TokenCount      int64    `json:"tokenCount" doc:"How many tokens it has."`
	LatestCreatedAt api.Time `json:"latestCreatedAt" doc:"When the newest of them was made."`
}

// TokenGroups lists the groups, the one with the newest token first.
func (a *TokenAdmin) TokenGroups(ctx context.Context) ([]TokenGroup, error) {
	rows, err := a.Store.tokenGroups(ctx)
	out := lists.ConvertAll(rows, func(r tokenGroup) TokenGroup { return TokenGroup{r.GroupName, r.N, api.TimeOfMillis(r.Latest)} })
	return out, err
}

// spentLimits returns the window that is used up by the id of the token, for tokens with such a window.
func (t *Table) spentLimits() map[string]string {
	now := t.now()
	t.mu.RLock()
	defer t.mu.RUnlock()
	out := map[string]string{}
	for id, tok := range t.byID {
		if state := tok.quotaState(now); state != QuotaNormal {
			out[id] = state
		}
	}
	return out
}

// TokenNotes returns the notes of tokens by their ids, also of those that were deleted.
func (a *TokenAdmin) TokenNotes(ctx context.Context, ids []string) (map[string]string, error) {
	return a.Store.tokenNotes(ctx, ids)
}
