package auth

import (
	"context"
	"strings"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/texts"
)

// linkedDomain makes an address of an account elsewhere. No mail goes there.
const linkedDomain = "@linked.invalid"

// AddLinked adds the member of an account elsewhere, which a service has recognised. account must be unique and stay the same, such
// as an id of the account; name is shown. It refuses to make the first user, who is an administrator and comes by the set-up link.
func (u *Users) AddLinked(ctx context.Context, account, name string, from Origin) (user User, err error) {
	name = texts.OneLine(name, maxName)
	if name == "" {
		name = texts.OneLine(account, maxName)
	}
	err = u.cfg.Store.Tx(ctx, "create linked user", func(ctx context.Context) error {
		n, err := u.Count(ctx)
		if err != nil {
			return err
		}
		if n == 0 {
			return fault.New(fault.Forbidden, "No users exist yet: create the first one with the set-up link.")
		}
		ctx = Acting(ctx, Actor{Address: from.Address, Via: ViaLinked})
		user, err = u.insertUser(ctx, texts.Limit(strings.ToLower(account), maxEmail-len(linkedDomain))+linkedDomain, name, Member,
			func(context.Context, User) error { return nil })
		return err
	})
	return user, wrapStoreError("create linked user", err)
}

// BeginLinked begins a session for the user to whom an account elsewhere is linked, after a service has recognised the account.
// It shows no secrets and confirms nothing, since nobody has shown a passkey.
func (ss *Sessions) BeginLinked(ctx context.Context, userID string, from Origin) (cookie string, err error) {
	err = ss.cfg.Store.Tx(ctx, "begin session", func(ctx context.Context) error {
		user, err := ss.rows.lockUser(ctx, "id = ?", userID)
		if err != nil {
			return err
		}
		cookie, _, err = ss.beginSession(Acting(ctx, Actor{Address: from.Address}), user, session{BeganWith: beganWithLinked}, ViaLinked, from)
		return err
	})
	return cookie, wrapStoreError("begin session", err)
}

// CheckAttempt returns an error if a client has failed too often of late to sign in.
func (ss *Sessions) CheckAttempt(from Origin) error { return ss.allowAttempt(from) }

// FailLinked counts and records a sign-in with an account elsewhere that has failed.
func (ss *Sessions) FailLinked(ctx context.Context, from Origin, err error) {
	ss.recordFailure(ctx, from, ViaLinked, EventSessionBegan, "", err)
}

// HasCredential reports whether a user has a passkey or a live API key, and so a way in besides accounts elsewhere.
func (u *Users) HasCredential(ctx context.Context, userID string) (bool, error) {
	n, err := u.Passkeys.countPasskeys(ctx, userID)
	if err != nil || n > 0 {
		return n > 0, err
	}
	err = u.cfg.Store.DB(ctx).Model(&apiKey{}).Where("user_id = ? AND revoked_at = 0 AND (expires_at = 0 OR expires_at > ?)", userID,
		u.cfg.Now().UnixMilli()).Count(&n).Error
	return n > 0, wrapStoreError("count API keys", err)
}
