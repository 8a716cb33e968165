package access

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/httpd"
	"github.com/patchbay-dev/patchbay/core/httpd/api"
	"github.com/patchbay-dev/patchbay/core/secret"
	"github.com/patchbay-dev/patchbay/core/store"
)

// TokenAdmin changes access tokens. It needs no running service: a core that runs on the same database notices what was changed.
type TokenAdmin struct {
	store   *store.Store
	keyring *secret.Keyring
	now     func() time.Time
	Store   *Store
	// changed tells the service of this process.
	changed func(tokenRecord)
}

// NewTokenAdmin makes a TokenAdmin on a database whose migrations have run; now nil means time.Now.
func NewTokenAdmin(st *store.Store, keyring *secret.Keyring, now func() time.Time) *TokenAdmin {
	if now == nil {
		now = time.Now
	}
	return &TokenAdmin{store: st, keyring: keyring, now: now, Store: &Store{st}, changed: func(tokenRecord) {}}
}

// NewToken describes an access token to make. Nil limits mean the service's defaults.
type NewToken struct {
	Note      string
	Group     string
	OwnerID   string
	ExpiresAt time.Time
	Limits    *Limits
	// CacheTTL is for how many seconds answers may be given again; nil takes the default.
	CacheTTL *int64
	// Own are limits one by one, unless Limits is set; nil takes the service's default.
	Own TokenLimits
}

// check returns what is wrong with a token to make.
func (n NewToken) check(now time.Time) error {
	if !n.ExpiresAt.IsZero() && !n.ExpiresAt.After(now) {
		return fault.InvalidField("expires_at", "The expiry is in the past.")
	}
	return n.Own.check()
}

// CreateToken makes an access token and returns its text, which is stored sealed.
func (a *TokenAdmin) CreateToken(ctx context.Context, n NewToken) (text string, err error) {
	n.Note, n.Group = strings.TrimSpace(n.Note), strings.TrimSpace(n.Group)
	if err := CheckLabels(&n.Note, &n.Group); err != nil {
		return "", err
	}
	if err := n.check(a.now()); err != nil {
		return "", err
	}
	err = a.store.Tx(ctx, "create token", func(ctx context.Context) error {
		id, err := a.freeTokenID(ctx)
		if err != nil {
			return err
		}
		text = tokenPrefix + id + "-" + secret.RandomString(tokenSecretLen, secret.Alphanumeric)
		r := a.tokenRecord(id, text, n)
		httpd.NoteObject(ctx, id)
		a.store.AfterCommit(ctx, func() { a.changed(r) })
		return a.Store.create(ctx, &r)
	})
	if err != nil {
		return "", fmt.Errorf("create token: %w", err)
	}
	return text, nil
}

func (a *TokenAdmin) freeTokenID(ctx context.Context) (string, error) {
	for range 16 {
		id := secret.RandomString(tokenIDLen, secret.Alphanumeric)
		_, found, err := a.Store.FindToken(ctx, id)
		if err != nil {
			return "", err
		}
		if !found {
			return id, nil
		}
	}
	return "", errors.New("no free token id was found")
}

func (a *TokenAdmin) tokenRecord(id, text string, n NewToken) tokenRecord {
	now := a.now().UnixMilli()
	r := tokenRecord{
		ID: id, Hash: secret.HashToken(text), Sealed: a.keyring.Seal([]byte(text), "search_tokens", id, "sealed"), Enabled: true,
		Note: n.Note, GroupName: n.Group, OwnerID: n.OwnerID, ExpiresAt: store.Millis(n.ExpiresAt), CacheTTL: n.CacheTTL, CreatedAt: now,
		UpdatedAt: now,
	}
	r.LimitRequests, r.LimitCreditsHour, r.LimitCreditsDay, r.LimitCreditsMonth, r.LimitRequestsMinute = n.Own.RequestsHour,
		n.Own.CreditsHour, n.Own.CreditsDay, n.Own.CreditsMonth, n.Own.RequestsMinute
	if l := n.Limits; l != nil {
		r.LimitRequests, r.LimitCreditsHour, r.LimitCreditsDay, r.LimitCreditsMonth, r.LimitRequestsMinute = &l.RequestsHour, &l.CreditsHour,
			&l.CreditsDay, &l.CreditsMonth, &l.RequestsMinute
	}
	return r
}

// SetTokenEnabled enables or disables a token.
func (a *TokenAdmin) SetTokenEnabled(ctx context.Context, id string, enabled bool) error {
	return a.changeToken(ctx, id, map[string]any{"enabled": enabled})
}

// DeleteToken makes a token unusable for good. Its requests stay in the audit.
func (a *TokenAdmin) DeleteToken(ctx context.Context, id string) error {
	return a.changeToken(ctx, id, map[string]any{"deleted_at": a.now().UnixMilli()})
}

func (a *TokenAdmin) changeToken(ctx context.Context, id string, values map[string]any) error {
	if strings.ContainsRune(id, 0) {
		// Not every database can even look for it.
		return fault.New(fault.NotFound, "There is no such access token.")
	}
	return a.store.Tx(ctx, "change token", func(ctx context.Context) error {
		changed, err := a.Store.update(ctx, id, values, a.now().UnixMilli())
		if err != nil {
			return fmt.Errorf("change token: %w", err)
		}
		if !changed {
			return fault.New(fault.NotFound, "There is no such access token.")
		}
		r, _, err := a.Store.FindToken(ctx, id)
		if err != nil {
			return err
		}
		a.store.AfterCommit(ctx, func() { a.changed(r) })
		return nil
	})
}

// MaxNote bounds the note of a token, in bytes.
const MaxNote = 500

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
func (a *TokenAdmin) ListTokens(ctx context.Context) ([]StoredToken, error) {
	out := []StoredToken{}
	for page := 1; ; page++ {
		records, _, err := a.Store.TokenPage(ctx, TokenFilter{}, nil, page, ListPage)
		if err != nil {
			return nil, err
		}
		for _, r := range records {
			out = append(out, StoredToken{
				ID: r.ID, Enabled: r.Enabled, Note: r.Note, Group: r.GroupName, OwnerID: r.OwnerID, ExpiresAt: api.OptionalTime(r.ExpiresAt),
				CreatedAt: api.TimeOfMillis(r.CreatedAt),
				Limits:    TokenLimits{r.LimitRequests, r.LimitCreditsHour, r.LimitCreditsDay, r.LimitCreditsMonth, r.LimitRequestsMinute},
			})
		}
		if len(records) < ListPage {
			return out, nil
		}
	}
}

// ListPage is how many records are read from the database at once.
const ListPage = 500
