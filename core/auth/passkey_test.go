package auth_test

import (
	"encoding/base64"
	"encoding/json"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/patchbay-dev/patchbay/core/auth"
	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/httpd"
	"github.com/patchbay-dev/patchbay/core/internal/testing/passkeytest"
	"github.com/patchbay-dev/patchbay/core/internal/testing/testkit"
	"github.com/patchbay-dev/patchbay/core/store"
)

const publicURL = "https://patchbay.example.com"

// clock is a clock that a test moves.
type clock struct{ now time.Time }

func (c *clock) add(d time.Duration) { c.now = c.now.Add(d) }

// each runs a test on both dialects, with a clock.
func each(t *testing.T, f func(t *testing.T, u *auth.Users, c *clock)) {
	testkit.ForEachDialect(t, func(t *testing.T, cfg store.Config) {
		c := &clock{time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)}
		u, _ := openOn(t, cfg, func() time.Time { return c.now })
		f(t, u, c)
	})
}

// able is the capability at the public address.
func able(t *testing.T, url string) auth.Capability {
	t.Helper()
	c := auth.Access{PublicURL: url}.Passkeys(httptest.NewRequest("GET", url+"/", nil))
	if !c.Available {
		t.Fatalf("passkeys are not available: %+v", c)
	}
	return c
}

var client = auth.Origin{Address: "192.0.2.7", UserAgent: "test"}

// enter makes the first administrator by a set-up link.
func enter(t *testing.T, u *auth.Users) (string, *auth.Principal) {
	t.Helper()
	token, err := u.Links.CreateFirst(t.Context())
	must(t, err)
	cookie, p, err := u.Links.Use(t.Context(), token, "Ann@example.com", "Ann", client)
	must(t, err)
	return cookie, p
}

func register(t *testing.T, u *auth.Users, p *auth.Principal, c auth.Capability, a *passkeytest.Authenticator,
	name string) (auth.Passkey, error) {
	t.Helper()
	options, err := u.Passkeys.BeginRegistration(t.Context(), p, c, name)
	must(t, err)
	return u.Passkeys.FinishRegistration(t.Context(), p, c, a.Create(t, options))
}

func login(t *testing.T, u *auth.Users, c auth.Capability, a *passkeytest.Authenticator) (string, *auth.Principal, error) {
	t.Helper()
	options, err := u.Passkeys.BeginLogin(t.Context(), c, client)
	must(t, err)
	return u.Passkeys.FinishLogin(t.Context(), c, a.Get(t, options), client)
}

func wantCode(t *testing.T, err error, code string) {
	t.Helper()
	if string(fault.CodeOf(err)) != code {
		t.Fatalf("got %v, want %q", err, code)
	}
}

