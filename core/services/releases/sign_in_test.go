package releases_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/patchbay-dev/patchbay/core/auth"
	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/internal/testing/passkeytest"
	"github.com/patchbay-dev/patchbay/core/services/releases"
	"github.com/patchbay-dev/patchbay/core/services/releases/signin"
	"github.com/patchbay-dev/patchbay/sdk/codehost"
	"github.com/patchbay-dev/patchbay/sdk/schema"
)

var from = auth.Origin{Address: "127.0.0.1", UserAgent: "test"}

// withSignIn has people sign in at the code host, and makes members of those whose logins are named.
func withSignIn(logins ...string) func(*releases.Settings) {
	return func(set *releases.Settings) {
		set.SignIn = signin.Settings{Name: "Forge", ClientID: "patchbay", ClientSecret: "secret-of-the-application",
			SignUp: len(logins) > 0, Logins: logins}
	}
}

// principal begins a session of a user and returns its principal.
func (s *server) principal(key string) *auth.Principal {
	s.Helper()
	link, err := s.users.Links.CreateForUser(s.Context(), s.userOf(key).ID)
	must(s, err)
	_, p, err := s.users.Links.Use(s.Context(), link, "", "", from)
	must(s, err)
	return p
}

// comeBack begins a sign-in, lets the code host give a code for a token, and comes back with it.
func (s *server) comeBack(p *auth.Principal, token codehost.OAuthToken,
	change ...func(*signin.SignInAnswer)) (signin.SignInResult, error) {
	s.Helper()
	start, err := s.service.BeginSignIn(s.Context(), p, from, "/releases/settings")
	must(s, err)
	page, err := url.Parse(start.Page)
	must(s, err)
	if got := page.Query().Get("redirect_uri"); got != "https://patchbay.example.com/releases/sign-in/callback" {
		s.Errorf("people are sent back to %s", got)
	}
	answer := signin.SignInAnswer{State: page.Query().Get("state"), Code: s.host.Grant(start.Page, token), Browser: start.Browser}
	for _, f := range change {
		f(&answer)
	}
	return s.service.FinishSignIn(s.Context(), p, from, answer)
}

// wantCode compares the code of an error.
func (s *server) wantCode(err error, code fault.Code) {
	s.Helper()
	if fault.CodeOf(err) != code {
		s.Errorf("got %v, want %s", err, code)
	}
}

// TestSignIn: an account is linked by the user who is signed in, and lets the user in from then on; nobody else.
func TestSignIn(t *testing.T) {
	forEach(t, func(t *testing.T, s *server) {
		ada, bob := codehost.OAuthToken{AccessToken: adaToken}, codehost.OAuthToken{AccessToken: bobToken}
		_, err := s.comeBack(nil, ada)
		s.wantCode(err, "sign_in_failed")
		linked, err := s.comeBack(s.principal(s.ada), ada)
		if err != nil || linked.Cookie != "" || linked.Next != "/releases/settings" {
			t.Fatalf("got %+v, %v", linked, err)
		}
		if got := s.want(200, "", s.adaCookie, http.MethodGet, tokenPath, nil); got["sign_in"] != true || got["owner"].(dict)["login"] != "ada" {
			t.Errorf("got %v", got)
		}
		in, err := s.comeBack(nil, ada)
		if err != nil || in.Cookie == "" {
			t.Fatalf("got %+v, %v", in, err)
		}
		if got := s.want(200, "", in.Cookie, http.MethodGet, tokenPath, nil); got["owner"].(dict)["login"] != "ada" {
			t.Errorf("got %v", got)
		}
		// Such a session is of no passkey.
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.base, http.NoBody)
		must(t, err)
		req.AddCookie(auth.Cookie(in.Cookie, false))
		if p, err := s.users.Recognise(s.access, req); err != nil || p.Via != auth.ViaLinked || p.Strong() || p.CheckedAt != 0 ||
			s.users.Passkeys.RequireConfirmed(p) == nil {
			t.Errorf("got %+v, %v", p, err)
		}
		// An account is of one user.
		_, err = s.comeBack(s.principal(s.bob), ada)
		s.wantCode(err, fault.Conflict)
		_, err = s.comeBack(nil, bob)
		s.wantCode(err, "sign_in_failed")
		// The last way in stays: Ada has no passkey, and her API key goes.
		keys, err := s.users.Keys.List(t.Context(), s.adaID)
		must(t, err)
		for _, k := range keys {
			must(t, s.users.Keys.Revoke(t.Context(), s.principal(s.ada), k.ID))
		}
		s.want(409, "last_github_connection_guard", in.Cookie, http.MethodDelete, tokenPath, nil)
	}, withSignIn())
}

