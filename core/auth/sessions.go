package auth

import (
	"context"

	"github.com/patchbay-dev/patchbay/core/auth/limit"
	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/secret"
	"github.com/patchbay-dev/patchbay/core/store"
	"github.com/patchbay-dev/patchbay/core/texts"
)

// What a session can begin with.
const (
	beganWithKey     = "api_key"
	beganWithPasskey = "passkey"
	beganWithSetup   = "setup"
	beganWithLinked  = "linked_account"
)

// SessionInfo is a session as it may be shown. Times are Unix milliseconds.
type SessionInfo struct {
	ID string
	// BeganWith is passkey, setup, api_key or linked_account.
	BeganWith                    string
	UserAgent, Address           string
	CreatedAt, SeenAt, ExpiresAt int64
}

// Sessions keeps the sign-ins.
type Sessions struct {
	cfg     Config
	rows    *userStore
	keys    *Keys
	journal *Journal
	// failed counts the failed attempts to sign in from each client's address.
	failed *limit.Limiter
}

// List returns the sessions of a user that have not ended, the one that was used last first.
func (ss *Sessions) List(ctx context.Context, userID string) ([]SessionInfo, error) {
	var rows []session
	err := ss.cfg.Store.DB(ctx).Where("user_id = ? AND expires_at > ? AND created_at > ?", userID, ss.cfg.Now().UnixMilli(),
		ss.cfg.Now().Add(-sessionMax).UnixMilli()).Order("seen_at DESC, id DESC").Find(&rows).Error
	out := make([]SessionInfo, len(rows))
	for i, s := range rows {
		out[i] = SessionInfo{s.ID, s.BeganWith, s.UserAgent, s.Address, s.CreatedAt, s.SeenAt, s.ExpiresAt}
	}
	return out, wrapStoreError("list sessions", err)
}

// EndOwn ends a session of the principal's user.
func (ss *Sessions) EndOwn(ctx context.Context, p *Principal, id string) error {
	return wrapStoreError("end session", ss.cfg.Store.Tx(ctx, "end session", func(ctx context.Context) error {
		done := ss.cfg.Store.Writer(ctx).Where("id = ? AND user_id = ?", id, p.User.ID).Delete(&session{})
		if done.Error != nil {
			return done.Error
		}
		if done.RowsAffected == 0 {
			return fault.New(fault.NotFound, "There is no such session.")
		}
		return ss.journal.recordEvent(ctx, Event{Action: EventSessionEnded, TargetID: id, UserID: p.User.ID})
	}))
}

// EndOthers ends all sessions of the principal's user but the one of this request, and tells how many.
func (ss *Sessions) EndOthers(ctx context.Context, p *Principal) (n int64, err error) {
	if !p.HasAccount() {
		return 0, nil
	}
	err = ss.cfg.Store.Tx(ctx, "end sessions", func(ctx context.Context) error {
		if _, err := ss.rows.lockUser(ctx, "id = ?", p.User.ID); err != nil {
			return err
		}
		done := ss.cfg.Store.Writer(ctx).Where("user_id = ? AND id <> ?", p.User.ID, p.SessionID).Delete(&session{})
		n = done.RowsAffected
		if done.Error != nil || n == 0 {
			return done.Error
		}
		return ss.journal.recordEvent(ctx, Event{Action: EventSessionEnded, UserID: p.User.ID, Detail: "all others"})
	})
	return n, wrapStoreError("end sessions", err)
}

// EndLinked ends, in the running transaction, the sessions of a user that began with an account elsewhere, but for that of this
// request: a service calls it when it takes such an account away. It locks the user.
func (ss *Sessions) EndLinked(ctx context.Context, userID string) error {
	current := ""
	if p := From(ctx); p != nil {
		current = p.SessionID
	}
	user, err := ss.rows.lockUser(ctx, "id = ?", userID)
	if err != nil {
		return err
	}
	done := ss.cfg.Store.Writer(ctx).Where("user_id = ? AND began_with = ? AND id <> ?", userID, beganWithLinked, current).Delete(&session{})
	if done.Error != nil || done.RowsAffected == 0 {
		return wrapStoreError("end sessions", done.Error)
	}
	return ss.journal.recordFor(ctx, user, Event{Action: EventSessionEnded, Detail: "those of accounts elsewhere"})
}

// SignOut ends the session of a cookie, if there is one.
func (ss *Sessions) SignOut(ctx context.Context, cookie string) error {
	if len(cookie) != sessionChars {
		return nil
	}
	if err := ss.endDeveloperSession(ctx, cookie); err != nil {
		return err
	}
	return ss.endSessions(ctx, "hash = ?", secret.HashToken(cookie))
}

