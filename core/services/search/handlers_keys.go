package search

import (
	"context"
	"strings"
	"time"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/httpd/api"
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

func (s *Service) describeKeys(ctx context.Context, records []keyRecord) ([]APIKey, error) {
	ids := make([]string, len(records))
	for i, r := range records {
		ids[i] = r.ID
	}
	ever, err := s.rollups.lifetimeSums(ctx, scopeKey, ids)
	if err != nil {
		return nil, err
	}
	out := make([]APIKey, len(records))
	for i, r := range records {
		out[i] = s.describeKey(r, ever[r.ID])
	}
	return out, nil
}

func (s *Service) describeKey(r keyRecord, ever *tally) APIKey {
	now := s.cfg.Now()
	if r.Until != 0 && r.Until <= now.UnixMilli() && (r.State == KeyCooling || r.State == KeyExhausted) {
		// Its time has come; the pool takes it back at the next call.
		r.State, r.Reason, r.Until = KeyActive, "", 0
	}
	k := APIKey{
		ID: r.ID, Status: r.State, Group: r.GroupName, Reason: r.Reason, Until: api.OptionalTime(r.Until),
		CreatedAt: api.TimeOfMillis(r.CreatedAt), StatusChangedAt: api.OptionalTime(r.StateChangedAt), LastUsedAt: api.OptionalTime(ever.LastAt),
		QuotaSyncedAt: api.OptionalTime(r.QuotaSyncedAt), QuotaError: r.QuotaError,
		TotalRequests: ever.Requests, SuccessCount: ever.Successes, ErrorCount: ever.Errors, Credits: ever.Credits,
	}
	if r.QuotaLimit > 0 {
		left := max(0, r.QuotaLimit-r.QuotaUsed)
		k.QuotaLimit, k.QuotaRemaining = &r.QuotaLimit, &left
	}
	switch r.State {
	case KeyInvalid:
		k.Quarantine.Of = &KeyQuarantine{r.Reason, k.StatusChangedAt}
	case KeyCooling:
		until := store.FromMillis(r.Until)
		k.TransientBackoff.Of = &KeyBackoff{r.Reason, api.TimeOf(until), max(1, int64(until.Sub(now)/time.Second))}
	}
	return k
}

type keyQuery struct {
	Page    int      `query:"page" minimum:"1" maximum:"1000000" default:"1"`
	PerPage int      `query:"per_page" minimum:"1" maximum:"200" default:"20"`
	Groups  []string `query:"group,explode" maxItems:"50" doc:"Repeatable; empty stands for keys without a group."`
	States  []string `query:"status,explode" maxItems:"5" doc:"Repeatable: active, cooling_down, exhausted, invalid, disabled."`
}

type keyList struct{ Body KeyPage }

// KeyPage is a page of upstream keys, the newest first.
type KeyPage struct {
	Items   []APIKey  `json:"items"`
	Total   int64     `json:"total"`
	Page    int       `json:"page"`
	PerPage int       `json:"perPage"`
	Facets  KeyFacets `json:"facets"`
}

func (s *Service) listKeys(ctx context.Context, in *keyQuery) (*keyList, error) {
	for _, state := range in.States {
		switch KeyState(state) {
		case KeyActive, KeyCooling, KeyExhausted, KeyInvalid, KeyDisabled:
		default:
			return nil, invalidField("status", "The status is one of active, cooling_down, exhausted, invalid, disabled.")
		}
	}
	list, err := s.Keys(ctx, KeyFilter{in.Groups, in.States}, in.Page, in.PerPage)
	return &keyList{list}, err
}

// Keys lists upstream keys; page counts from 1.
func (s *Service) Keys(ctx context.Context, f KeyFilter, page, perPage int) (KeyPage, error) {
	out := KeyPage{Page: page, PerPage: perPage}
	records, total, err := s.repo.keyPage(ctx, f, page, perPage)
	if err != nil {
		return out, err
	}
	out.Total = total
	if out.Items, err = s.describeKeys(ctx, records); err != nil {
		return out, err
	}
	if out.Facets.Groups, err = s.repo.keyFacet(ctx, "group_name"); err != nil {
		return out, err
	}
	out.Facets.Statuses, err = s.repo.keyFacet(ctx, "state")
	return out, err
}

// Key is one upstream key.
func (s *Service) Key(ctx context.Context, id string) (APIKey, error) {
	r, err := s.repo.liveKey(ctx, id)
	if err != nil {
		return APIKey{}, err
	}
	all, err := s.describeKeys(ctx, []keyRecord{r})
	if err != nil {
		return APIKey{}, err
	}
	return all[0], nil
}

// KeyPath names an upstream key.
type KeyPath struct {
	ID string `path:"id" maxLength:"12"`
}

func (s *Service) getKey(ctx context.Context, in *KeyPath) (*struct{ Body APIKey }, error) {
	k, err := s.Key(ctx, in.ID)
	return &struct{ Body APIKey }{k}, err
}

type keyBody struct {
	Body struct {
		APIKey string `json:"api_key" maxLength:"512" example:"upstream-key-1"`
		Group  string `json:"group" required:"false" maxLength:"80" doc:"The name of a backend makes the key serve that one alone." example:"team"`
	}
}

type keyID struct {
	Body struct {
		ID string `json:"id"`
	}
}

func (s *Service) postKey(ctx context.Context, in *keyBody) (*keyID, error) {
	if err := checkLabels(nil, &in.Body.Group); err != nil {
		return nil, err
	}
	if problem := keyProblem(strings.TrimSpace(in.Body.APIKey)); problem != "" {
		return nil, invalidField("api_key", "The upstream key cannot be taken: %s.", problem)
	}
	added, err := s.AddKeys(ctx, in.Body.Group, []string{in.Body.APIKey})
	if err != nil {
		return nil, err
	}
	out := &keyID{}
	out.Body.ID = added[0].ID
	return out, nil
}

type keysBody struct {
	Body keysInput
}

// keysInput is many keys at once: as a list, or as items.
type keysInput struct {
	APIKeys []string  `json:"api_keys" required:"false" doc:"At most 1000." example:"[\"upstream-key-1\",\"upstream-key-2\"]"`
	Items   []keyItem `json:"items" required:"false" doc:"The same, one object for each."`
	Group   string    `json:"group" required:"false" maxLength:"80" example:"team"`
}

type keyItem struct {
	APIKey string `json:"api_key" example:"upstream-key-1"`
}

func (b keysInput) keyValues() ([]string, error) {
	values := append([]string{}, b.APIKeys...)
	for _, it := range b.Items {
		values = append(values, it.APIKey)
	}
	for i := range values {
		values[i] = strings.TrimSpace(values[i])
	}
	if len(values) == 0 {
		return nil, invalidField("api_keys", "There is no key in the request.")
	}
	if len(values) > MaxBatch {
		return nil, fault.New("too_many_items", "One request takes at most %d keys.", MaxBatch).WithStatus(400).With("field", "api_keys").With("limit", MaxBatch)
	}
	return values, checkLabels(nil, &b.Group)
}

type keysResult struct {
	Body struct {
		Summary KeysSummary `json:"summary"`
		Results []KeyResult `json:"results"`
	}
}

// KeyResult is what became of one key of a batch.
type KeyResult struct {
	Line   int    `json:"line" doc:"Its place in the request, from 1."`
	APIKey string `json:"api_key" doc:"The key, masked."`
	Status string `json:"status" enum:"created,undeleted,existed,duplicate_in_input,failed,ignored_empty"`
	ID     string `json:"id,omitempty"`
	Error  string `json:"error,omitempty"`
}

// KeysSummary counts what became of the keys of a batch.
type KeysSummary struct {
	InputLines       int `json:"input_lines"`
	ValidLines       int `json:"valid_lines"`
	UniqueInInput    int `json:"unique_in_input"`
	Created          int `json:"created"`
	Undeleted        int `json:"undeleted"`
	Existed          int `json:"existed"`
	DuplicateInInput int `json:"duplicate_in_input"`
	Failed           int `json:"failed"`
	IgnoredEmpty     int `json:"ignored_empty"`
}

// KeyFacets are the values that the list of keys can be filtered by.
type KeyFacets struct {
	Groups   []Facet `json:"groups"`
	Statuses []Facet `json:"statuses"`
}
