package sync

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/plugin/client"
	"github.com/patchbay-dev/patchbay/core/services/releases/account"
	"github.com/patchbay-dev/patchbay/core/services/releases/repo"
	"github.com/patchbay-dev/patchbay/core/store"
)

// callersFor returns who may ask for a repository: users who see it, the latest checked token first, and nobody for one that is
// not private.
func (s *hostCaller) callersFor(ctx context.Context, h Host, r repo.Repo) (all []caller, err error) {
	watchers, err := s.cfg.Accounts.WatchersOf(ctx, h.Ref, r.ID)
	if err != nil {
		return nil, err
	}
	for _, a := range watchers {
		c, err := s.newCaller(ctx, h, a)
		if err != nil && (isCallersFault(err) || isUnauthenticated(err)) {
			continue
		}
		if err != nil {
			return nil, err
		}
		all = append(all, c)
	}
	if !r.Private {
		all = append(all, caller{host: h})
	}
	return all, nil
}

// newCaller returns the caller that an account is. A token that has expired is refreshed.
func (s *hostCaller) newCaller(ctx context.Context, h Host, a account.Account) (caller, error) {
	a, err := s.refreshExpired(ctx, h, a)
	if err != nil {
		return caller{}, err
	}
	token, err := s.cfg.Accounts.Token(a)
	if err != nil {
		return caller{}, fmt.Errorf("open the token of an account: %w", err)
	}
	return caller{host: h, accountID: a.ID, remoteID: a.RemoteID, userID: a.UserID, token: token, sealed: a.Token}, nil
}

const (
	// maxPause bounds how long a host is left alone when it asks for that.
	maxPause = 24 * time.Hour
	// defaultPause is how long a host is left alone that refuses because of a limit and does not say for how long.
	defaultPause = time.Minute
)

// findHost returns the host with a reference.
func (s *hostCaller) findHost(ref string) (Host, error) {
	for _, h := range s.cfg.Hosts() {
		if h.Ref == ref {
			return h, nil
		}
	}
	return Host{}, fault.New(fault.NotReady, "The code host %s is not configured anymore.", ref)
}

// MainHost returns the code host of accounts.
func (s *hostCaller) MainHost() (Host, error) { return ChooseMainHost(s.cfg.Hosts()) }

// ChooseMainHost returns the code host of accounts among those that are configured.
func ChooseMainHost(hosts []Host) (Host, error) {
	if len(hosts) == 0 {
		return Host{}, fault.New(fault.NotReady, "No code host is configured: set codehosts in service \"releases\".")
	}
	return hosts[0], nil
}

// pausedError is the error of a call that is not made.
func (s *hostCaller) pausedError(until time.Time) error {
	return fault.New(fault.RateLimited, "Rate limited by the code host until %s.",
		store.FormatTime(until)).WithRetryAfter(until.Sub(s.cfg.Now()))
}

// noteFailure pauses calls where the host asks for it, and marks a token that it refuses. It returns the error.
func (s *hostCaller) noteFailure(ctx context.Context, c caller, err error) error {
	f := fault.As(err)
	cause := client.CauseOf(err)
	switch {
	case cause == client.CauseLimited || f.RetryAfter > 0 && cause != client.CauseOther:
		wait := f.RetryAfter
		if wait <= 0 {
			wait = defaultPause
		}
		if failure := s.pauseHost(ctx, c, wait); failure != nil {
			return errors.Join(failure, err)
		}
		return s.pausedError(s.cfg.Now().Add(min(wait, maxPause)))
	case isUnauthenticated(err) && c.accountID != "":
		if failure := s.cfg.Accounts.SetState(ctx, c.accountID, c.sealed, account.Invalid, "The code host refuses the token.",
			s.cfg.Now()); failure != nil {
			return errors.Join(failure, err)
		}
		return tokenRefused(err)
	}
	return err
}

func (s *hostCaller) pauseHost(ctx context.Context, c caller, wait time.Duration) error {
	until := s.cfg.Now().Add(min(wait, maxPause))
	s.cfg.Logger.Info("code host rate limited, pausing", "host", c.host.Ref, "account", c.accountID, "until", store.FormatTime(until))
	return s.cfg.State.pauseHost(ctx, c.host.Ref, c.accountID, until)
}

// PauseOf returns how long the code host of accounts is still left alone with the tokens of a user and without one, whichever is
// longest; 0 if it is not.
func (s *hostCaller) PauseOf(ctx context.Context, userID string) (pause time.Duration, err error) {
	h, err := s.MainHost()
	if err != nil {
		return 0, err
	}
	all, err := s.cfg.Accounts.List(ctx, userID)
	if err != nil {
		return 0, err
	}
	ids := []string{""}
	for _, a := range all {
		ids = append(ids, a.ID)
	}
	now := s.cfg.Now()
	for _, id := range ids {
		until, err := s.cfg.State.PausedUntil(ctx, h.Ref, id, now)
		if err != nil {
			return 0, err
		}
		pause = max(pause, until.Sub(now))
	}
	return max(pause, 0), nil
}