func TestPasskey(t *testing.T) {
	each(t, func(t *testing.T, u *auth.Users, now *clock) {
		c := able(t, publicURL)
		setup, p := enter(t, u)
		a := passkeytest.New(t, "patchbay.example.com", publicURL)
		made, err := register(t, u, p, c, a, " Laptop ")
		must(t, err)
		if made.Name != "Laptop" || made.RPID != "patchbay.example.com" {
			t.Fatalf("got %+v", made)
		}
		options, err := u.Passkeys.BeginRegistration(t.Context(), p, c, "")
		must(t, err)
		var shown struct {
			Attestation            string
			ExcludeCredentials     []struct{ ID string }
			AuthenticatorSelection struct{ ResidentKey, UserVerification string }
		}
		remarshal(t, options, &shown)
		if shown.Attestation != "none" || len(shown.ExcludeCredentials) != 1 ||
			shown.ExcludeCredentials[0].ID != base64.RawURLEncoding.EncodeToString(a.ID) ||
			shown.AuthenticatorSelection.ResidentKey != "required" || shown.AuthenticatorSelection.UserVerification != "required" {
			t.Fatalf("got the options %+v", shown)
		}

		login1, err := u.Passkeys.BeginLogin(t.Context(), c, client)
		must(t, err)
		var asked struct {
			AllowCredentials []any
			UserVerification string
		}
		remarshal(t, login1, &asked)
		if len(asked.AllowCredentials) != 0 || asked.UserVerification != "required" {
			t.Fatalf("got the options %+v", asked)
		}
		answer := a.Get(t, login1)
		cookieText, who, err := u.Passkeys.FinishLogin(t.Context(), c, answer, client)
		must(t, err)
		if who.User.Email != "ann@example.com" || !who.Strong() || cookieText == setup {
			t.Fatalf("got %+v", who)
		}
		g := u.Guard(auth.Access{})
		if code, got := decide(t, g, httpd.Session, request(cookie(cookieText))); code != "" || got.SessionID != who.SessionID {
			t.Fatalf("the session is refused: %q", code)
		}
		_, _, err = u.Passkeys.FinishLogin(t.Context(), c, answer, client)
		wantCode(t, err, "challenge_expired")

		// A counter that stays at zero is what synchronised passkeys have; one that has moved must go on.
		now.add(time.Minute)
		_, _, err = login(t, u, c, a)
		must(t, err)
		a.Counter = 7
		_, _, err = login(t, u, c, a)
		must(t, err)
		for _, counter := range []uint32{7, 6, 0} {
			a.Counter = counter
			_, _, err = login(t, u, c, a)
			wantCode(t, err, "invalid_passkey")
		}
		a.Counter = 8
		_, _, err = login(t, u, c, a)
		must(t, err)

		renamed, err := u.Passkeys.Rename(t.Context(), who, made.ID, "Key ring")
		must(t, err)
		list, err := u.Passkeys.List(t.Context(), who.User.ID)
		must(t, err)
		if len(list) != 1 || list[0].Name != "Key ring" || renamed.Name != "Key ring" || list[0].LastUsedAt != now.now.UnixMilli() {
			t.Fatalf("got %+v", list)
		}
		_, other, err := u.Create(t.Context(), "bob@example.com", "Bob", auth.Member)
		must(t, err)
		_, bob, err := u.Sessions.Exchange(t.Context(), other, client)
		must(t, err)
		wantCode(t, u.Passkeys.Revoke(t.Context(), bob, made.ID), "forbidden")
		bob.Via, bob.CheckedAt = auth.ViaSession, now.now.UnixMilli()
		wantCode(t, u.Passkeys.Revoke(t.Context(), bob, made.ID), "not_found")
		wantCode(t, u.Passkeys.Revoke(t.Context(), who, made.ID), "last_way_in")
		_, err = register(t, u, who, c, passkeytest.New(t, a.RPID, a.Origin), "Spare")
		must(t, err)

		// Its own session outlives the revocation, others that began with it do not.
		must(t, u.Passkeys.Revoke(t.Context(), who, made.ID))
		must(t, u.Passkeys.Revoke(t.Context(), who, made.ID))
		a.Counter = 9
		_, _, err = login(t, u, c, a)
		wantCode(t, err, "invalid_passkey")
		left, err := u.Sessions.List(t.Context(), who.User.ID)
		must(t, err)
		if len(left) != 2 {
			t.Fatalf("got the sessions %+v", left)
		}
	})
}

