package auth

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"gorm.io/gorm"

	"github.com/patchbay-dev/patchbay/core/auth/limit"
	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/lists"
	"github.com/patchbay-dev/patchbay/core/secret"
	"github.com/patchbay-dev/patchbay/core/store"
)

// Keys keeps the API keys.
type Keys struct {
	cfg      Config
	rows     *userStore
	passkeys *Passkeys
	sessions *Sessions
	journal  *Journal
	// wrong counts the wrong keys of each client's address.
	wrong *limit.Limiter
}

// Scopes returns the services that a new API key can be confined to. Keys that have another scope stay valid: they allow
// nothing more.
func (ks *Keys) Scopes() []string { return ks.cfg.Scopes }

// maxKeys is how many keys of one user may be valid at once.
const maxKeys = 200

// Key is an API key as it may be shown. Times are Unix milliseconds, 0 for none.
type Key struct {
	ID, UserID, Name string
	// Prefix is the first 12 characters, Masked those and the last 4.
	Prefix, Masked string
	// Scopes are the services that it is for; none means all.
	Scopes                                      []string
	CreatedAt, ExpiresAt, RevokedAt, LastUsedAt int64
}

// NewKey says what key to make.
type NewKey struct {
	// Name is at most 80 characters; "" means "API key".
	Name string
	// Scopes are some of Users.Scopes; none means all.
	Scopes []string
	// ExpiresAt is the zero time for a key that does not expire.
	ExpiresAt time.Time
}

// Create makes an API key for the principal's user. API keys, and sessions that were exchanged from them, make none: what a
// key has made would outlive it. A user with a passkey must have shown it in the last ten minutes.
func (ks *Keys) Create(ctx context.Context, p *Principal, k NewKey) (Key, string, error) {
	row, err := ks.newKey(p, k)
	if err != nil {
		return Key{}, "", err
	}
	if err := ks.passkeys.CheckNewWayIn(ctx, p); err != nil {
		return Key{}, "", err
	}
	var text string
	err = ks.cfg.Store.Tx(ctx, "create API key", func(ctx context.Context) error {
		if err := ks.sessions.LockOwner(ctx, p); err != nil {
			return err
		}
		if err := ks.checkKeyCount(ctx, row.UserID); err != nil {
			return err
		}
		text, err = ks.insertKey(ctx, row)
		return err
	})
	if err != nil {
		return Key{}, "", wrapStoreError("create API key", err)
	}
	return ks.keyView(*row), text, nil
}

// newKey checks what is asked for.
func (ks *Keys) newKey(p *Principal, k NewKey) (*apiKey, error) {
	if !p.HasAccount() {
		return nil, errNoAccount()
	}
	if p.Via == ViaKey || p.Via == ViaExchanged {
		return nil, fault.New(fault.Forbidden, "An API key cannot create API keys: sign in with a passkey, or use the command line.")
	}
	name := strings.TrimSpace(k.Name)
	if name == "" {
		name = defaultKeyName
	}
	if err := checkName(name); err != nil {
		return nil, err
	}
	scopes := slices.Clone(k.Scopes)
	slices.Sort(scopes)
	scopes = slices.Compact(scopes)
	for _, s := range scopes {
		if !slices.Contains(ks.cfg.Scopes, s) {
			return nil, fault.New(fault.InvalidArgument, "A scope must be one of %s.", strings.Join(ks.cfg.Scopes, ", ")).With("field", "scopes")
		}
	}
	if !k.ExpiresAt.IsZero() && !k.ExpiresAt.After(ks.cfg.Now()) {
		return nil, fault.New(fault.InvalidArgument, "The expiry of the key is in the past: choose a later time.").With("field", "expiresAt")
	}
	return &apiKey{UserID: p.User.ID, Name: name, Scopes: strings.Join(scopes, ","), ExpiresAt: store.Millis(k.ExpiresAt)}, nil
}

