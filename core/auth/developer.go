package auth

import (
	"context"
	"errors"
	"time"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/secret"
	"github.com/patchbay-dev/patchbay/core/store"
)

// developerFor is how long a developer session lasts at most.
const developerFor = 24 * time.Hour

// developerSession is a session of the built-in developer as it is stored: the hash of what the cookie holds.
type developerSession struct {
	Hash      []byte `gorm:"primaryKey"`
	ID        string
	CreatedAt int64 `gorm:"autoCreateTime:false"`
	ExpiresAt int64
}

// TableName implements gorm's Tabler.
func (developerSession) TableName() string { return "developer_sessions" }

// newDeveloper returns the built-in administrator, who is not a user.
func newDeveloper() User { return User{ID: "developer", Name: "developer", Role: Admin} }

// LookAround uses up a set-up link that would make the first administrator and begins a session of the built-in developer
// instead. The session ends when there is a user, and after a day at the latest.
func (u *Users) LookAround(ctx context.Context, token string, from Origin) (cookie string, p *Principal, err error) {
	if err := u.Sessions.allowAttempt(from); err != nil {
		return "", nil, err
	}
	p = &Principal{Via: ViaDeveloper, User: newDeveloper(), Address: from.Address}
	err = u.cfg.Store.Tx(ctx, "begin developer session", func(ctx context.Context) error {
		user, err := u.Links.useLink(ctx, token)
		if err != nil {
			return err
		}
		if user.ID != "" {
			return fault.New(fault.Conflict, "This set-up link is for a user: use it to sign in.")
		}
		if n, err := u.Count(ctx); err != nil || n > 0 {
			return errors.Join(err, fault.New(fault.Conflict, "Users already exist: looking around first is for a new server."))
		}
		now := u.cfg.Now()
		cookie = secret.RandomString(sessionChars, secret.Alphanumeric)
		s := developerSession{Hash: secret.HashToken(cookie), ID: store.NewID("ses"), CreatedAt: now.UnixMilli(),
			ExpiresAt: now.Add(developerFor).UnixMilli()}
		if err := u.cfg.Store.Writer(ctx).Create(&s).Error; err != nil {
			return err
		}
		p.SessionID, p.Since = s.ID, s.CreatedAt
		ctx = Acting(ctx, Actor{Name: p.User.Name, Address: from.Address, Via: ViaDeveloper})
		return u.Journal.recordEvent(ctx, Event{Action: EventSessionBegan, TargetID: s.ID, TargetName: p.User.Name,
			Detail: "began with: " + beganWithSetup})
	})
	if err != nil {
		u.Links.failedLink(ctx, from, err)
		return "", nil, wrapStoreError("begin developer session", err)
	}
	return cookie, p, nil
}

// byDeveloperSession recognises the cookie of a developer session; nil if there is none or if there is a user.
func (u *Users) byDeveloperSession(ctx context.Context, text string) (*Principal, error) {
	if len(text) != sessionChars {
		return nil, nil
	}
	var rows []developerSession
	err := u.cfg.Store.DB(ctx).Where("hash = ? AND expires_at > ?", secret.HashToken(text), u.cfg.Now().UnixMilli()).Find(&rows).Error
	if err != nil || len(rows) == 0 {
		return nil, wrapStoreError("read developer session", err)
	}
	if n, err := u.Count(ctx); err != nil || n > 0 {
		return nil, err
	}
	return &Principal{Via: ViaDeveloper, User: newDeveloper(), SessionID: rows[0].ID, Since: rows[0].CreatedAt}, nil
}

// endDeveloperSession ends the developer session of a cookie, if there is one.
func (ss *Sessions) endDeveloperSession(ctx context.Context, cookie string) error {
	return wrapStoreError("end developer session", ss.cfg.Store.Tx(ctx, "end developer session", func(ctx context.Context) error {
		return ss.cfg.Store.Writer(ctx).Where("hash = ?", secret.HashToken(cookie)).Delete(&developerSession{}).Error
	}))
}
