package auth_test

import (
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/patchbay-dev/patchbay/core/auth"
	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/httpd"
)

func TestSetupLink(t *testing.T) {
	each(t, func(t *testing.T, u *auth.Users, now *clock) {
		ctx := t.Context()
		old, err := u.Links.CreateFirst(ctx)
		must(t, err)
		token, err := u.Links.CreateFirst(ctx)
		must(t, err)
		_, err = u.Links.IsFirst(ctx, old)
		wantCode(t, err, "invalid_setup_link")
		first, err := u.Links.IsFirst(ctx, token)
		must(t, err)
		if !first {
			t.Fatal("it should make the first administrator")
		}
		_, _, err = u.Links.Use(ctx, token, "no address", "Ann", client)
		wantCode(t, err, "invalid_argument")
		cookieText, p, err := u.Links.Use(ctx, token, " Ann@Example.com", " Ann ", client)
		must(t, err)
		if p.User.Email != "ann@example.com" || !p.Admin() || !p.Strong() || p.SessionID == "" {
			t.Fatalf("got %+v", p)
		}
		g := u.Guard(auth.Access{})
		if code, _ := decide(t, g, httpd.Session, request(cookie(cookieText))); code != "" {
			t.Fatalf("the session is refused: %q", code)
		}
		_, _, err = u.Links.Use(ctx, token, "eve@example.com", "Eve", client)
		wantCode(t, err, "invalid_setup_link")
		if again, err := u.Links.CreateFirst(ctx); err != nil || again != "" {
			t.Fatalf("a link although there is a user: %q %v", again, err)
		}

		// A link for a user: used once, good for a day, replaced by the next.
		link, err := u.Links.Reset(ctx, "ann@example.com")
		must(t, err)
		if code, _ := decide(t, g, httpd.Session, request(cookie(cookieText))); code != "unauthorized" {
			t.Fatalf("the session outlived the reset: %q", code)
		}
		first, err = u.Links.IsFirst(ctx, link)
		must(t, err)
		if first {
			t.Fatal("it is for a user")
		}
		_, p, err = u.Links.Use(ctx, link, "ignored", "", client)
		must(t, err)
		if p.User.Email != "ann@example.com" {
			t.Fatalf("got %+v", p.User)
		}
		link, err = u.Links.CreateForUser(ctx, p.User.ID)
		must(t, err)
		now.add(auth.SetupFor)
		_, _, err = u.Links.Use(ctx, link, "", "", client)
		wantCode(t, err, "invalid_setup_link")

		now.add(time.Hour)
		for range 10 {
			_, _, err = u.Links.Use(ctx, strings.Repeat("x", len(link)), "", "", client)
			wantCode(t, err, "invalid_setup_link")
		}
		link, err = u.Links.CreateForUser(ctx, p.User.ID)
		must(t, err)
		_, _, err = u.Links.Use(ctx, link, "", "", client)
		wantCode(t, err, "rate_limited")
		_, err = u.Links.IsFirst(ctx, link)
		must(t, err)
		now.add(6 * time.Second)
		_, _, err = u.Links.Use(ctx, link, "", "", client)
		must(t, err)
		must(t, u.Purge(ctx))
	})
}

// TestLookingAtASetupLinkIsNoFailedSignIn: pages of other sites can make a browser open any address, and must not lock its
// address out.
func TestLookingAtASetupLinkIsNoFailedSignIn(t *testing.T) {
	each(t, func(t *testing.T, u *auth.Users, _ *clock) {
		token, err := u.Links.CreateFirst(t.Context())
		must(t, err)
		for range 30 {
			_, err := u.Links.IsFirst(t.Context(), strings.Repeat("x", len(token)))
			wantCode(t, err, "invalid_setup_link")
		}
		_, _, err = u.Links.Use(t.Context(), token, "ann@example.com", "Ann", client)
		must(t, err)
	})
}

