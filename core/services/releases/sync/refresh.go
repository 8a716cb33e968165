package sync

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/patchbay-dev/patchbay/core/services/releases/account"
	"github.com/patchbay-dev/patchbay/core/store"
)

// refreshBefore is how long before its end a token is refreshed.
const refreshBefore = time.Minute

// refreshExpired returns an account with a token that has not expired. A refresh token is good for one call, so that callers at the
// same time share one.
func (s *hostCaller) refreshExpired(ctx context.Context, h Host, a account.Account) (account.Account, error) {
	if !s.needsRefresh(a) {
		return a, nil
	}
	refreshed, err, _ := s.refreshing.Do(a.ID, func() (any, error) {
		// Code hosts take a refresh token once.
		lock, err := s.cfg.Locks.Lock(ctx, "releases.token/"+a.ID)
		if err != nil {
			return a, err
		}
		defer lock.Release()
		// Another call may have refreshed it since a was read.
		now, ok, err := s.cfg.Accounts.FindByID(ctx, a.ID)
		if err != nil || !ok || !s.needsRefresh(now) {
			return now, err
		}
		err = s.refreshToken(context.WithoutCancel(ctx), h, &now)
		return now, err
	})
	if err != nil {
		return a, err
	}
	return refreshed.(account.Account), nil
}

// needsRefresh reports whether the token of an account can be refreshed, and has to be.
func (s *hostCaller) needsRefresh(a account.Account) bool {
	return a.RefreshToken != "" && a.ExpiresAt != 0 && s.cfg.OAuth != nil &&
		!s.cfg.Now().Add(refreshBefore).Before(store.FromMillis(a.ExpiresAt))
}

// refreshToken replaces the token of an account, unless that gets another one meanwhile.
func (s *hostCaller) refreshToken(ctx context.Context, h Host, a *account.Account) error {
	old, err := s.cfg.Accounts.RefreshTokenOf(*a)
	if err != nil {
		return fmt.Errorf("open the refresh token of an account: %w", err)
	}
	token, err := h.OAuth.RefreshToken(ctx, s.cfg.OAuth(), old)
	if isUnauthenticated(err) {
		failure := s.cfg.Accounts.SetState(ctx, a.ID, a.Token, account.Invalid,
			"The code host does not refresh the sign-in: sign in there again.", s.cfg.Now())
		return errors.Join(failure, tokenRefused(err))
	}
	if err != nil {
		return err
	}
	return s.cfg.Accounts.ReplaceToken(ctx, a, *token, s.cfg.Now())
}