// checkKeyCount refuses one more key for a user who has as many as may be.
func (ks *Keys) checkKeyCount(ctx context.Context, userID string) error {
	var n int64
	err := ks.cfg.Store.DB(ctx).Model(&apiKey{}).Where("user_id = ? AND revoked_at = 0", userID).Count(&n).Error
	if err == nil && n >= maxKeys {
		return fault.New(fault.Conflict, "You have %d API keys, which is the limit: revoke some first.", n)
	}
	return err
}

// scopesAllow reports whether inner allows no more than outer. No scopes mean all.
func scopesAllow(outer, inner []string) bool {
	if len(outer) == 0 {
		return true
	}
	return len(inner) > 0 && !slices.ContainsFunc(inner, func(s string) bool { return !slices.Contains(outer, s) })
}

// insertKey gives a row its secret and stores it in the running transaction.
func (ks *Keys) insertKey(ctx context.Context, row *apiKey) (string, error) {
	raw := make([]byte, keyBytes)
	if _, err := rand.Read(raw); err != nil {
		return "", err
	}
	text := keyPrefix + base64.RawURLEncoding.EncodeToString(raw)
	row.ID, row.CreatedAt = store.NewID("key"), ks.cfg.Now().UnixMilli()
	row.Hash, row.Prefix = secret.HashToken(text), text[:12]
	row.Sealed = ks.cfg.Keyring.Seal([]byte(text), "api_keys", row.ID, "sealed")
	if err := ks.cfg.Store.Writer(ctx).Create(row).Error; err != nil {
		return "", err
	}
	return text, ks.journal.recordEvent(ctx, Event{Action: EventKeyCreated, TargetID: row.ID, TargetName: row.Name, UserID: row.UserID,
		Detail: "scopes: " + orAll(row.Scopes)})
}

func orAll(scopes string) string {
	if scopes == "" {
		return "all"
	}
	return scopes
}

// List returns the API keys of a user, the newest first, revoked ones included.
func (ks *Keys) List(ctx context.Context, userID string) ([]Key, error) {
	var rows []apiKey
	err := ks.cfg.Store.DB(ctx).Where("user_id = ?", userID).Order("created_at DESC, id DESC").Find(&rows).Error
	return lists.ConvertAll(rows, ks.keyView), wrapStoreError("list API keys", err)
}

// Find returns an API key by its id, also a revoked one.
func (ks *Keys) Find(ctx context.Context, id string) (Key, error) {
	var row apiKey
	err := ks.cfg.Store.DB(ctx).Where("id = ?", id).Take(&row).Error
	if errors.Is(err, gorm.ErrRecordNotFound) {
		err = errNoKey()
	}
	return ks.keyView(row), wrapStoreError("read API key", err)
}

func (ks *Keys) keyView(row apiKey) Key {
	masked := row.Prefix + "…"
	if text, err := ks.unsealKey(row); err == nil {
		masked = secret.Mask(text)
	}
	return Key{
		ID: row.ID, UserID: row.UserID, Name: row.Name, Prefix: row.Prefix, Masked: masked, Scopes: row.scopeList(),
		CreatedAt: row.CreatedAt, ExpiresAt: row.ExpiresAt, RevokedAt: row.RevokedAt, LastUsedAt: row.LastUsedAt,
	}
}

func (ks *Keys) unsealKey(row apiKey) (string, error) {
	text, err := ks.cfg.Keyring.Open(row.Sealed, "api_keys", row.ID, "sealed")
	return string(text), err
}

// Reveal is the full text of an own key. It needs a passkey check of the last minutes.
func (ks *Keys) Reveal(ctx context.Context, p *Principal, id string) (text string, err error) {
	if err := ks.passkeys.RequireConfirmed(p); err != nil {
		return "", err
	}
	err = ks.cfg.Store.Tx(ctx, "reveal API key", func(ctx context.Context) error {
		row, err := ks.readKey(ctx, id)
		if err != nil {
			return err
		}
		if row.UserID != p.User.ID {
			return errNoKey()
		}
		if row.RevokedAt != 0 {
			return fault.New(fault.Conflict, "This API key is revoked.")
		}
		if text, err = ks.unsealKey(row); err != nil {
			return err
		}
		return ks.journal.recordEvent(ctx, Event{Action: EventKeyRevealed, TargetID: row.ID, TargetName: row.Name, UserID: row.UserID})
	})
	if err != nil {
		return "", wrapStoreError("reveal API key", err)
	}
	return text, nil
}

