package keys

import (
	"context"
	"time"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/httpd/api"
	"github.com/patchbay-dev/patchbay/core/lists"
	"github.com/patchbay-dev/patchbay/core/services/search/audit"
	"github.com/patchbay-dev/patchbay/core/store"
)

// APIKey is an upstream key in lists. The key itself is never shown.
type APIKey struct {
	ID               string                      `json:"id" example:"a1B2c3"`
	Status           KeyState                    `json:"status" enum:"active,cooling_down,exhausted,invalid,disabled"`
	Group            string                      `json:"group" example:"team"`
	Reason           string                      `json:"reason" doc:"Why the key is not active; empty if nothing is known."`
	Until            *api.Time                   `json:"until" nullable:"true" doc:"When a key that rests comes back by itself."`
	CreatedAt        api.Time                    `json:"created_at" example:"2026-01-31T12:00:00.000Z"`
	StatusChangedAt  *api.Time                   `json:"status_changed_at" nullable:"true"`
	LastUsedAt       *api.Time                   `json:"last_used_at" nullable:"true" example:"2026-01-31T12:00:00.000Z"`
	QuotaLimit       *int64                      `json:"quota_limit" doc:"What the upstream grants; null while that is not known." example:"1000"`
	QuotaRemaining   *int64                      `json:"quota_remaining" example:"997"`
	QuotaSyncedAt    *api.Time                   `json:"quota_synced_at" nullable:"true"`
	QuotaError       string                      `json:"quota_error" doc:"Why the last question for the quota failed."`
	TotalRequests    int64                       `json:"total_requests" example:"1234"`
	SuccessCount     int64                       `json:"success_count"`
	ErrorCount       int64                       `json:"error_count"`
	Credits          int64                       `json:"credits" doc:"Credits that requests with this key have cost."`
	Quarantine       api.Optional[KeyQuarantine] `json:"quarantine" doc:"Null unless the key is invalid."`
	TransientBackoff api.Optional[KeyBackoff]    `json:"transient_backoff" doc:"Null unless the key is cooling down."`
}

// KeyQuarantine tells why a key is kept out until somebody releases it.
type KeyQuarantine struct {
	ReasonSummary string    `json:"reasonSummary"`
	CreatedAt     *api.Time `json:"createdAt" nullable:"true"`
}

// KeyBackoff tells how long a key rests.
type KeyBackoff struct {
	ReasonCode     string   `json:"reasonCode"`
	CooldownUntil  api.Time `json:"cooldownUntil"`
	RetryAfterSecs int64    `json:"retryAfterSecs"`
}

func (k *Keys) describeKeys(ctx context.Context, records []KeyRecord) ([]APIKey, error) {
	ids := lists.ConvertAll(records, func(r KeyRecord) string { return r.ID })
	ever, err := k.cfg.Requests.LifetimeSums(ctx, audit.ScopeKey, ids)
	if err != nil {
		return nil, err
	}
	return lists.ConvertAll(records, func(r KeyRecord) APIKey { return k.describeKey(r, ever[r.ID]) }), nil
}

func (k *Keys) describeKey(r KeyRecord, ever *audit.RequestSums) APIKey {
	now := k.now()
	if r.Until != 0 && r.Until <= now.UnixMilli() && (r.State == KeyCooling || r.State == KeyExhausted) {
		// Its time has come; the pool takes it back at the next call.
		r.State, r.Reason, r.Until = KeyActive, "", 0
	}
	out := APIKey{
		ID: r.ID, Status: r.State, Group: r.GroupName, Reason: r.Reason, Until: api.OptionalTime(r.Until),
		CreatedAt: api.TimeOfMillis(r.CreatedAt), StatusChangedAt: api.OptionalTime(r.StateChangedAt), LastUsedAt: api.OptionalTime(ever.LastAt),
		QuotaSyncedAt: api.OptionalTime(r.QuotaSyncedAt), QuotaError: r.QuotaError,
		TotalRequests: ever.Requests, SuccessCount: ever.Successes, ErrorCount: ever.Errors, Credits: ever.Credits,
	}
	if r.QuotaLimit > 0 {
		left := max(0, r.QuotaLimit-r.QuotaUsed)
		out.QuotaLimit, out.QuotaRemaining = &r.QuotaLimit, &left
	}
	switch r.State {
	case KeyInvalid:
		out.Quarantine.Of = &KeyQuarantine{r.Reason, out.StatusChangedAt}
	case KeyCooling:
		until := store.FromMillis(r.Until)
		out.TransientBackoff.Of = &KeyBackoff{r.Reason, api.TimeOf(until), max(1, int64(until.Sub(now)/time.Second))}
	}
	return out
}