func TestPasskeyRefusals(t *testing.T) {
	each(t, func(t *testing.T, u *auth.Users, now *clock) {
		c := able(t, publicURL)
		_, p := enter(t, u)
		a := passkeytest.New(t, "patchbay.example.com", publicURL)
		_, err := register(t, u, p, c, a, "")
		must(t, err)
		for _, tc := range []struct {
			name   string
			change func(*passkeytest.Authenticator)
			code   string
		}{
			{"ErrNoUserVerification", func(a *passkeytest.Authenticator) { a.NoUV = true }, "invalid_passkey"},
			{"ErrNoUserPresence", func(a *passkeytest.Authenticator) { a.NoUP = true }, "invalid_passkey"},
			{"ErrOtherOrigin", func(a *passkeytest.Authenticator) { a.Origin = "https://patchbay.example.com.evil.example" }, "invalid_passkey"},
			{"ErrPlainOrigin", func(a *passkeytest.Authenticator) { a.Origin = "http://patchbay.example.com" }, "invalid_passkey"},
			{"ErrOtherPort", func(a *passkeytest.Authenticator) { a.Origin = publicURL + ":8443" }, "invalid_passkey"},
			{"ErrOtherRelyingParty", func(a *passkeytest.Authenticator) { a.RPID = "evil.example" }, "invalid_passkey"},
			{"ErrUnknownCredential", func(a *passkeytest.Authenticator) { a.ID = []byte("another one") }, "invalid_passkey"},
			{"ErrOtherKey", func(x *passkeytest.Authenticator) { x.Key = passkeytest.New(t, "", "").Key }, "invalid_passkey"},
			{"ErrOtherUserHandle", func(a *passkeytest.Authenticator) { a.Handle = []byte("usr_other") }, "invalid_passkey"},
			{"ErrNoUserHandle", func(a *passkeytest.Authenticator) { a.Handle = nil }, "invalid_passkey"},
			{"OK", func(*passkeytest.Authenticator) {}, ""},
		} {
			t.Run(tc.name, func(t *testing.T) {
				now.add(time.Minute)
				bad := *a
				tc.change(&bad)
				options, err := u.Passkeys.BeginLogin(t.Context(), c, client)
				must(t, err)
				_, _, err = u.Passkeys.FinishLogin(t.Context(), c, bad.Get(t, options), client)
				wantCode(t, err, tc.code)
				// Also an answer that failed has used the challenge up.
				_, _, err = u.Passkeys.FinishLogin(t.Context(), c, a.Get(t, options), client)
				wantCode(t, err, "challenge_expired")
			})
		}
		t.Run("ErrExpiredChallenge", func(t *testing.T) {
			options, err := u.Passkeys.BeginLogin(t.Context(), c, client)
			must(t, err)
			now.add(5 * time.Minute)
			_, _, err = u.Passkeys.FinishLogin(t.Context(), c, a.Get(t, options), client)
			wantCode(t, err, "challenge_expired")
		})
		t.Run("ErrChallengeOfRegistration", func(t *testing.T) {
			p.CheckedAt = now.now.UnixMilli()
			options, err := u.Passkeys.BeginRegistration(t.Context(), p, c, "")
			must(t, err)
			_, _, err = u.Passkeys.FinishLogin(t.Context(), c, a.Get(t, options), client)
			wantCode(t, err, "challenge_expired")
		})
		t.Run("ErrGarbage", func(t *testing.T) {
			now.add(time.Hour)
			for _, raw := range []string{"", "{}", "[]", `{"response":{"clientDataJSON":"%%"}}`, `{"response":{"clientDataJSON":"e30"}}`, "\xff"} {
				_, _, err := u.Passkeys.FinishLogin(t.Context(), c, []byte(raw), client)
				wantCode(t, err, "challenge_expired")
			}
		})
		t.Run("ErrDisabled", func(t *testing.T) {
			now.add(time.Hour)
			_, _, err := u.Create(t.Context(), "second@example.com", "Second", auth.Admin)
			must(t, err)
			must(t, u.Disable(t.Context(), "ann@example.com"))
			_, _, err = login(t, u, c, a)
			wantCode(t, err, "account_disabled")
		})
		t.Run("ErrTooMany", func(t *testing.T) {
			now.add(time.Hour)
			for range 10 {
				_, _, err := u.Passkeys.FinishLogin(t.Context(), c, []byte("{}"), client)
				wantCode(t, err, "challenge_expired")
			}
			_, _, err := u.Passkeys.FinishLogin(t.Context(), c, []byte("{}"), client)
			wantCode(t, err, "rate_limited")
			if fault.As(err).RetryAfter <= 0 {
				t.Fatal("it does not say when to come back")
			}
			_, _, err = u.Passkeys.FinishLogin(t.Context(), c, []byte("{}"), auth.Origin{Address: "192.0.2.8"})
			wantCode(t, err, "challenge_expired")
		})
	})
}

