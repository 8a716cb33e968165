package auth

import (
	"context"
	"errors"
	"net/http"
	"time"

	"gorm.io/gorm"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/secret"
	"github.com/patchbay-dev/patchbay/core/store"
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
func (u *Users) Exchange(ctx context.Context, key string, from Origin) (cookie string, p *Principal, err error) {
	if err := u.allowAttempt(from); err != nil {
		return "", nil, err
	}
	if p, err = u.byKey(ctx, key); err != nil {
		u.recordFailure(ctx, from, ViaKey, EventSessionBegan, "", err)
		return "", nil, err
	}
	err = u.cfg.Store.Tx(ctx, "begin session", func(ctx context.Context) error {
		if p.User, err = u.lockUser(ctx, "id = ?", p.User.ID); err != nil {
			return err
		}
		var s session
		cookie, s, err = u.beginSession(Acting(ctx, Actor{Address: from.Address}), p.User, session{KeyID: p.KeyID, BeganWith: beganWithKey},
			ViaKey, from)
		p.SessionID, p.Since = s.ID, s.CreatedAt
		return err
	})
	p.Via, p.Address = ViaExchanged, from.Address
	return cookie, p, wrapStoreError("begin session", err)
}

// bySession recognises the value of a cookie. Nil without an error means that there is no such session.
func (u *Users) bySession(ctx context.Context, text string) (*Principal, error) {
	if len(text) != sessionChars {
		return nil, nil
	}
	var s session
	now := u.cfg.Now()
	err := u.cfg.Store.DB(ctx).Where("hash = ? AND expires_at > ? AND created_at > ?", secret.HashToken(text), now.UnixMilli(),
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
		key, err := u.liveKey(ctx, s.KeyID)
		if err != nil || key == nil {
			return nil, err
		}
		p.Via, p.Scopes = ViaExchanged, key.scopeList()
	}
	if p.User, err = u.loadUser(ctx, s.UserID); err != nil {
		return nil, err
	}
	if now.UnixMilli()-s.SeenAt > touchAfter.Milliseconds() {
		p.renewed = text
		u.touchRow(ctx, &session{}, "hash", s.Hash, map[string]any{"seen_at": now.UnixMilli(), "expires_at": s.endAfter(now)})
	}
	return p, nil
}

// endAfter is when a session that is used now ends, in Unix milliseconds.
func (s *session) endAfter(now time.Time) int64 {
	return min(now.Add(sessionFor).UnixMilli(), time.UnixMilli(s.CreatedAt).Add(sessionMax).UnixMilli())
}

// touchRow stores that a row was used. A failure is only logged.
func (u *Users) touchRow(ctx context.Context, model any, column string, id any, values map[string]any) {
	ctx = store.Essential(ctx)
	err := u.cfg.Store.Tx(ctx, "note use", func(ctx context.Context) error {
		return u.cfg.Store.Writer(ctx).Model(model).Where(column+" = ?", id).Updates(values).Error
	})
	if err != nil && ctx.Err() == nil {
		u.cfg.Logger.Warn("the use of a sign-in was not noted", "error", err)
	}
}

// PurgeSessions deletes those whose time is over. None that is used lasts longer than sessionMax, see endAfter.
func (u *Users) PurgeSessions(ctx context.Context) error {
	return wrapStoreError("delete old sessions", u.cfg.Store.Tx(ctx, "delete old sessions", func(ctx context.Context) error {
		return u.purgeRows(ctx, &session{}, "expires_at <= ?", u.cfg.Now().UnixMilli())
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

func (u *Users) loadUser(ctx context.Context, id string) (User, error) {
	var out User
	err := u.cfg.Store.DB(ctx).Where("id = ?", id).Take(&out).Error
	if err != nil {
		return out, wrapStoreError("read user", err)
	}
	if out.Disabled {
		return out, errDisabled()
	}
	return out, nil
}

func errDisabled() error {
	return fault.New("account_disabled", "This account is disabled.").WithStatus(http.StatusForbidden)
}
