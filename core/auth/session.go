package auth

import (
	"context"
	"errors"
	"net/http"
	"time"

	"gorm.io/gorm"

	"github.com/patchbay-dev/patchbay/core/secret"
)

const (
	// SessionCookie carries the session.
	SessionCookie = "patchbay_session"
	// sessionFor is how long a session lasts without a request.
	sessionFor = 30 * 24 * time.Hour
	// sessionMax is how long a session lasts at most, however often it is used.
	sessionMax = 90 * 24 * time.Hour
	// touchAfter is how old "last seen" may be before it is written again.
	touchAfter = time.Minute
	// sessionChars of 62 make more than 256 bits.
	sessionChars = 44
	maxAgent     = 200
)

// session is a sign-in as it is stored: the hash of what the cookie holds.
type session struct {
	Hash      []byte `gorm:"primaryKey"`
	ID        string
	UserID    string
	KeyID     string
	PasskeyID string
	BeganWith string
	UserAgent string
	Address   string
	CreatedAt int64 `gorm:"autoCreateTime:false"`
	SeenAt    int64
	ExpiresAt int64
	// CheckedAt is when the person last showed a passkey, or opened the link that began the session.
	CheckedAt int64
}

// TableName implements gorm's Tabler.
func (session) TableName() string { return "sessions" }

// Origin is where a sign-in comes from.
type Origin struct {
	Address, UserAgent string
	// Former is the cookie that the browser sent along. Its session ends with the sign-in; it is never taken over.
	Former string
}

// Exchange begins a session for an API key. It has the key's scopes and ends with the key.
func (ss *Sessions) Exchange(ctx context.Context, key string, from Origin) (cookie string, p *Principal, err error) {
	if err := ss.allowAttempt(from); err != nil {
		return "", nil, err
	}
	if p, err = ss.keys.byKey(ctx, key); err != nil {
		ss.recordFailure(ctx, from, ViaKey, EventSessionBegan, "", err)
		return "", nil, err
	}
	err = ss.cfg.Store.Tx(ctx, "begin session", func(ctx context.Context) error {
		if p.User, err = ss.rows.lockUser(ctx, "id = ?", p.User.ID); err != nil {
			return err
		}
		var s session
		cookie, s, err = ss.beginSession(Acting(ctx, Actor{Address: from.Address}), p.User, session{KeyID: p.KeyID, BeganWith: beganWithKey},
			ViaKey, from)
		p.SessionID, p.Since = s.ID, s.CreatedAt
		return err
	})
	p.Via, p.Address = ViaExchanged, from.Address
	return cookie, p, wrapStoreError("begin session", err)
}

// bySession recognises the value of a cookie. Nil without an error means that there is no such session.
func (ss *Sessions) bySession(ctx context.Context, text string) (*Principal, error) {
	if len(text) != sessionChars {
		return nil, nil
	}
	var s session
	now := ss.cfg.Now()
	err := ss.cfg.Store.DB(ctx).Where("hash = ? AND expires_at > ? AND created_at > ?", secret.HashToken(text), now.UnixMilli(),
		now.Add(-sessionMax).UnixMilli()).Take(&s).Error
	if errors.Is(err, gorm.ErrRecordNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, wrapStoreError("read session", err)
	}
	p := &Principal{Via: ViaSession, SessionID: s.ID, KeyID: s.KeyID, Since: s.CreatedAt, CheckedAt: s.CheckedAt}
	switch s.BeganWith {
	case beganWithKey:
		p.Via = ViaExchanged
	case beganWithLinked:
		p.Via = ViaLinked
	}
	if s.KeyID != "" {
		key, err := ss.keys.liveKey(ctx, s.KeyID)
		if err != nil || key == nil {
			return nil, err
		}
		p.Via, p.Scopes = ViaExchanged, key.scopeList()
	}
	if p.User, err = ss.rows.loadUser(ctx, s.UserID); err != nil {
		return nil, err
	}
	if now.UnixMilli()-s.SeenAt > touchAfter.Milliseconds() {
		p.renewed = text
		ss.rows.touchRow(ctx, &session{}, "hash", s.Hash, map[string]any{"seen_at": now.UnixMilli(), "expires_at": s.endAfter(now)})
	}
	return p, nil
}

// endAfter is when a session that is used now ends, in Unix milliseconds.
func (s *session) endAfter(now time.Time) int64 {
	return min(now.Add(sessionFor).UnixMilli(), time.UnixMilli(s.CreatedAt).Add(sessionMax).UnixMilli())
}

// Purge deletes those whose time is over. None that is used lasts longer than sessionMax, see endAfter.
func (ss *Sessions) Purge(ctx context.Context) error {
	return wrapStoreError("delete old sessions", ss.cfg.Store.Tx(ctx, "delete old sessions", func(ctx context.Context) error {
		return ss.rows.purgeRows(ctx, &session{}, "expires_at <= ?", ss.cfg.Now().UnixMilli())
	}))
}

// Cookie is the cookie of a session; an empty value takes it away.
func Cookie(value string, secure bool) *http.Cookie {
	c := &http.Cookie{Name: SessionCookie, Value: value, Path: "/", HttpOnly: true, SameSite: http.SameSiteLaxMode, Secure: secure,
		MaxAge: int(sessionFor / time.Second)}
	if value == "" {
		c.MaxAge = -1
	}
	return c
}