// KeyPage is a page of upstream keys, the newest first.
type KeyPage struct {
	Items   []APIKey  `json:"items"`
	Total   int64     `json:"total"`
	Page    int       `json:"page"`
	PerPage int       `json:"perPage"`
	Facets  KeyFacets `json:"facets"`
}

// FindKeys lists upstream keys; page counts from 1.
func (k *Keys) FindKeys(ctx context.Context, f KeyFilter, page, perPage int) (KeyPage, error) {
	out := KeyPage{Page: page, PerPage: perPage}
	records, total, err := k.Store.KeyPage(ctx, f, page, perPage)
	if err != nil {
		return out, err
	}
	out.Total = total
	if out.Items, err = k.describeKeys(ctx, records); err != nil {
		return out, err
	}
	if out.Facets.Groups, err = k.Store.keyFacet(ctx, "group_name"); err != nil {
		return out, err
	}
	out.Facets.Statuses, err = k.Store.keyFacet(ctx, "state")
	return out, err
}

// Key is one upstream key.
func (k *Keys) Key(ctx context.Context, id string) (APIKey, error) {
	r, err := k.Store.liveKey(ctx, id)
	if err != nil {
		return APIKey{}, err
	}
	all, err := k.describeKeys(ctx, []KeyRecord{r})
	if err != nil {
		return APIKey{}, err
	}
	return all[0], nil
}

// KeyFacets are the values that the list of keys can be filtered by.
type KeyFacets struct {
	Groups   []Facet `json:"groups"`
	Statuses []Facet `json:"statuses"`
}

// KeyChanges is a page of a key's history, the newest change first.
type KeyChanges struct {
	Items      []KeyChange `json:"items"`
	NextCursor *string     `json:"nextCursor"`
}

// KeyChange is a change of an upstream key's state.
type KeyChange struct {
	ID        string   `json:"id"`
	Time      api.Time `json:"time" example:"2026-01-31T12:00:00.000Z"`
	Source    string   `json:"source" enum:"system,admin"`
	Actor     string   `json:"actor" doc:"The user, where a person has made the change."`
	Operation string   `json:"operation" enum:"added,restored,deleted,enabled,disabled,quarantined,released,marked"`
	Before    KeyState `json:"before"`
	After     KeyState `json:"after"`
	Reason    string   `json:"reason" example:"It was published by mistake."`
}

// KeyHistory is a page of the changes of a key's state, also of one that is deleted.
func (k *Keys) KeyHistory(ctx context.Context, id, cursor string, limit int) (KeyChanges, error) {
	out := KeyChanges{Items: []KeyChange{}}
	var before string
	if cursor != "" {
		if err := store.DecodeCursor(cursor, &before); err != nil {
			return out, fault.InvalidField("cursor", "The cursor is not valid for this list.")
		}
	}
	rows, err := k.Store.KeyHistory(ctx, id, before, limit+1)
	if err != nil {
		return out, err
	}
	if len(rows) > limit {
		rows = rows[:limit]
		next, err := store.EncodeCursor(rows[len(rows)-1].ID)
		if err != nil {
			return out, err
		}
		out.NextCursor = &next
	}
	for _, r := range rows {
		out.Items = append(out.Items, KeyChange{r.ID, api.TimeOfMillis(r.Time), r.Source, r.Actor, r.Operation, r.Before, r.After, r.Reason})
	}
	return out, nil
}

// CheckKey returns an error for a key that there is not.
func (k *Keys) CheckKey(ctx context.Context, id string) error {
	_, err := k.Store.liveKey(ctx, id)
	return err
}