// End ends the session with an id, if there is one.
func (ss *Sessions) End(ctx context.Context, id string) error {
	return ss.endSessions(ctx, "id = ?", id)
}

func (ss *Sessions) endSessions(ctx context.Context, where string, arg any) error {
	return wrapStoreError("end session", ss.cfg.Store.Tx(ctx, "end session", func(ctx context.Context) error {
		var rows []session
		w := ss.cfg.Store.Writer(ctx)
		if err := w.Where(where, arg).Find(&rows).Error; err != nil || len(rows) == 0 {
			return err
		}
		if done := w.Where("hash = ?", rows[0].Hash).Delete(&session{}); done.Error != nil || done.RowsAffected == 0 {
			return done.Error
		}
		user, err := ss.rows.findUser(w, "id = ?", rows[0].UserID)
		if err != nil {
			return err
		}
		return ss.journal.recordFor(ctx, user, Event{Action: EventSessionEnded, TargetID: rows[0].ID})
	}))
}

// beginSession begins a session of a user in the running transaction, in which the caller has locked the user, and refuses one who is
// disabled. The value of its cookie is always a new one; the session that the browser had before ends.
func (ss *Sessions) beginSession(ctx context.Context, user User, s session, via Via, from Origin) (string, session, error) {
	if user.Disabled {
		return "", s, errDisabled()
	}
	text, now, w := secret.RandomString(sessionChars, secret.Alphanumeric), ss.cfg.Now(), ss.cfg.Store.Writer(ctx)
	if from.Former != "" {
		if err := w.Where("hash = ?", secret.HashToken(from.Former)).Delete(&session{}).Error; err != nil {
			return "", s, err
		}
	}
	s.UserID, s.Hash, s.ID = user.ID, secret.HashToken(text), store.NewID("ses")
	s.UserAgent, s.Address = texts.Limit(from.UserAgent, maxAgent), texts.Limit(from.Address, maxAgent)
	s.CreatedAt, s.SeenAt, s.ExpiresAt = now.UnixMilli(), now.UnixMilli(), now.Add(sessionFor).UnixMilli()
	if s.BeganWith == beganWithPasskey || s.BeganWith == beganWithSetup {
		s.CheckedAt = s.CreatedAt
	}
	if err := w.Create(&s).Error; err != nil {
		return "", s, err
	}
	return text, s, ss.journal.recordFor(ctx, user,
		Event{Action: EventSessionBegan, Via: via, TargetID: s.ID, Detail: "began with: " + s.BeganWith})
}

// LockOwner locks the user of a principal who is about to make another way in until the running transaction ends, and refuses one who
// is disabled. It also refuses when the session has ended since the request was recognised: a reset leaves no way in that was asked
// for before. A service locks the ways in that it keeps itself before.
func (ss *Sessions) LockOwner(ctx context.Context, p *Principal) error {
	user, err := ss.rows.lockUser(ctx, "id = ?", p.User.ID)
	if err == nil && user.Disabled {
		err = errDisabled()
	}
	if err != nil || p.SessionID == "" {
		return err
	}
	var n int64
	err = ss.cfg.Store.Writer(ctx).Model(&session{}).Where("id = ? AND user_id = ?", p.SessionID, p.User.ID).Count(&n).Error
	if err == nil && n == 0 {
		err = fault.New(fault.Unauthorized, "The session has ended: sign in again.")
	}
	return err
}

// recordFor writes what a user did to the own account on a route that recognises nobody.
func (j *Journal) recordFor(ctx context.Context, user User, e Event) error {
	a := actingUser(ctx)
	a.ID, a.Name, e.TargetName, e.UserID = user.ID, user.Email, user.Email, user.ID
	return j.recordEvent(Acting(ctx, a), e)
}

// allowAttempt returns an error if a client has failed too often of late.
func (ss *Sessions) allowAttempt(from Origin) error {
	if wait, ok := ss.failed.Left(limitKey(from)); !ok {
		return tooMany(wait)
	}
	return nil
}

// recordFailure counts a failed attempt against its client and records it. Errors of the core itself do not count.
func (ss *Sessions) recordFailure(ctx context.Context, from Origin, via Via, action, userID string, err error) {
	if code := fault.CodeOf(err); code == fault.Internal || code == fault.ClientClosedRequest || code == fault.Timeout {
		return
	}
	ss.failed.Take(limitKey(from))
	ss.journal.recordRefusal(Acting(ctx, Actor{Address: from.Address, Via: via}), Event{Action: action, UserID: userID}, err)
}
