package auth

import (
	"context"
	"database/sql"
	"encoding/base64"
	"errors"
	"net/http"
	"strings"
	"time"

	"gorm.io/gorm"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/secret"
)

// apiKey is an API key as it is stored: its hash to look it up, a sealed copy to show it again.
type apiKey struct {
	ID         string `gorm:"primaryKey"`
	UserID     string
	Name       string
	Hash       []byte
	Sealed     string
	Prefix     string
	Scopes     string
	ExpiresAt  int64
	CreatedAt  int64 `gorm:"autoCreateTime:false"`
	RevokedAt  int64
	LastUsedAt int64
}

// TableName implements gorm's Tabler.
func (apiKey) TableName() string { return "api_keys" }

// scopeList returns the services that the key is for. None means all.
func (k *apiKey) scopeList() []string {
	if k.Scopes == "" {
		return nil
	}
	return strings.Split(k.Scopes, ",")
}

// codeKey is the code of a wrong API key.
const codeKey fault.Code = "invalid_api_key"

func errKey() error {
	return fault.New(codeKey, "The API key is malformed, revoked, expired or unknown.").WithStatus(http.StatusUnauthorized)
}

// keyShaped reports whether a text has the shape of an API key. What has not is never looked up.
func keyShaped(text string) bool {
	raw, ok := strings.CutPrefix(text, keyPrefix)
	if !ok {
		return false
	}
	b, err := base64.RawURLEncoding.Strict().DecodeString(raw)
	return err == nil && len(b) == keyBytes
}

// byKey recognises an API key. It is looked up at each request, so that a revocation counts at once.
func (ks *Keys) byKey(ctx context.Context, text string) (*Principal, error) {
	if !keyShaped(text) {
		return nil, errKey()
	}
	key, user, err := ks.findKey(ctx, secret.HashToken(text))
	switch {
	case errors.Is(err, sql.ErrNoRows), err == nil && key.expired(ks.cfg.Now()):
		return nil, errKey()
	case err != nil:
		return nil, wrapStoreError("read API key", err)
	case user.Disabled:
		return nil, errDisabled()
	}
	p := &Principal{Via: ViaKey, KeyID: key.ID, Scopes: key.scopeList(), User: user}
	if now := ks.cfg.Now().UnixMilli(); now-key.LastUsedAt > touchAfter.Milliseconds() {
		ks.rows.touchRow(ctx, &apiKey{}, "id", key.ID, map[string]any{"last_used_at": now})
	}
	return p, nil
}

// findKey returns the key with a hash that is not revoked, with what recognising it needs, and its user. It runs past gorm, which would
// take longer than the query, at each request.
func (ks *Keys) findKey(ctx context.Context, hash []byte) (k apiKey, user User, err error) {
	const text = "SELECT k.id, k.scopes, k.expires_at, k.last_used_at, u.id, u.email, u.name, u.role, u.disabled, u.forwarded, u.forwarded_as, u.created_at, u.updated_at " +
		"FROM api_keys k JOIN users u ON u.id = k.user_id WHERE k.hash = ? AND k.revoked_at = 0"
	row := ks.cfg.Store.DB(ctx).Statement.ConnPool.QueryRowContext(ctx, ks.cfg.Store.Dialect().Bind(text), hash)
	err = row.Scan(&k.ID, &k.Scopes, &k.ExpiresAt, &k.LastUsedAt, &user.ID, &user.Email, &user.Name, &user.Role, &user.Disabled,
		&user.Forwarded, &user.ForwardedAs, &user.CreatedAt, &user.UpdatedAt)
	return k, user, err
}

// expired reports whether the key has come to its end.
func (k *apiKey) expired(now time.Time) bool {
	return k.ExpiresAt != 0 && !now.Before(time.UnixMilli(k.ExpiresAt))
}

// liveKey finds the key with an id that is neither revoked nor expired; nil if there is none.
func (ks *Keys) liveKey(ctx context.Context, id string) (*apiKey, error) {
	var k apiKey
	err := ks.cfg.Store.DB(ctx).Where("id = ? AND revoked_at = 0", id).Take(&k).Error
	switch {
	case errors.Is(err, gorm.ErrRecordNotFound):
		return nil, nil
	case err != nil:
		return nil, wrapStoreError("read API key", err)
	case k.expired(ks.cfg.Now()):
		return nil, nil
	}
	return &k, nil
}
