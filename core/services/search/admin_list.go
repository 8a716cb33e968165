package search

import (
	"context"

	"github.com/patchbay-dev/patchbay/core/httpd/api"
)

// listPage is how many records are read from the database at once.
const listPage = 500

// StoredToken is an access token as it is stored, without its text.
type StoredToken struct {
	ID        string      `json:"id"`
	Enabled   bool        `json:"enabled"`
	Note      string      `json:"note"`
	Group     string      `json:"group"`
	OwnerID   string      `json:"owner_id"`
	ExpiresAt *api.Time   `json:"expires_at"`
	Limits    TokenLimits `json:"limits"`
	CreatedAt api.Time    `json:"created_at"`
}

// ListTokens returns all access tokens, the newest first.
func (a *Admin) ListTokens(ctx context.Context) ([]StoredToken, error) {
	out := []StoredToken{}
	for page := 1; ; page++ {
		records, _, err := a.repo.tokenPage(ctx, TokenFilter{}, nil, page, listPage)
		if err != nil {
			return nil, err
		}
		for _, r := range records {
			out = append(out, StoredToken{
				ID: r.ID, Enabled: r.Enabled, Note: r.Note, Group: r.GroupName, OwnerID: r.OwnerID, ExpiresAt: api.OptionalTime(r.ExpiresAt), CreatedAt: api.TimeOfMillis(r.CreatedAt),
				Limits: TokenLimits{r.LimitRequests, r.LimitCreditsHour, r.LimitCreditsDay, r.LimitCreditsMonth, r.LimitRequestsMinute},
			})
		}
		if len(records) < listPage {
			return out, nil
		}
	}
}

// StoredKey is an upstream key as it is stored, without the key itself.
type StoredKey struct {
	ID              string    `json:"id"`
	Status          KeyState  `json:"status"`
	Group           string    `json:"group"`
	Reason          string    `json:"reason"`
	Until           *api.Time `json:"until"`
	CreatedAt       api.Time  `json:"created_at"`
	StatusChangedAt *api.Time `json:"status_changed_at"`
}

// ListKeys returns all upstream keys, the newest first.
func (a *Admin) ListKeys(ctx context.Context) ([]StoredKey, error) {
	out := []StoredKey{}
	for page := 1; ; page++ {
		records, _, err := a.repo.keyPage(ctx, KeyFilter{}, page, listPage)
		if err != nil {
			return nil, err
		}
		for _, r := range records {
			out = append(out, StoredKey{r.ID, r.State, r.GroupName, r.Reason, api.OptionalTime(r.Until), api.TimeOfMillis(r.CreatedAt), api.OptionalTime(r.StateChangedAt)})
		}
		if len(records) < listPage {
			return out, nil
		}
	}
}
