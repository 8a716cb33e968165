package auth

import (
	"context"

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

// Sessions are those of a user that have not ended, the one that was used last first.
func (u *Users) Sessions(ctx context.Context, userID string) ([]SessionInfo, error) {
	var rows []session
	err := u.cfg.Store.DB(ctx).Where("user_id = ? AND expires_at > ? AND created_at > ?", userID, u.cfg.Now().UnixMilli(),
		u.cfg.Now().Add(-sessionMax).UnixMilli()).Order("seen_at DESC, id DESC").Find(&rows).Error
	out := make([]SessionInfo, len(rows))
	for i, s := range rows {
		out[i] = SessionInfo{s.ID, s.BeganWith, s.UserAgent, s.Address, s.CreatedAt, s.SeenAt, s.ExpiresAt}
	}
	return out, wrapStoreError("list sessions", err)
}

// EndOwnSession ends a session of the principal's user.
func (u *Users) EndOwnSession(ctx context.Context, p *Principal, id string) error {
	return wrapStoreError("end session", u.cfg.Store.Tx(ctx, "end session", func(ctx context.Context) error {
		done := u.cfg.Store.Writer(ctx).Where("id = ? AND user_id = ?", id, p.User.ID).Delete(&session{})
		if done.Error != nil {
			return done.Error
		}
		if done.RowsAffected == 0 {
			return fault.New(fault.NotFound, "There is no such session.")
		}
		return u.recordEvent(ctx, Event{Action: EventSessionEnded, TargetID: id, UserID: p.User.ID})
	}))
}

// EndOtherSessions ends all sessions of the principal's user but the one of this request, and tells how many.
func (u *Users) EndOtherSessions(ctx context.Context, p *Principal) (n int64, err error) {
	if !p.HasAccount() {
		return 0, nil
	}
	err = u.cfg.Store.Tx(ctx, "end sessions", func(ctx context.Context) error {
		if _, err := u.lockUser(ctx, "id = ?", p.User.ID); err != nil {
			return err
		}
		done := u.cfg.Store.Writer(ctx).Where("user_id = ? AND id <> ?", p.User.ID, p.SessionID).Delete(&session{})
		n = done.RowsAffected
		if done.Error != nil || n == 0 {
			return done.Error
		}
		return u.recordEvent(ctx, Event{Action: EventSessionEnded, UserID: p.User.ID, Detail: "all others"})
	})
	return n, wrapStoreError("end sessions", err)
}

// EndLinkedSessions ends, in the running transaction, the sessions of a user that began with an account elsewhere, but for that of this
// request: a service calls it when it takes such an account away. It locks the user.
func (u *Users) EndLinkedSessions(ctx context.Context, userID string) error {
	current := ""
	if p := From(ctx); p != nil {
		current = p.SessionID
	}
	user, err := u.lockUser(ctx, "id = ?", userID)
	if err != nil {
		return err
	}
	done := u.cfg.Store.Writer(ctx).Where("user_id = ? AND began_with = ? AND id <> ?", userID, beganWithLinked, current).Delete(&session{})
	if done.Error != nil || done.RowsAffected == 0 {
		return wrapStoreError("end sessions", done.Error)
	}
	return u.recordFor(ctx, user, Event{Action: EventSessionEnded, Detail: "those of accounts elsewhere"})
}

// SignOut ends the session of a cookie, if there is one.
func (u *Users) SignOut(ctx context.Context, cookie string) error {
	if len(cookie) != sessionChars {
		return nil
	}
	if err := u.endDeveloperSession(ctx, cookie); err != nil {
		return err
	}
	return u.endSessions(ctx, "hash = ?", secret.HashToken(cookie))
}

// EndSession ends the session with an id, if there is one.
func (u *Users) EndSession(ctx context.Context, id string) error {
	return u.endSessions(ctx, "id = ?", id)
}

func (u *Users) endSessions(ctx context.Context, where string, arg any) error {
	return wrapStoreError("end session", u.cfg.Store.Tx(ctx, "end session", func(ctx context.Context) error {
		var rows []session
		w := u.cfg.Store.Writer(ctx)
		if err := w.Where(where, arg).Find(&rows).Error; err != nil || len(rows) == 0 {
			return err
		}
		if done := w.Where("hash = ?", rows[0].Hash).Delete(&session{}); done.Error != nil || done.RowsAffected == 0 {
			return done.Error
		}
		user, err := u.findUser(w, "id = ?", rows[0].UserID)
		if err != nil {
			return err
		}
		return u.recordFor(ctx, user, Event{Action: EventSessionEnded, TargetID: rows[0].ID})
	}))
}

// beginSession begins a session of a user in the running transaction, in which the caller has locked the user, and refuses one who is
// disabled. The value of its cookie is always a new one; the session that the browser had before ends.
func (u *Users) beginSession(ctx context.Context, user User, s session, via Via, from Origin) (string, session, error) {
	if user.Disabled {
		return "", s, errDisabled()
	}
	text, now, w := secret.RandomString(sessionChars, secret.Alphanumeric), u.cfg.Now(), u.cfg.Store.Writer(ctx)
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
	return text, s, u.recordFor(ctx, user, Event{Action: EventSessionBegan, Via: via, TargetID: s.ID, Detail: "began with: " + s.BeganWith})
}

// recordFor writes what a user did to the own account on a route that recognises nobody.
func (u *Users) recordFor(ctx context.Context, user User, e Event) error {
	a := actorOf(ctx)
	a.ID, a.Name, e.TargetName, e.UserID = user.ID, user.Email, user.Email, user.ID
	return u.recordEvent(Acting(ctx, a), e)
}

// allowAttempt returns an error if a client has failed too often of late.
func (u *Users) allowAttempt(from Origin) error {
	if wait, ok := u.signIns.Left(limitKey(from)); !ok {
		return tooMany(wait)
	}
	return nil
}

// recordFailure counts a failed attempt against its client and records it. Errors of the core itself do not count.
func (u *Users) recordFailure(ctx context.Context, from Origin, via Via, action, userID string, err error) {
	if code := fault.CodeOf(err); code == fault.Internal || code == fault.ClientClosedRequest || code == fault.Timeout {
		return
	}
	u.signIns.Take(limitKey(from))
	u.recordRefusal(Acting(ctx, Actor{Address: from.Address, Via: via}), Event{Action: action, UserID: userID}, err)
}