// RevealAll returns the own keys that are not revoked, the newest first, with their texts by id. The texts are there only after
// a passkey check of the last minutes.
func (ks *Keys) RevealAll(ctx context.Context, p *Principal) (out []Key, texts map[string]string, err error) {
	texts = map[string]string{}
	err = ks.cfg.Store.Tx(ctx, "reveal API keys", func(ctx context.Context) error {
		var rows []apiKey
		err := ks.cfg.Store.Writer(ctx).Where("user_id = ? AND revoked_at = 0", p.User.ID).Order("created_at DESC, id DESC").Find(&rows).Error
		if err != nil {
			return err
		}
		for _, row := range rows {
			out = append(out, ks.keyView(row))
			if ks.passkeys.RequireConfirmed(p) != nil {
				continue
			}
			if texts[row.ID], err = ks.unsealKey(row); err != nil {
				return err
			}
		}
		if len(texts) == 0 {
			return nil
		}
		return ks.journal.recordEvent(ctx, Event{Action: EventKeyRevealed, UserID: p.User.ID, TargetID: p.User.ID, TargetName: p.User.Email,
			Detail: "all"})
	})
	return out, texts, wrapStoreError("reveal API keys", err)
}

// Revoke ends a key and the sessions that were exchanged from it, at once. It may be called again. Members may revoke
// their own, administrators all; an API key with scopes only those that may do no more than itself.
func (ks *Keys) Revoke(ctx context.Context, p *Principal, id string) error {
	return wrapStoreError("revoke API key", ks.cfg.Store.Tx(ctx, "revoke API key", func(ctx context.Context) error {
		row, err := ks.readKey(ctx, id)
		if err != nil {
			return err
		}
		if row.UserID != p.User.ID && !p.Admin() {
			return errNoKey()
		}
		if !scopesAllow(p.Scopes, row.scopeList()) {
			return fault.New(fault.Forbidden, "This API key cannot revoke one for other services than its own.")
		}
		if _, err := ks.rows.lockUser(ctx, "id = ?", row.UserID); err != nil {
			return err
		}
		if row, err = ks.readKey(ctx, id); err != nil || row.RevokedAt != 0 {
			return err
		}
		w := ks.cfg.Store.Writer(ctx)
		if err := w.Model(&apiKey{}).Where("id = ?", row.ID).Update("revoked_at", ks.cfg.Now().UnixMilli()).Error; err != nil {
			return err
		}
		if err := w.Where("key_id = ?", row.ID).Delete(&session{}).Error; err != nil {
			return err
		}
		return ks.journal.recordEvent(ctx, Event{Action: EventKeyRevoked, TargetID: row.ID, TargetName: row.Name, UserID: row.UserID})
	}))
}

func (ks *Keys) readKey(ctx context.Context, id string) (row apiKey, err error) {
	err = ks.cfg.Store.Writer(ctx).Where("id = ?", id).Take(&row).Error
	if errors.Is(err, gorm.ErrRecordNotFound) {
		err = errNoKey()
	}
	return row, err
}

func errNoKey() error { return fault.New(fault.NotFound, "There is no such API key.") }

// errNoAccount is for the built-in developer, who is no user.
func errNoAccount() error {
	return fault.New(fault.Conflict, "You are here without an account: create the first administrator, then sign in.")
}

func checkName(name string) error {
	if n := utf8.RuneCountInString(name); n == 0 || n > maxName || !utf8.ValidString(name) || strings.ContainsFunc(name, unicode.IsControl) {
		return fault.New(fault.InvalidArgument, "The name must have 1 to %d characters, none of them a control character.",
			maxName).With("field", "name")
	}
	return nil
}
