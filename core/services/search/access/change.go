package access

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/secret"
	"github.com/patchbay-dev/patchbay/core/store"
)

const (
	maxGroup = 80
	// MaxBatch is how many tokens or keys one call may name.
	MaxBatch = 1000
)

// TokenChange says what to change about a token. Nil leaves a part as it is.
type TokenChange struct {
	Note      *string
	Group     *string
	OwnerID   *string
	ExpiresAt *time.Time
	Enabled   *bool
	// Limits are set one by one: nil leaves a limit, a nil Value takes the service's default.
	RequestsHour, CreditsHour, CreditsDay, CreditsMonth, RequestsMinute *Override
	// CacheTTL is for how many seconds answers may be given again; a nil Value takes the default.
	CacheTTL *Override
}

// Override is a limit of a token's own, or none.
type Override struct{ Value *int64 }

func (c TokenChange) columnValues() (map[string]any, error) {
	out := map[string]any{}
	if c.Note != nil {
		out["note"] = strings.TrimSpace(*c.Note)
	}
	if c.Group != nil {
		out["group_name"] = strings.TrimSpace(*c.Group)
	}
	if err := CheckLabels(c.Note, c.Group); err != nil {
		return nil, err
	}
	if c.OwnerID != nil {
		out["owner_id"] = *c.OwnerID
	}
	if c.ExpiresAt != nil {
		out["expires_at"] = store.Millis(*c.ExpiresAt)
	}
	if c.Enabled != nil {
		out["enabled"] = *c.Enabled
	}
	for _, l := range []struct {
		column, field string
		o             *Override
	}{
		{"limit_requests", "limits.requests_hour", c.RequestsHour}, {"limit_credits_hour", "limits.credits_hour", c.CreditsHour},
		{"limit_credits_day", "limits.credits_day", c.CreditsDay}, {"limit_credits_month", "limits.credits_month", c.CreditsMonth},
		{"limit_requests_minute", "limits.requests_minute", c.RequestsMinute},
		{"cache_ttl", "cache_ttl", c.CacheTTL},
	} {
		if l.o == nil {
			continue
		}
		if v := l.o.Value; v != nil && *v < 0 {
			return nil, fault.InvalidField(l.field, "The value must not be negative.")
		}
		out[l.column] = l.o.Value
	}
	return out, nil
}

// CheckLabels checks the texts that people give to tokens.
func CheckLabels(note, group *string) error {
	for _, l := range []struct {
		field string
		text  *string
		max   int
	}{{"note", note, MaxNote}, {"group", group, maxGroup}} {
		if l.text == nil {
			continue
		}
		if len(*l.text) > l.max {
			return fault.InvalidField(l.field, "The %s has more than %d bytes.", l.field, l.max)
		}
		if !utf8.ValidString(*l.text) || strings.ContainsFunc(*l.text,
			func(r rune) bool { return unicode.IsControl(r) && r != '\n' && r != '\t' }) {
			return fault.InvalidField(l.field, "The %s contains a control character or is not valid UTF-8.", l.field)
		}
	}
	return nil
}

// ChangeToken changes parts of a token.
func (a *TokenAdmin) ChangeToken(ctx context.Context, id string, c TokenChange) error {
	values, err := c.columnValues()
	if err != nil {
		return err
	}
	if len(values) == 0 {
		_, err := a.Store.liveToken(ctx, id)
		return err
	}
	return a.changeToken(ctx, id, values)
}

// changeTokens enables, disables or deletes several tokens and names those that do not exist. It locks tokens in the order of their ids.
func (a *TokenAdmin) changeTokens(ctx context.Context, ids []string, values map[string]any) (updated int, missing []string, err error) {
	missing = []string{}
	err = a.store.Tx(ctx, "change tokens", func(ctx context.Context) error {
		for _, id := range slices.Compact(slices.Sorted(slices.Values(ids))) {
			err := a.changeToken(ctx, id, values)
			switch {
			case fault.CodeOf(err) == fault.NotFound:
				missing = append(missing, id)
			case err != nil:
				return err
			default:
				updated++
			}
		}
		return nil
	})
	if err != nil {
		return 0, nil, fmt.Errorf("change tokens: %w", err)
	}
	slices.SortFunc(missing, func(a, b string) int { return cmp.Compare(slices.Index(ids, a), slices.Index(ids, b)) })
	return updated, missing, nil
}

// CreateTokens makes several tokens of a group at once, all or none.
func (a *TokenAdmin) CreateTokens(ctx context.Context, count int, n NewToken) (texts []string, err error) {
	err = a.store.Tx(ctx, "create tokens", func(ctx context.Context) error {
		for range count {
			text, err := a.CreateToken(ctx, n)
			if err != nil {
				return err
			}
			texts = append(texts, text)
		}
		return nil
	})
	return texts, err
}

// TokenText shows the text of a token again.
func (a *TokenAdmin) TokenText(ctx context.Context, id string) (string, error) {
	r, err := a.Store.liveToken(ctx, id)
	if err != nil {
		return "", err
	}
	return a.openSecret(r)
}

func (a *TokenAdmin) openSecret(r tokenRecord) (string, error) {
	plain, err := a.keyring.Open(r.Sealed, "search_tokens", r.ID, "sealed")
	if err != nil {
		return "", fault.Wrap(err, fault.Internal, "The access token cannot be decrypted with the current master key.")
	}
	return string(plain), nil
}

// RotateToken gives a token a new secret. The old one ends at once.
func (a *TokenAdmin) RotateToken(ctx context.Context, id string) (string, error) {
	text := tokenPrefix + id + "-" + secret.RandomString(tokenSecretLen, secret.Alphanumeric)
	return text, a.changeToken(ctx, id, map[string]any{
		"hash": secret.HashToken(text), "sealed": a.keyring.Seal([]byte(text), "search_tokens", id, "sealed"),
	})
}

// SetTokensEnabled enables or disables several tokens, and names those that do not exist.
func (a *TokenAdmin) SetTokensEnabled(ctx context.Context, ids []string, enabled bool) (updated int, missing []string, err error) {
	return a.changeTokens(ctx, ids, map[string]any{"enabled": enabled})
}

// DeleteTokens deletes several tokens, and names those that do not exist.
func (a *TokenAdmin) DeleteTokens(ctx context.Context, ids []string) (updated int, missing []string, err error) {
	return a.changeTokens(ctx, ids, map[string]any{"deleted_at": a.now().UnixMilli()})
}
