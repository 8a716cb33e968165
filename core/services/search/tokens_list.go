package search

import (
	"context"
	"errors"
	"maps"
	"slices"

	"gorm.io/gorm"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/httpd/api"
	"github.com/patchbay-dev/patchbay/core/store"
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

// applyTo adds the conditions to a statement.
func (f TokenFilter) applyTo(q *gorm.DB, spent map[string]string) *gorm.DB {
	q = q.Where("deleted_at = 0")
	if f.Group != nil {
		q = q.Where("group_name = ?", *f.Group)
	}
	if f.Query != "" {
		q = store.WhereContains(q, f.Query, "id", "note", "group_name")
	}
	switch f.Owner {
	case "":
	case "bound":
		q = q.Where("owner_id > ''")
	case "unbound":
		q = q.Where("owner_id = ''")
	default:
		q = q.Where("owner_id = ?", f.Owner)
	}
	switch f.Enabled {
	case "active":
		q = q.Where("enabled")
	case "frozen":
		q = q.Where("NOT enabled")
	}
	switch f.QuotaState {
	case "":
	case QuotaNormal:
		if len(spent) > 0 {
			q = store.WhereNotIn(q, "id", slices.Collect(maps.Keys(spent)))
		}
	default:
		ids := []string{}
		for id, state := range spent {
			if state == f.QuotaState {
				ids = append(ids, id)
			}
		}
		q = store.WhereIn(q, "id", ids)
	}
	return q
}

// tokenPage returns one page of a list, the newest first, and how many there are in all.
func (r *repository) tokenPage(ctx context.Context, f TokenFilter, spent map[string]string, page, perPage int) (out []tokenRecord, total int64, err error) {
	if err = f.applyTo(r.db(ctx).Model(&tokenRecord{}), spent).Count(&total).Error; err != nil {
		return nil, 0, err
	}
	err = f.applyTo(r.db(ctx), spent).Order("created_at DESC, id DESC").Limit(perPage).Offset((page - 1) * perPage).Find(&out).Error
	return out, total, err
}

// TokenGroup is a group of access tokens.
type TokenGroup struct {
	Name            string   `json:"name" doc:"Name of the group; empty for tokens without one."`
	TokenCount      int64    `json:"tokenCount" doc:"How many tokens it has."`
	LatestCreatedAt api.Time `json:"latestCreatedAt" doc:"When the newest of them was made."`
}

// TokenGroups lists the groups, the one with the newest token first.
func (a *Admin) TokenGroups(ctx context.Context) ([]TokenGroup, error) {
	var rows []struct {
		GroupName string
		N, Latest int64
	}
	err := a.repo.db(ctx).Raw("SELECT group_name, COUNT(*) AS n, MAX(created_at) AS latest FROM search_tokens WHERE deleted_at = 0 GROUP BY group_name ORDER BY latest DESC, group_name").Scan(&rows).Error
	out := make([]TokenGroup, len(rows))
	for i, r := range rows {
		out[i] = TokenGroup{r.GroupName, r.N, api.TimeOfMillis(r.Latest)}
	}
	return out, err
}

// spentLimits returns the window that is used up by the id of the token, for tokens with such a window.
func (t *tokens) spentLimits() map[string]string {
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

// liveToken returns a token that is not deleted.
func (r *repository) liveToken(ctx context.Context, id string) (tokenRecord, error) {
	out, err := r.findToken(ctx, id)
	if errors.Is(err, gorm.ErrRecordNotFound) || err == nil && out.DeletedAt != 0 {
		return out, fault.New(fault.NotFound, "There is no such access token.")
	}
	return out, err
}

// firstTokenOf returns the oldest enabled token of a user.
func (r *repository) firstTokenOf(ctx context.Context, user string, now int64) (tokenRecord, error) {
	var out tokenRecord
	err := r.db(ctx).Where("owner_id = ? AND deleted_at = 0 AND enabled AND (expires_at = 0 OR expires_at > ?)", user, now).Order("created_at, id").Take(&out).Error
	if errors.Is(err, gorm.ErrRecordNotFound) {
		return out, fault.New(fault.NotFound, "This user has no access token that can be used.")
	}
	return out, err
}

// TokenNotes returns the notes of tokens by their ids, also of those that were deleted.
func (a *Admin) TokenNotes(ctx context.Context, ids []string) (map[string]string, error) {
	return a.repo.tokenNotes(ctx, ids)
}

func (r *repository) tokenNotes(ctx context.Context, ids []string) (map[string]string, error) {
	out := make(map[string]string, len(ids))
	if len(ids) == 0 {
		return out, nil
	}
	rows, err := r.db(ctx).Raw("SELECT id, note FROM search_tokens WHERE id IN ?", ids).Rows()
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }()
	var id, note string
	for rows.Next() {
		if err := rows.Scan(&id, &note); err != nil {
			return nil, err
		}
		out[id] = note
	}
	return out, rows.Err()
}

// UsedUp returns the limits of a token that refuse requests at present, the one that lasts longest first.
func (t *AuthToken) UsedUp() (out []ReachedLimit) {
	for _, l := range []ReachedLimit{
		{Scope: "credits", Window: "month", Limit: t.MonthlyLimit, Used: t.MonthlyUsed, ResetAt: t.MonthlyResetAt},
		{Scope: "credits", Window: "day", Limit: t.DailyLimit, Used: t.DailyUsed, ResetAt: t.DailyResetAt},
		{Scope: "credits", Window: "hour", Limit: t.HourlyLimit, Used: t.HourlyUsed, ResetAt: t.HourlyResetAt},
		{Scope: "requests", Window: "hour", Limit: t.RequestsLimit, Used: t.RequestsUsed, ResetAt: t.RequestsReset},
	} {
		if l.Used >= l.Limit {
			out = append(out, l)
		}
	}
	if t.MinuteLimit > 0 && t.MinuteUsed >= t.MinuteLimit {
		out = append(out, ReachedLimit{Scope: "requests", Window: "minute", Limit: t.MinuteLimit, Used: t.MinuteUsed, ResetAt: t.MinuteResetAt})
	}
	return out
}