// TestLinkingWithASessionThatHasEnded: whoever has taken a session over links no account after the user was disabled or reset.
func TestLinkingWithASessionThatHasEnded(t *testing.T) {
	forEach(t, func(t *testing.T, s *server) {
		p, email := s.principal(s.ada), s.userOf(s.ada).Email
		must(t, s.users.Disable(t.Context(), email))
		_, err := s.comeBack(p, codehost.OAuthToken{AccessToken: adaToken})
		s.wantCode(err, "account_disabled")
		_, err = s.users.Links.Reset(t.Context(), email)
		must(t, err)
		_, err = s.comeBack(p, codehost.OAuthToken{AccessToken: adaToken})
		s.wantCode(err, fault.Unauthorized)
		if n := s.countRows("release_host_accounts"); n != 0 {
			t.Errorf("%d accounts are linked", n)
		}
	}, withSignIn())
}

// TestUnlinkingEndsSessions: who has come in with an account is out once the account is taken away; other sessions stay.
func TestUnlinkingEndsSessions(t *testing.T) {
	forEach(t, func(t *testing.T, s *server) {
		ada := codehost.OAuthToken{AccessToken: adaToken}
		_, err := s.comeBack(s.principal(s.ada), ada)
		must(t, err)
		in, err := s.comeBack(nil, ada)
		must(t, err)
		s.want(200, "", in.Cookie, http.MethodGet, tokenPath, nil)
		s.want(200, "", s.adaCookie, http.MethodDelete, tokenPath, nil)
		s.want(401, "", in.Cookie, http.MethodGet, tokenPath, nil)
		s.want(200, "", s.adaCookie, http.MethodGet, tokenPath, nil)
	}, withSignIn())
}

// TestSignInRefusals: a state is good once, for its browser, for ten minutes, and for the user who began.
func TestSignInRefusals(t *testing.T) {
	forEach(t, func(t *testing.T, s *server) {
		ada := codehost.OAuthToken{AccessToken: adaToken}
		p := s.principal(s.ada)
		_, err := s.comeBack(p, ada)
		must(t, err)
		var used signin.SignInAnswer
		_, err = s.comeBack(nil, ada, func(a *signin.SignInAnswer) { used = *a })
		must(t, err)
		_, err = s.service.FinishSignIn(t.Context(), nil, from, used)
		s.wantCode(err, "sign_in_failed")
		for name, change := range map[string]func(*signin.SignInAnswer){
			"another browser": func(a *signin.SignInAnswer) { a.Browser = "x" },
			"no browser":      func(a *signin.SignInAnswer) { a.Browser = "" },
			"another state":   func(a *signin.SignInAnswer) { a.State += "x" },
			"no code":         func(a *signin.SignInAnswer) { a.Code = "" },
			"another code":    func(a *signin.SignInAnswer) { a.Code = "x" },
			"too late":        func(*signin.SignInAnswer) { s.clock.advance(11 * time.Minute) },
		} {
			if got, err := s.comeBack(nil, ada, change); fault.CodeOf(err) != "sign_in_failed" || got.Cookie != "" {
				t.Errorf("%s: got %+v, %v", name, got, err)
			}
		}
		_, err = s.comeBack(nil, ada, func(a *signin.SignInAnswer) {
			a.Code, a.Error, a.Description = "", "access_denied", "The user has denied your application access.\x00"
		})
		if err == nil || !strings.Contains(err.Error(), "The user has denied your application access.") {
			t.Errorf("got %v", err)
		}
		// Somebody else comes back than who began to link.
		start, err := s.service.BeginSignIn(t.Context(), p, from, "/")
		must(t, err)
		page, err := url.Parse(start.Page)
		must(t, err)
		_, err = s.service.FinishSignIn(t.Context(), s.principal(s.bob), from,
			signin.SignInAnswer{State: page.Query().Get("state"), Code: s.host.Grant(start.Page, ada), Browser: start.Browser})
		s.wantCode(err, "sign_in_failed")
		_, err = s.service.BeginSignIn(t.Context(), &auth.Principal{User: s.userOf(s.ada), Via: auth.ViaKey}, from, "/")
		s.wantCode(err, fault.Forbidden)
		var rows []string
		must(t, s.store.DB(t.Context()).Raw("SELECT state_hash || browser_hash || verifier FROM release_sign_ins").Scan(&rows).Error)
		for _, row := range rows {
			if strings.Contains(row, page.Query().Get("state")) {
				t.Errorf("a state is stored as it is: %s", row)
			}
		}
	}, withSignIn())
}

