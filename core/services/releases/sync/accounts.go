package sync

import (
	"context"
	"errors"

	"github.com/patchbay-dev/patchbay/core/services/releases/account"
)

// readsStars, readsInbox and readsActivity report what an account may be read for.
func readsStars(a account.Account) bool    { return a.ReadsStars }
func readsInbox(a account.Account) bool    { return a.ReadsInbox }
func readsActivity(a account.Account) bool { return a.ReadsActivity }

// errAccountGone says that what was read with an account is not kept: the account was taken away meanwhile, or is not read for that any
// more.
var errAccountGone = errors.New("the account was taken away while it was read, or is not read for this any more")

// withAccounts calls read with each account of a user that wanted chooses. One that fails does not keep the others from being read;
// it is an error if the user has no account, or a token that is refused, but none if an account goes while it is read.
func (s *hostCaller) withAccounts(ctx context.Context, userID string, wanted func(account.Account) bool,
	read func(caller, account.Account) error) error {
	all, err := s.cfg.Accounts.List(ctx, userID)
	if err != nil {
		return err
	}
	if len(all) == 0 {
		return errNoAccount()
	}
	var problems []error
	for _, a := range all {
		if !wanted(a) {
			continue
		}
		c, err := s.callerOfAccount(ctx, a)
		if err == nil {
			err = read(c, a)
		}
		if err != nil && !errors.Is(err, errAccountGone) {
			problems = append(problems, err)
		}
	}
	if len(problems) == 1 {
		return problems[0]
	}
	return errors.Join(problems...)
}

// storeRead calls store in a transaction, which stores what a caller has read, after LockAll for the user. What is known of the account
// is read in store: it may have been forgotten meanwhile. The error is errAccountGone, and store is not called, if the account was taken
// away, or is one that wanted does not choose any more.
func (s *hostCaller) storeRead(ctx context.Context, c caller, wanted func(account.Account) bool, name string,
	store func(ctx context.Context) error) error {
	return s.cfg.Store.Tx(ctx, name, func(ctx context.Context) error {
		all, err := s.cfg.Accounts.LockAll(ctx, c.userID)
		if err != nil {
			return err
		}
		for _, a := range all {
			if a.ID == c.accountID && a.Host == c.host.Ref && a.RemoteID == c.remoteID && wanted(a) {
				return store(ctx)
			}
		}
		return errAccountGone
	})
}

// callerOfAccount returns the caller that an account is at its host.
func (s *hostCaller) callerOfAccount(ctx context.Context, a account.Account) (caller, error) {
	if a.State == account.Invalid {
		return caller{}, tokenRefused(nil)
	}
	h, err := s.findHost(a.Host)
	if err != nil {
		return caller{}, err
	}
	return s.newCaller(ctx, h, a)
}

// callerSeeing returns the account of a user at a host that has starred or owns a repository, or else the first one there. It reports
// false if the user has none at that host.
func (s *hostCaller) callerSeeing(ctx context.Context, userID, host string, repoID int64) (c caller, ok bool, err error) {
	all, err := s.cfg.Accounts.Seeing(ctx, userID, host, repoID)
	if err != nil || len(all) == 0 {
		return c, false, err
	}
	c, err = s.callerOfAccount(ctx, all[0])
	return c, err == nil, err
}
