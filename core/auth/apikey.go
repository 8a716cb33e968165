package auth

import (
	"context"
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
func (u *Users) byKey(ctx context.Context, text string) (*Principal, error) {
	if !keyShaped(text) {
		return nil, errKey()
	}
	key, err := u.liveKey(ctx, "hash = ?", secret.HashToken(text))
	if err != nil {
		return nil, err
	}
	if key == nil {
		return nil, errKey()
	}
	p := &Principal{Via: ViaKey, KeyID: key.ID, Scopes: key.scopeList()}
	if p.User, err = u.loadUser(ctx, key.UserID); err != nil {
		return nil, err
	}
	if now := u.cfg.Now().UnixMilli(); now-key.LastUsedAt > touchAfter.Milliseconds() {
		u.touchRow(ctx, &apiKey{}, "id", key.ID, map[string]any{"last_used_at": now})
	}
	return p, nil
}

// liveKey finds a key that is neither revoked nor expired; nil if there is none.
func (u *Users) liveKey(ctx context.Context, where string, arg any) (*apiKey, error) {
	var k apiKey
	err := u.cfg.Store.DB(ctx).Where(where, arg).Where("revoked_at = 0").Take(&k).Error
	switch {
	case errors.Is(err, gorm.ErrRecordNotFound):
		return nil, nil
	case err != nil:
		return nil, wrapStoreError("read API key", err)
	case k.ExpiresAt != 0 && !u.cfg.Now().Before(time.UnixMilli(k.ExpiresAt)):
		return nil, nil
	}
	return &k, nil
}