func TestPasskeyRegistrationRefusals(t *testing.T) {
	each(t, func(t *testing.T, u *auth.Users, now *clock) {
		c := able(t, publicURL)
		_, p := enter(t, u)
		fresh := func() *passkeytest.Authenticator { return passkeytest.New(t, "patchbay.example.com", publicURL) }
		for _, tc := range []struct {
			name   string
			change func(*passkeytest.Authenticator)
		}{
			{"ErrNoUserVerification", func(a *passkeytest.Authenticator) { a.NoUV = true }},
			{"ErrOtherOrigin", func(a *passkeytest.Authenticator) { a.Origin = "https://evil.example" }},
			{"ErrOtherRelyingParty", func(a *passkeytest.Authenticator) { a.RPID = "evil.example" }},
		} {
			t.Run(tc.name, func(t *testing.T) {
				a := fresh()
				tc.change(a)
				_, err := register(t, u, p, c, a, "")
				wantCode(t, err, "passkey_refused")
			})
		}
		a := fresh()
		_, err := register(t, u, p, c, a, "")
		must(t, err)
		_, err = register(t, u, p, c, a, "")
		wantCode(t, err, "conflict")

		options, err := u.Passkeys.BeginRegistration(t.Context(), p, c, "")
		must(t, err)
		elsewhere := *p
		elsewhere.SessionID = "ses_other"
		_, err = u.Passkeys.FinishRegistration(t.Context(), &elsewhere, c, fresh().Create(t, options))
		wantCode(t, err, "challenge_expired")

		options, err = u.Passkeys.BeginRegistration(t.Context(), p, c, "")
		must(t, err)
		now.add(5 * time.Minute)
		_, err = u.Passkeys.FinishRegistration(t.Context(), p, c, fresh().Create(t, options))
		wantCode(t, err, "challenge_expired")

		_, err = u.Passkeys.BeginRegistration(t.Context(), p, auth.Access{}.Passkeys(httptest.NewRequest("GET", "http://192.0.2.1/", nil)), "")
		wantCode(t, err, "passkeys_unavailable")
		_, err = u.Passkeys.BeginRegistration(t.Context(), p, c, "a\nb")
		wantCode(t, err, "invalid_argument")
		_, err = u.Passkeys.BeginRegistration(t.Context(), &auth.Principal{Via: auth.ViaAnonymous}, c, "")
		wantCode(t, err, "conflict")
	})
}

func TestCapability(t *testing.T) {
	for _, tc := range []struct {
		name, public, target, reason, url string
		headers                           []string
	}{
		{name: "https", public: "https://p.example.com/", target: "https://p.example.com/", url: "https://p.example.com"},
		{name: "standard port", public: "https://p.example.com:443", target: "https://p.example.com/", url: "https://p.example.com"},
		{name: "own port", public: "https://p.example.com:8443", target: "https://p.example.com:8443/", url: "https://p.example.com:8443"},
		{name: "proxy that changes the host", public: "https://p.example.com", target: "http://127.0.0.1:50883/",
			headers: []string{"X-Forwarded-For", "192.0.2.1"}, url: "https://p.example.com"},
		{name: "at another address", public: "https://p.example.com", target: "http://localhost:50883/", reason: "other_address",
			url: "https://p.example.com"},
		{name: "plain http", public: "http://p.example.com", target: "http://p.example.com/", reason: "public_url_not_https"},
		{name: "address", public: "https://192.0.2.1", target: "https://192.0.2.1/", reason: "public_url_is_address"},
		{name: "public localhost", public: "http://localhost:50883", target: "http://localhost:50883/", url: "http://localhost:50883"},
		{name: "localhost", target: "http://localhost:50883/", url: "http://localhost:50883"},
		{name: "loopback address", target: "http://127.0.0.1:50883/", reason: "other_address", url: "http://localhost:50883"},
		{name: "another host", target: "http://p.example.com/", reason: "public_url_unset"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r := httptest.NewRequest("GET", tc.target, nil)
			r.RemoteAddr = "127.0.0.1:4"
			for i := 0; i+1 < len(tc.headers); i += 2 {
				r.Header.Set(tc.headers[i], tc.headers[i+1])
			}
			c := auth.Access{PublicURL: tc.public, Trusted: clients(t, "127.0.0.0/8")}.Passkeys(r)
			if c.Available != (tc.reason == "") || c.Reason != tc.reason || c.URL != tc.url || c.Available == (c.Message != "") {
				raw, _ := json.Marshal(c)
				t.Fatalf("got %s", raw)
			}
		})
	}
}

func remarshal(t *testing.T, in, out any) {
	t.Helper()
	raw, err := json.Marshal(in)
	must(t, err)
	must(t, json.Unmarshal(raw, out))
}
