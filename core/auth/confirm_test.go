package auth_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/patchbay-dev/patchbay/core/auth"
	"github.com/patchbay-dev/patchbay/core/httpd"
	"github.com/patchbay-dev/patchbay/core/internal/testing/passkeytest"
)

// TestPasskeyCheck: what is to be confirmed needs a check of the last ten minutes, in the session itself.
func TestPasskeyCheck(t *testing.T) {
	each(t, func(t *testing.T, u *auth.Users, now *clock) {
		c := able(t, publicURL)
		_, p := enter(t, u)
		a := passkeytest.New(t, "patchbay.example.com", publicURL)
		_, err := register(t, u, p, c, a, "Laptop")
		must(t, err)
		text, who, err := login(t, u, c, a)
		must(t, err)
		g := u.Guard(auth.Access{})
		confirm := func() (string, *auth.Principal) {
			return askRoute(t, g, httpd.CoreService, httpd.Route{Policy: httpd.Admin, Confirm: true}, request(cookie(text)))
		}
		if code, _ := confirm(); code != "" {
			t.Fatalf("after the sign-in: got %q", code)
		}
		if options, err := u.Passkeys.BeginCheck(t.Context(), who, c); err != nil || options != nil {
			t.Fatalf("a check right after the sign-in: %v, %v", options, err)
		}
		now.add(10 * time.Minute)
		if code, _ := confirm(); code != "passkey_check_required" {
			t.Fatalf("after ten minutes: got %q", code)
		}
		_, err = u.Passkeys.BeginRegistration(t.Context(), who, c, "Mine")
		wantCode(t, err, "passkey_check_required")
		wantCode(t, u.Passkeys.CheckNewWayIn(t.Context(), who), "passkey_check_required")

		// Neither another person's passkey nor an answer from another session will do.
		bob, _, err := u.Create(t.Context(), "bob@example.com", "Bob", auth.Member)
		must(t, err)
		link, err := u.Links.CreateForUser(t.Context(), bob.ID)
		must(t, err)
		_, bobIn, err := u.Links.Use(t.Context(), link, "", "", client)
		must(t, err)
		foreign := passkeytest.New(t, a.RPID, a.Origin)
		_, err = register(t, u, bobIn, c, foreign, "Bob's")
		must(t, err)
		options, err := u.Passkeys.BeginCheck(t.Context(), who, c)
		must(t, err)
		wantCode(t, u.Passkeys.FinishCheck(t.Context(), who, c, foreign.Get(t, options)), "invalid_passkey")
		options, err = u.Passkeys.BeginCheck(t.Context(), who, c)
		must(t, err)
		wantCode(t, u.Passkeys.FinishCheck(t.Context(), p, c, a.Get(t, options)), "challenge_expired")
		if code, _ := confirm(); code != "passkey_check_required" {
			t.Fatalf("got %q", code)
		}

		options, err = u.Passkeys.BeginCheck(t.Context(), who, c)
		must(t, err)
		must(t, u.Passkeys.FinishCheck(t.Context(), who, c, a.Get(t, options)))
		if code, _ := confirm(); code != "" {
			t.Fatalf("after the check: got %q", code)
		}
	})
}

// TestConfirmationIsForSessions: API keys, sessions of API keys, forwarded identities and callers without an account cannot
// confirm anything. The session of a set-up link can, for ten minutes.
func TestConfirmationIsForSessions(t *testing.T) {
	each(t, func(t *testing.T, u *auth.Users, now *clock) {
		_, key, err := u.Create(t.Context(), "ann@example.com", "Ann", auth.Admin)
		must(t, err)
		exchanged, p, err := u.Sessions.Exchange(t.Context(), key, client)
		must(t, err)
		link, err := u.Links.CreateForUser(t.Context(), p.User.ID)
		must(t, err)
		set, _, err := u.Links.Use(t.Context(), link, "", "", client)
		must(t, err)
		f := auth.Forward{UserHeader: "X-Forwarded-User", AllowedUser: "alice"}
		plain, proxied := u.Guard(auth.Access{Anonymous: true}), u.Guard(auth.Access{Forward: f, Trusted: clients(t, "127.0.0.0/8")})
		route := httpd.Route{Policy: httpd.Admin, Confirm: true}
		code := func(g httpd.Guard, change ...func(*http.Request)) string {
			got, _ := askRoute(t, g, httpd.CoreService, route, request(change...))
			return got
		}
		for name, got := range map[string]string{
			"key": code(plain, bearer(key)), "exchanged session": code(plain, cookie(exchanged)), "anonymous": code(plain),
			"forwarded": code(proxied, header("X-Forwarded-User", "alice")),
		} {
			if got != "forbidden" {
				t.Errorf("%s: got %q", name, got)
			}
		}
		if got := code(plain, cookie(set)); got != "" {
			t.Errorf("set-up link: got %q", got)
		}
		now.add(10 * time.Minute)
		if got := code(plain, cookie(set)); got != "passkey_check_required" {
			t.Errorf("set-up link after ten minutes: got %q", got)
		}
	})
}

// TestSessionEndsAfterNinetyDays: however often it is used.
func TestSessionEndsAfterNinetyDays(t *testing.T) {
	each(t, func(t *testing.T, u *auth.Users, now *clock) {
		text, p := enter(t, u)
		g := u.Guard(auth.Access{})
		began := now.now
		for !now.now.After(began.Add(89 * 24 * time.Hour)) {
			if code, _ := decide(t, g, httpd.Session, request(cookie(text))); code != "" {
				t.Fatalf("after %s: got %q", now.now.Sub(began), code)
			}
			now.add(20 * 24 * time.Hour)
			if left := began.Add(90 * 24 * time.Hour).Sub(now.now); left < 20*24*time.Hour {
				now.add(left - time.Minute)
				break
			}
		}
		if code, _ := decide(t, g, httpd.Session, request(cookie(text))); code != "" {
			t.Fatalf("a minute before the end: got %q", code)
		}
		now.add(time.Minute)
		if code, _ := decide(t, g, httpd.Session, request(cookie(text))); code != "unauthorized" {
			t.Fatalf("after ninety days: got %q", code)
		}
		left, err := u.Sessions.List(t.Context(), p.User.ID)
		must(t, err)
		if len(left) != 0 {
			t.Fatalf("got %+v", left)
		}
	})
}