// TestSignUp: who is named in the settings becomes a member, once; somebody else does not, nor is anybody the first user.
func TestSignUp(t *testing.T) {
	forEach(t, func(t *testing.T, s *server) {
		_, err := s.comeBack(nil, codehost.OAuthToken{AccessToken: adaToken})
		s.wantCode(err, "sign_in_failed")
		for range 2 {
			in, err := s.comeBack(nil, codehost.OAuthToken{AccessToken: bobToken})
			if err != nil || in.Cookie == "" {
				t.Fatalf("got %+v, %v", in, err)
			}
		}
		all, err := s.users.List(t.Context())
		must(t, err)
		if got := all[len(all)-1]; len(all) != 4 || got.Role != auth.Member || got.Name != "bob" || got.Email != "bob-2-main@linked.invalid" {
			t.Errorf("got %+v", all)
		}
		must(t, s.store.Tx(t.Context(), "test", func(ctx context.Context) error {
			for _, table := range []string{"release_host_accounts", "sessions", "api_keys", "setup_links", "users"} {
				if err := s.store.Writer(ctx).Exec("DELETE FROM " + table).Error; err != nil {
					return err
				}
			}
			return nil
		}))
		_, err = s.comeBack(nil, codehost.OAuthToken{AccessToken: bobToken})
		s.wantCode(err, fault.Forbidden)
	}, withSignIn("BOB", "eve"))
}

// TestRefresh: a token that ends is refreshed before it is used, and a refresh that is refused asks for another sign-in.
func TestRefresh(t *testing.T) {
	forEach(t, func(t *testing.T, s *server) {
		s.star("ada", s.addRepo("acme/engine", day, 1), day)
		first := codehost.OAuthToken{AccessToken: adaToken, RefreshToken: "refresh-1", ExpiresAt: s.clock.now().Add(8 * time.Hour)}
		_, err := s.comeBack(s.principal(s.ada), first)
		must(t, err)
		const second = "ghu_ada_second_token"
		s.host.AddAccount(schema.Secret(second), codehost.Account{ID: "1", Login: "ada"})
		s.host.SetRefreshed("refresh-1", codehost.OAuthToken{AccessToken: second, RefreshToken: "refresh-2",
			ExpiresAt: s.clock.now().Add(16 * time.Hour)})
		s.clock.advance(8 * time.Hour)
		s.want(200, "", s.ada, http.MethodPost, "/api/sync/starred", nil)
		calls := s.host.Calls()
		if got := calls[len(calls)-1]; got.Method != "liststarred" || got.Token != second {
			t.Errorf("got %+v", got)
		}
		s.clock.advance(8 * time.Hour)
		s.want(422, "pat_invalid", s.ada, http.MethodPost, "/api/sync/starred", nil)
		if got := s.want(200, "", s.adaCookie, http.MethodGet, tokenPath, nil); got["check"].(dict)["state"] != "invalid" {
			t.Errorf("got %v", got)
		}
	}, withSignIn())
}

// TestSignInOff: without settings nobody signs in, and without a public address neither.
func TestSignInOff(t *testing.T) {
	forEach(t, func(t *testing.T, s *server) {
		_, err := s.service.BeginSignIn(t.Context(), nil, from, "/")
		s.wantCode(err, fault.NotFound)
		if s.service.SignInName() != "" {
			t.Error("there is a name")
		}
		set := s.settings
		withSignIn()(&set)
		access := s.access
		access.PublicURL = ""
		commit, err := s.service.Prepare(set, nil, nil, access)
		must(t, err)
		commit()
		_, err = s.service.BeginSignIn(t.Context(), nil, from, "/")
		s.wantCode(err, fault.NotReady)
	})
}

// context returns a context in which Ada or Bob acts.
func (s *server) context(key string) context.Context { return auth.With(s.Context(), s.principal(key)) }

// TestStolenSessionLinksNothing: whoever has a passkey links an account only after showing it, so that a session that was taken over
// makes no way in that stays.
func TestStolenSessionLinksNothing(t *testing.T) {
	s := startServer(t, sqlite(t), withSignIn())
	req := httptest.NewRequest(http.MethodGet, s.access.PublicURL+"/", nil)
	req.AddCookie(auth.Cookie(s.adaCookie, false))
	able := s.access.Passkeys(req)
	device := passkeytest.New(t, "patchbay.example.com", s.access.PublicURL)
	fresh, err := s.users.Recognise(s.access, req)
	must(t, err)
	fresh.CheckedAt = time.Now().UnixMilli()
	options, err := s.users.Passkeys.BeginRegistration(t.Context(), fresh, able, "Laptop")
	must(t, err)
	_, err = s.users.Passkeys.FinishRegistration(t.Context(), fresh, able, device.Create(t, options))
	must(t, err)
	stolen := s.principal(s.ada)
	stolen.CheckedAt = 0
	_, err = s.service.BeginSignIn(t.Context(), stolen, from, "/")
	s.wantCode(err, "passkey_check_required")
	_, err = s.service.BeginSignIn(t.Context(), fresh, from, "/")
	must(t, err)
}