// TestSetupLinkTwiceAtOnce: of several who open a link at once one gets in.
func TestSetupLinkTwiceAtOnce(t *testing.T) {
	each(t, func(t *testing.T, u *auth.Users, _ *clock) {
		token, err := u.Links.CreateFirst(t.Context())
		must(t, err)
		var wg sync.WaitGroup
		var in atomic.Int64
		for i := range 6 {
			wg.Go(func() {
				_, _, err := u.Links.Use(t.Context(), token, string(rune('a'+i))+"@example.com", "A", client)
				if err == nil {
					in.Add(1)
				} else if fault.CodeOf(err) != "invalid_setup_link" {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		if n, err := u.Count(t.Context()); err != nil || n != 1 || in.Load() != 1 {
			t.Fatalf("%d users, %d got in, %v", n, in.Load(), err)
		}
	})
}

func TestKeys(t *testing.T) {
	each(t, func(t *testing.T, u *auth.Users, now *clock) {
		ctx := t.Context()
		_, p := enter(t, u)
		ctx = auth.With(ctx, p)
		g := u.Guard(auth.Access{})
		key, text, err := u.Keys.Create(ctx, p, auth.NewKey{Scopes: []string{"search", "mail", "search"}, ExpiresAt: now.now.Add(time.Hour)})
		must(t, err)
		if key.Name != "API key" || strings.Join(key.Scopes, ",") != "mail,search" || key.Masked != text[:12]+"…"+text[len(text)-4:] {
			t.Fatalf("got %+v", key)
		}
		if code, _ := decide(t, g, httpd.APIKey, request(bearer(text))); code != "" {
			t.Fatalf("the key is refused: %q", code)
		}
		list, err := u.Keys.List(ctx, p.User.ID)
		must(t, err)
		if len(list) != 1 || list[0].LastUsedAt != now.now.UnixMilli() {
			t.Fatalf("got %+v", list)
		}
		shown, err := u.Keys.Reveal(ctx, p, key.ID)
		must(t, err)
		if shown != text {
			t.Fatal("another key is shown")
		}
		session, exchanged, err := u.Sessions.Exchange(ctx, text, client)
		must(t, err)
		_, err = u.Keys.Reveal(ctx, exchanged, key.ID)
		wantCode(t, err, "forbidden")

		// A key makes no keys, and neither does a session that was exchanged from one.
		_, byKey := decide(t, g, httpd.APIKey, request(bearer(text)))
		for _, by := range []*auth.Principal{exchanged, byKey} {
			_, _, err = u.Keys.Create(ctx, by, auth.NewKey{Scopes: []string{"mail"}, ExpiresAt: now.now.Add(time.Minute)})
			wantCode(t, err, "forbidden")
		}
		all, _, err := u.Keys.Create(ctx, p, auth.NewKey{Name: strings.Repeat("ä", 80)})
		must(t, err)
		wantCode(t, u.Keys.Revoke(ctx, exchanged, all.ID), "forbidden")

		_, bobKey, err := u.Create(ctx, "bob@example.com", "Bob", auth.Member)
		must(t, err)
		_, bob, err := u.Sessions.Exchange(ctx, bobKey, client)
		must(t, err)
		wantCode(t, u.Keys.Revoke(ctx, bob, key.ID), "not_found")
		wantCode(t, u.Keys.Revoke(ctx, p, "key_none"), "not_found")
		strong := *bob
		strong.Via, strong.CheckedAt = auth.ViaSession, now.now.UnixMilli()
		_, err = u.Keys.Reveal(ctx, &strong, key.ID)
		wantCode(t, err, "not_found")

		must(t, u.Keys.Revoke(ctx, p, key.ID))
		must(t, u.Keys.Revoke(ctx, p, key.ID))
		if code, _ := decide(t, g, httpd.APIKey, request(bearer(text))); code != "invalid_api_key" {
			t.Fatalf("revoked, and got %q", code)
		}
		if code, _ := decide(t, g, httpd.APIKey, request(cookie(session))); code != "unauthorized" {
			t.Fatalf("the session outlived its key: %q", code)
		}
		_, err = u.Keys.Reveal(ctx, p, key.ID)
		wantCode(t, err, "conflict")
		now.add(2 * time.Minute)
		for _, k := range []struct {
			name string
			ask  auth.NewKey
		}{
			{"long name", auth.NewKey{Name: strings.Repeat("ä", 81)}}, {"control character", auth.NewKey{Name: "a\x00b"}},
			{"scope", auth.NewKey{Scopes: []string{"admin"}}}, {"past", auth.NewKey{ExpiresAt: now.now}},
		} {
			_, _, err := u.Keys.Create(ctx, p, k.ask)
			if fault.CodeOf(err) != fault.InvalidArgument {
				t.Errorf("%s: got %v", k.name, err)
			}
		}
		_, _, err = u.Keys.Create(ctx, &auth.Principal{Via: auth.ViaAnonymous}, auth.NewKey{})
		wantCode(t, err, "conflict")
	})
}

func TestChangeUser(t *testing.T) {
	each(t, func(t *testing.T, u *auth.Users, _ *clock) {
		session, p := enter(t, u)
		ctx := auth.With(t.Context(), p)
		yes, no, member, admin, name, bad := true, false, auth.Member, auth.Admin, " Anne ", "\n"
		for _, c := range []auth.UserChange{{Disabled: &yes}, {Role: &member}} {
			_, err := u.Change(ctx, p.User.ID, c)
			wantCode(t, err, "conflict")
		}
		bob, key, err := u.Create(ctx, "bob@example.com", "Bob", auth.Member)
		must(t, err)
		_, err = u.Change(ctx, bob.ID, auth.UserChange{Name: &bad})
		wantCode(t, err, "invalid_argument")
		_, err = u.Change(ctx, "usr_none", auth.UserChange{Name: &name})
		wantCode(t, err, "not_found")
		got, err := u.Change(ctx, bob.ID, auth.UserChange{Role: &admin, Name: &name})
		must(t, err)
		if got.Role != auth.Admin || got.Name != "Anne" {
			t.Fatalf("got %+v", got)
		}
		bobSession, _, err := u.Sessions.Exchange(ctx, key, client)
		must(t, err)
		_, err = u.Change(ctx, p.User.ID, auth.UserChange{Disabled: &yes})
		must(t, err)
		_, err = u.Links.CreateForUser(ctx, p.User.ID)
		wantCode(t, err, "conflict")
		_, err = u.Change(ctx, bob.ID, auth.UserChange{Role: &member})
		wantCode(t, err, "conflict")
		_, err = u.Change(ctx, p.User.ID, auth.UserChange{Disabled: &no})
		must(t, err)
		// The session of before does not come back with the account.
		g := u.Guard(auth.Access{})
		if code, _ := decide(t, g, httpd.Session, request(cookie(session))); code != "unauthorized" {
			t.Fatalf("got %q", code)
		}
		_, err = u.Change(ctx, bob.ID, auth.UserChange{Role: &member})
		must(t, err)
		if code, _ := decide(t, g, httpd.Admin, request(cookie(bobSession))); code != "forbidden" {
			t.Fatalf("the role is not current: %q", code)
		}
		for _, e := range []error{u.Disable(ctx, "nobody@example.com"), u.Passkeys.Revoke(ctx, p, "psk_none"),
			u.Sessions.EndOwn(ctx, p, "ses_none")} {
			wantCode(t, e, "not_found")
		}
	})
}

// TestTwoAdministratorsWhoDisableEachOther: one of them stays.
func TestTwoAdministratorsWhoDisableEachOther(t *testing.T) {
	each(t, func(t *testing.T, u *auth.Users, _ *clock) {
		yes := true
		for range 5 {
			var wg sync.WaitGroup
			for _, email := range []string{"a@example.com", "b@example.com"} {
				_, _, err := u.Create(t.Context(), email, "A", auth.Admin)
				if err != nil && fault.CodeOf(err) != fault.Conflict {
					t.Fatal(err)
				}
			}
			all, err := u.List(t.Context())
			must(t, err)
			for _, user := range all {
				wg.Go(func() {
					if _, err := u.Change(t.Context(), user.ID, auth.UserChange{Disabled: &yes}); err != nil && fault.CodeOf(err) != fault.Conflict {
						t.Error(err)
					}
				})
			}
			wg.Wait()
			all, err = u.List(t.Context())
			must(t, err)
			enabled := 0
			for _, user := range all {
				if no := false; user.Disabled {
					_, err := u.Change(t.Context(), user.ID, auth.UserChange{Disabled: &no})
					must(t, err)
				} else {
					enabled++
				}
			}
			if enabled != 1 {
				t.Fatalf("%d administrators are left", enabled)
			}
		}
	})
}

func TestSessions(t *testing.T) {
	each(t, func(t *testing.T, u *auth.Users, _ *clock) {
		_, key, err := u.Create(t.Context(), "a@example.com", "A", auth.Admin)
		must(t, err)
		g := u.Guard(auth.Access{})
		first, p, err := u.Sessions.Exchange(t.Context(), key, client)
		must(t, err)
		// A sign-in ends the session that the browser had, and never takes a value over that somebody set.
		from := client
		from.Former = first
		second, _, err := u.Sessions.Exchange(t.Context(), key, from)
		must(t, err)
		from.Former = strings.Repeat("a", len(first))
		third, p3, err := u.Sessions.Exchange(t.Context(), key, from)
		must(t, err)
		for text, want := range map[string]string{first: "unauthorized", from.Former: "unauthorized", second: "", third: ""} {
			if code, _ := decide(t, g, httpd.APIKey, request(cookie(text))); code != want {
				t.Fatalf("got %q, want %q", code, want)
			}
		}
		list, err := u.Sessions.List(t.Context(), p.User.ID)
		must(t, err)
		if len(list) != 2 || list[0].BeganWith != "api_key" || list[0].Address != client.Address || list[0].UserAgent != "test" {
			t.Fatalf("got %+v", list)
		}
		_, other, err := u.Create(t.Context(), "b@example.com", "B", auth.Admin)
		must(t, err)
		_, b, err := u.Sessions.Exchange(t.Context(), other, client)
		must(t, err)
		wantCode(t, u.Sessions.EndOwn(t.Context(), b, p3.SessionID), "not_found")
		n, err := u.Sessions.EndOthers(t.Context(), p3)
		must(t, err)
		if n != 1 {
			t.Fatalf("%d ended", n)
		}
		must(t, u.Sessions.EndOwn(t.Context(), p3, p3.SessionID))
		must(t, u.Sessions.End(t.Context(), b.SessionID))
		must(t, u.Sessions.SignOut(t.Context(), "x"))
		must(t, u.Sessions.SignOut(t.Context(), from.Former))
		if code, _ := decide(t, g, httpd.APIKey, request(cookie(third))); code != "unauthorized" {
			t.Fatalf("got %q", code)
		}
	})
}
