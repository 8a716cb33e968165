package sync_test

import (
	"context"
	"testing"
	"time"

	"github.com/patchbay-dev/patchbay/core/internal/testing/fake"
	"github.com/patchbay-dev/patchbay/core/internal/testing/testkit"
	"github.com/patchbay-dev/patchbay/core/services/releases/account"
	"github.com/patchbay-dev/patchbay/core/services/releases/sync"
	"github.com/patchbay-dev/patchbay/core/store"
	"github.com/patchbay-dev/patchbay/sdk/codehost"
	"github.com/patchbay-dev/patchbay/sdk/schema"
)

// adaID is the user whose accounts the tests read.
const adaID = "usr_ada"

// interruptedHost is a code host that calls functions while it makes its answers.
type interruptedHost struct {
	*fake.CodeHost
	// meanwhile is called before the next answer of the method that during names.
	during    string
	meanwhile func()
}

// interrupt has a function called before the next answer of a method.
func (h *interruptedHost) interrupt(method string, f func()) { h.during, h.meanwhile = method, f }

// finish returns the answer of a method, after what interrupt has asked for.
func finish[T any](h *interruptedHost, method string, answer T, err error) (T, error) {
	if h.during == method {
		h.during = ""
		h.meanwhile()
	}
	return answer, err
}

func (h *interruptedHost) ListStarred(ctx context.Context, token schema.Secret,
	req codehost.PageRequest) (*codehost.Page[codehost.Starred], error) {
	page, err := h.CodeHost.ListStarred(ctx, token, req)
	return finish(h, "liststarred", page, err)
}

func (h *interruptedHost) ListOwned(ctx context.Context, token schema.Secret,
	req codehost.PageRequest) (*codehost.Page[codehost.Repository], error) {
	page, err := h.CodeHost.ListOwned(ctx, token, req)
	return finish(h, "listowned", page, err)
}

func (h *interruptedHost) ListStargazers(ctx context.Context, token schema.Secret, name string,
	req codehost.PageRequest) (*codehost.Page[codehost.Stargazer], error) {
	page, err := h.CodeHost.ListStargazers(ctx, token, name, req)
	return finish(h, "liststargazers", page, err)
}

func (h *interruptedHost) ListFollowers(ctx context.Context, token schema.Secret,
	req codehost.PageRequest) (*codehost.Page[codehost.Account], error) {
	page, err := h.CodeHost.ListFollowers(ctx, token, req)
	return finish(h, "listfollowers", page, err)
}

func (h *interruptedHost) ListNotifications(ctx context.Context, token schema.Secret,
	req codehost.NotificationsRequest) (*codehost.Page[codehost.Notification], error) {
	page, err := h.CodeHost.ListNotifications(ctx, token, req)
	return finish(h, "listnotifications", page, err)
}

func (h *interruptedHost) RefreshToken(ctx context.Context, app codehost.OAuthClient,
	refreshToken schema.Secret) (*codehost.OAuthToken, error) {
	token, err := h.CodeHost.RefreshToken(ctx, app, refreshToken)
	return finish(h, "refreshtoken", token, err)
}

// saveAccount saves a token of an account of Ada at the code host, which knows it from then on.
func (s *syncing) saveAccount(t *testing.T, token codehost.OAuthToken) {
	t.Helper()
	owner := codehost.Account{ID: "1", Login: "ada"}
	s.host.AddAccount(token.AccessToken, owner)
	must(t, s.store.Tx(t.Context(), "save account", func(ctx context.Context) error {
		_, err := s.accounts.Save(ctx, adaID, "codehost.main", token, owner, false, s.now)
		return err
	}))
}

// TestTokenIsReplacedDuringACall: what a code host says of a token is not noted of the one that has taken its place meanwhile.
func TestTokenIsReplacedDuringACall(t *testing.T) {
	for name, begin := range map[string]func(*testing.T, *syncing) (method string){
		"refused": func(t *testing.T, s *syncing) string {
			s.saveAccount(t, codehost.OAuthToken{AccessToken: "old"})
			s.host.Fail("liststarred", fake.CodeHostError(401, 0))
			return "liststarred"
		},
		"refreshed": func(t *testing.T, s *syncing) string {
			s.saveAccount(t, codehost.OAuthToken{AccessToken: "old", RefreshToken: "again", ExpiresAt: s.now.Add(-time.Hour)})
			s.host.SetRefreshed("again", codehost.OAuthToken{AccessToken: "refreshed"})
			return "refreshtoken"
		},
		"not refreshed": func(t *testing.T, s *syncing) string {
			s.saveAccount(t, codehost.OAuthToken{AccessToken: "old", RefreshToken: "unknown", ExpiresAt: s.now.Add(-time.Hour)})
			return "refreshtoken"
		},
	} {
		t.Run(name, func(t *testing.T) {
			testkit.ForEachDialect(t, func(t *testing.T, cfg store.Config) {
				s := startSyncing(t, cfg, 0)
				s.host.interrupt(begin(t, s), func() { s.saveAccount(t, codehost.OAuthToken{AccessToken: "new"}) })
				_, _ = s.Starred(t.Context(), adaID)
				a, ok, err := s.accounts.Find(t.Context(), adaID)
				if err != nil || !ok || a.State != account.Valid || a.ExpiresAt != 0 {
					t.Errorf("got %+v, %v, %v, want a valid token that does not expire", a, ok, err)
				}
				if token, err := s.accounts.Token(a); err != nil || token != "new" {
					t.Errorf("got the token %s, %v, want the new one", token.Reveal(), err)
				}
			})
		})
	}
}

