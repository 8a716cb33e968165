package sync_test

import (
	"context"
	"testing"
	"time"

	"github.com/patchbay-dev/patchbay/core/internal/testing/fake"
	"github.com/patchbay-dev/patchbay/core/internal/testing/testkit"
	"github.com/patchbay-dev/patchbay/core/services/releases/account"
	"github.com/patchbay-dev/patchbay/core/store"
	"github.com/patchbay-dev/patchbay/sdk/codehost"
	"github.com/patchbay-dev/patchbay/sdk/schema"
)

// adaID is the user whose accounts the tests read.
const adaID = "usr_ada"

// interruptedHost is a code host that calls a function before it gives its next answer about stars or a refreshed token.
type interruptedHost struct {
	*fake.CodeHost
	meanwhile func()
}

// interrupt calls the function once.
func (h *interruptedHost) interrupt() {
	if f := h.meanwhile; f != nil {
		h.meanwhile = nil
		f()
	}
}

func (h *interruptedHost) ListStarred(ctx context.Context, token schema.Secret, req codehost.PageRequest) (*codehost.Page[codehost.Starred], error) {
	page, err := h.CodeHost.ListStarred(ctx, token, req)
	h.interrupt()
	return page, err
}

func (h *interruptedHost) RefreshToken(ctx context.Context, app codehost.OAuthClient, refreshToken schema.Secret) (*codehost.OAuthToken, error) {
	token, err := h.CodeHost.RefreshToken(ctx, app, refreshToken)
	h.interrupt()
	return token, err
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
	for name, begin := range map[string]func(*testing.T, *syncing){
		"refused": func(t *testing.T, s *syncing) {
			s.saveAccount(t, codehost.OAuthToken{AccessToken: "old"})
			s.host.Fail("liststarred", fake.CodeHostError(401, 0))
		},
		"refreshed": func(t *testing.T, s *syncing) {
			s.saveAccount(t, codehost.OAuthToken{AccessToken: "old", RefreshToken: "again", ExpiresAt: s.now.Add(-time.Hour)})
			s.host.SetRefreshed("again", codehost.OAuthToken{AccessToken: "refreshed"})
		},
		"not refreshed": func(t *testing.T, s *syncing) {
			s.saveAccount(t, codehost.OAuthToken{AccessToken: "old", RefreshToken: "unknown", ExpiresAt: s.now.Add(-time.Hour)})
		},
	} {
		t.Run(name, func(t *testing.T) {
			testkit.ForEachDialect(t, func(t *testing.T, cfg store.Config) {
				s := startSyncing(t, cfg, 0)
				begin(t, s)
				s.host.meanwhile = func() { s.saveAccount(t, codehost.OAuthToken{AccessToken: "new"}) }
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