// startOwner starts a Syncer for Ada, who owns a repository with a star and has a follower.
func startOwner(t *testing.T, cfg store.Config) *syncing {
	t.Helper()
	s := startSyncing(t, cfg, 0)
	s.saveAccount(t, codehost.OAuthToken{AccessToken: "token"})
	s.addStars("bob")
	s.host.Change("ada", func(c *fake.CodeHostContent) { c.Followers = []codehost.Account{{ID: "2", Login: "bob"}} })
	return s
}

// addStars adds stars without a time to the repository of Ada.
func (s *syncing) addStars(logins ...string) {
	var notes codehost.Repository
	s.host.Change("ada/notes", func(c *fake.CodeHostContent) {
		for _, login := range logins {
			c.Stargazers = append(c.Stargazers, codehost.Stargazer{Account: codehost.Account{Login: login}})
		}
		notes = codehost.Repository{ID: "7", FullName: "ada/notes", Stars: int64(len(c.Stargazers))}
		c.Repository = &notes
	})
	s.host.Change("ada", func(c *fake.CodeHostContent) { c.Owned = []codehost.Repository{notes} })
}

// TestAccountIsGoneDuringACall: nothing more is read with an account that is taken away, or not read for that any more, and that is no
// error.
func TestAccountIsGoneDuringACall(t *testing.T) {
	for name, end := range map[string]func(*syncing, context.Context) error{
		"taken away": func(s *syncing, ctx context.Context) error { return s.accounts.Delete(ctx, adaID) },
		"not read": func(s *syncing, ctx context.Context) error {
			return s.accounts.SetReads(ctx, account.Account{ID: adaID})
		},
	} {
		t.Run(name, func(t *testing.T) {
			testkit.ForEachDialect(t, func(t *testing.T, cfg store.Config) {
				s := startOwner(t, cfg)
				s.host.interrupt("listowned", func() { must(t, end(s, t.Context())) })
				if got, err := s.Social(t.Context(), adaID); err != nil || got != (sync.SocialResult{}) {
					t.Errorf("got %+v, %v", got, err)
				}
				if calls := s.host.Calls(); calls[len(calls)-1].Method != "listowned" {
					t.Errorf("the code host was asked for more: %+v", calls)
				}
			})
		})
	}
}

// TestReadIsForgottenDuringACall: those who follow a user, or have starred a repository, are not news when what was known of them is
// forgotten while they are read.
func TestReadIsForgottenDuringACall(t *testing.T) {
	for _, method := range []string{"listfollowers", "liststargazers"} {
		t.Run(method, func(t *testing.T) {
			testkit.ForEachDialect(t, func(t *testing.T, cfg store.Config) {
				s := startOwner(t, cfg)
				if got, err := s.Social(t.Context(), adaID); err != nil || got != (sync.SocialResult{}) {
					t.Errorf("at the first look: %+v, %v", got, err)
				}
				if method == "liststargazers" {
					s.addStars("eve")
				}
				s.host.interrupt(method, func() { must(t, sync.NewState(s.store).Forget(t.Context(), adaID, adaID)) })
				if got, err := s.Social(t.Context(), adaID); err != nil || got != (sync.SocialResult{}) {
					t.Errorf("after all was forgotten: %+v, %v", got, err)
				}
			})
		})
	}
}

// TestNotificationsAreForgottenDuringACall: notifications that are forgotten while those since the last time are read come back with the
// next reading.
func TestNotificationsAreForgottenDuringACall(t *testing.T) {
	testkit.ForEachDialect(t, func(t *testing.T, cfg store.Config) {
		s := startOwner(t, cfg)
		s.host.Change("ada", func(c *fake.CodeHostContent) {
			c.Notifications = []codehost.Notification{{ThreadID: "1", Title: "Old", UpdatedAt: s.now.Add(-time.Hour)}}
		})
		if got, err := s.Notifications(t.Context(), adaID); err != nil || got.Notifications != 1 {
			t.Fatalf("at the first look: %+v, %v", got, err)
		}
		state := sync.NewState(s.store)
		s.host.interrupt("listnotifications", func() { must(t, state.Forget(t.Context(), adaID, adaID)) })
		for range 2 {
			if _, err := s.Notifications(t.Context(), adaID); err != nil {
				t.Fatal(err)
			}
		}
		if found, err := state.ListNotifications(t.Context(), adaID, 10); err != nil || len(found) != 1 {
			t.Errorf("got %+v, %v", found, err)
		}
	})
}
