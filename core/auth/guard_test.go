package auth_test

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/patchbay-dev/patchbay/core/auth"
	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/httpd"
	"github.com/patchbay-dev/patchbay/core/internal/testing/testkit"
	"github.com/patchbay-dev/patchbay/core/secret"
	"github.com/patchbay-dev/patchbay/core/store"
)

// request is one to this machine; change makes it another.
func request(change ...func(*http.Request)) *http.Request {
	r := httptest.NewRequest(http.MethodPost, "http://localhost:50883/search/api/tokens", nil)
	r.RemoteAddr = "127.0.0.1:40000"
	for _, f := range change {
		f(r)
	}
	return r
}

func header(name string, values ...string) func(*http.Request) {
	return func(r *http.Request) { r.Header[name] = values }
}

func from(addr string) func(*http.Request) { return func(r *http.Request) { r.RemoteAddr = addr } }

func host(name string) func(*http.Request) { return func(r *http.Request) { r.Host = name } }

func cookie(value string) func(*http.Request) {
	return func(r *http.Request) { r.AddCookie(auth.Cookie(value, false)) }
}

func bearer(key string) func(*http.Request) { return header("Authorization", "Bearer "+key) }

// decide asks a guard and returns the code of its refusal, or the principal.
func decide(t *testing.T, g httpd.Guard, p httpd.Policy, r *http.Request) (string, *auth.Principal) {
	t.Helper()
	return ask(t, g, "search", p, r)
}

// decideFor is the code alone, for a route of a service.
func decideFor(t *testing.T, g httpd.Guard, service string, p httpd.Policy, r *http.Request) string {
	t.Helper()
	code, _ := ask(t, g, service, p, r)
	return code
}

func ask(t *testing.T, g httpd.Guard, service string, p httpd.Policy, r *http.Request) (string, *auth.Principal) {
	t.Helper()
	return askRoute(t, g, service, httpd.Route{Policy: p}, r)
}

func askRoute(t *testing.T, g httpd.Guard, service string, route httpd.Route, r *http.Request) (string, *auth.Principal) {
	t.Helper()
	c, _ := gin.CreateTestContext(httptest.NewRecorder())
	c.Request = r
	if err := g(c, service, route); err != nil {
		return string(fault.CodeOf(err)), nil
	}
	return "", auth.From(c.Request.Context())
}

func clients(t *testing.T, cidrs ...string) *httpd.Clients {
	t.Helper()
	c, err := httpd.NewClients(cidrs)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

var must = testkit.Must

// open makes a keeper on a SQLite database of its own.
func open(t *testing.T, now func() time.Time) *auth.Users {
	t.Helper()
	users, _ := openOn(t, testkit.SQLiteConfig(t), now)
	return users
}

// openOn makes a keeper on a database, with a clock or nil.
func openOn(t *testing.T, cfg store.Config, now func() time.Time) (*auth.Users, *store.Store) {
	t.Helper()
	ring, err := secret.NewKeyring(make([]byte, secret.KeySize))
	must(t, err)
	st := testkit.OpenStore(t, cfg, auth.Migrations())
	users, err := auth.New(auth.Config{Store: st, Keyring: ring, Now: now, Scopes: []string{"containers", "mail", "search"}})
	must(t, err)
	return users, st
}

func TestGuard(t *testing.T) {
	forEach(t, func(t *testing.T, users *auth.Users, _ *store.Store) {
		ctx := t.Context()
		_, admin, err := users.Create(ctx, "admin@example.com", "Admin", auth.Admin)
		must(t, err)
		_, member, err := users.Create(ctx, "member@example.com", "Member", auth.Member)
		must(t, err)
		_, gone, err := users.Create(ctx, "gone@example.com", "Gone", auth.Admin)
		must(t, err)
		session, _, err := users.Sessions.Exchange(ctx, admin, auth.Origin{Address: "127.0.0.1", UserAgent: "test"})
		must(t, err)
		must(t, users.Disable(ctx, "gone@example.com"))

		g := users.Guard(auth.Access{})
		for _, tc := range []struct {
			name   string
			policy httpd.Policy
			req    *http.Request
			code   string
		}{
			{"nobody", httpd.APIKey, request(), "unauthorized"},
			{"admin key", httpd.Admin, request(bearer(admin)), ""},
			{"scheme in lower case", httpd.Admin, request(header("Authorization", "bearer "+admin)), ""},
			{"member key on an admin route", httpd.Admin, request(bearer(member)), "forbidden"},
			{"member key", httpd.APIKey, request(bearer(member)), ""},
			{"key on a session route", httpd.Session, request(bearer(admin)), "forbidden"},
			{"unknown key", httpd.APIKey, request(bearer("svc_ak_" + admin[7:20] + admin[7:37])), "invalid_api_key"},
			{"malformed key", httpd.APIKey, request(bearer("svc_ak_x")), "invalid_api_key"},
			{"access token", httpd.APIKey, request(bearer("th-abcd-abcdefghijklmnopqrstuvwx")), "invalid_api_key"},
			{"two headers", httpd.APIKey, request(header("Authorization", "Bearer "+admin, "Bearer "+admin)), "invalid_api_key"},
			{"another scheme", httpd.APIKey, request(header("Authorization", "Basic "+admin)), "unauthorized"},
			{"disabled user", httpd.APIKey, request(bearer(gone)), "account_disabled"},
			{"session", httpd.Admin, request(cookie(session)), ""},
			{"exchanged session on a session route", httpd.Session, request(cookie(session)), "forbidden"},
			{"session from another site", httpd.Admin, request(cookie(session), header("Sec-Fetch-Site", "cross-site")), "forbidden"},
			{"session from another origin", httpd.Admin, request(cookie(session), header("Origin", "https://evil.example")), "forbidden"},
			{"key from another site", httpd.Admin, request(bearer(admin), header("Sec-Fetch-Site", "cross-site")), ""},
			{"wrong key beside a session", httpd.Admin, request(bearer("svc_ak_x"), cookie(session)), "invalid_api_key"},
			{"made-up session", httpd.Admin, request(cookie("x")), "unauthorized"},
			{"two sessions", httpd.Admin, request(cookie(session), cookie(session)), "unauthorized"},
		} {
			t.Run(tc.name, func(t *testing.T) {
				if code, _ := decide(t, g, tc.policy, tc.req); code != tc.code {
					t.Fatalf("got %q, want %q", code, tc.code)
				}
			})
		}

		if _, p := decide(t, g, httpd.Admin, request(cookie(session))); p.Via != auth.ViaExchanged || p.User.Email != "admin@example.com" {
			t.Fatalf("got %+v", p)
		}
		must(t, users.Sessions.SignOut(ctx, session))
		if code, _ := decide(t, g, httpd.Admin, request(cookie(session))); code != "unauthorized" {
			t.Fatalf("after the sign-out: got %q", code)
		}
		session, _, err = users.Sessions.Exchange(ctx, admin, auth.Origin{})
		must(t, err)
		_, err = users.Reset(ctx, "admin@example.com")
		must(t, err)
		if code, _ := decide(t, g, httpd.Admin, request(cookie(session))); code != "unauthorized" {
			t.Fatalf("after the reset: got %q", code)
		}
	})
}

func TestSessionExpires(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	users := open(t, func() time.Time { return now })
	_, key, err := users.Create(t.Context(), "a@example.com", "A", auth.Admin)
	must(t, err)
	text, _, err := users.Sessions.Exchange(t.Context(), key, auth.Origin{})
	must(t, err)
	g := users.Guard(auth.Access{})
	for range 3 {
		// Each use moves the end.
		now = now.Add(29 * 24 * time.Hour)
		if code, _ := decide(t, g, httpd.Admin, request(cookie(text))); code != "" {
			t.Fatalf("got %q", code)
		}
	}
	now = now.Add(30*24*time.Hour + time.Second)
	if code, _ := decide(t, g, httpd.Admin, request(cookie(text))); code != "unauthorized" {
		t.Fatalf("got %q", code)
	}
	must(t, users.Sessions.Purge(t.Context()))
}

// TestCookieIsRenewed: a session that is used lasts longer, in the browser as well.
func TestCookieIsRenewed(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	users := open(t, func() time.Time { return now })
	_, key, err := users.Create(t.Context(), "a@example.com", "A", auth.Admin)
	must(t, err)
	text, _, err := users.Sessions.Exchange(t.Context(), key, auth.Origin{})
	must(t, err)
	g := users.Guard(auth.Access{})
	for _, step := range []struct {
		after time.Duration
		sent  bool
	}{{30 * time.Second, false}, {31 * time.Second, true}, {time.Second, false}, {24 * time.Hour, true}} {
		now = now.Add(step.after)
		w := httptest.NewRecorder()
		c, _ := gin.CreateTestContext(w)
		c.Request = request(cookie(text))
		must(t, g(c, "search", httpd.Route{Policy: httpd.Admin}))
		cookies := w.Result().Cookies()
		if step.sent != (len(cookies) == 1) || step.sent &&
			(cookies[0].Value != text || cookies[0].MaxAge != 30*24*3600 || !cookies[0].HttpOnly) {
			t.Fatalf("after %v: got %v", step.after, cookies)
		}
	}
}

// TestAnonymousDevelopment: unless it is asked for, nobody is let in for the address that a request comes from.
func TestAnonymousDevelopment(t *testing.T) {
	users := open(t, nil)
	unset := users.Guard(auth.Access{})
	always := users.Guard(auth.Access{Anonymous: true})
	named := users.Guard(auth.Access{Anonymous: true, PublicURL: "https://patchbay.example",
		BaseURLs: []string{"/mail", "https://search.example/x"}})
	listed := users.Guard(auth.Access{Anonymous: true, Forward: auth.Forward{UserHeader: "X-Forwarded-User", AllowedUser: "alice"}})
	for _, tc := range []struct {
		name string
		g    httpd.Guard
		req  *http.Request
		code string
	}{
		{"this machine", unset, request(), "unauthorized"},
		{"this machine by IPv6", unset, request(from("[::1]:5"), host("[::1]:50883")), "unauthorized"},
		{"another machine", unset, request(from("192.0.2.1:1")), "unauthorized"},
		{"set to true, from anywhere", always, request(from("192.0.2.1:1"), host("192.0.2.9:50883")), ""},
		{"set to true, by IPv6", always, request(host("[::1]:50883")), ""},
		{"set to true, localhost", always, request(host("localhost:50883")), ""},
		{"set to true, a name that resolves here", always, request(host("evil.example")), "unauthorized"},
		{"set to true, public_url", named, request(host("Patchbay.example:443")), ""},
		{"set to true, base_url", named, request(host("search.example")), ""},
		{"set to true, another name", named, request(host("evil.example")), "unauthorized"},
		{"set to true, another site", always, request(header("Sec-Fetch-Site", "cross-site")), "forbidden"},
		{"set to true, with an allowlist", listed, request(), "unauthorized"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if code, _ := decide(t, tc.g, httpd.Admin, tc.req); code != tc.code {
				t.Fatalf("got %q, want %q", code, tc.code)
			}
		})
	}
}

// TestDeveloperSessionEnds: with the first user, after a day, and where an allowlist says who is let in.
func TestDeveloperSessionEnds(t *testing.T) {
	each(t, func(t *testing.T, u *auth.Users, now *clock) {
		link, err := u.Links.CreateFirst(t.Context())
		must(t, err)
		text, p, err := u.LookAround(t.Context(), link, client)
		must(t, err)
		if !p.Admin() || p.HasAccount() || p.Strong() {
			t.Fatalf("got %+v", p)
		}
		plain := u.Guard(auth.Access{})
		listed := u.Guard(auth.Access{Forward: auth.Forward{UserHeader: "X-Forwarded-User", AllowedUser: "alice"}})
		with := func() *http.Request { return request(cookie(text)) }
		if code, p := decide(t, plain, httpd.Admin, with()); code != "" || p.User.Name != "developer" {
			t.Fatalf("got %q", code)
		}
		if code, _ := decide(t, listed, httpd.Admin, with()); code != "unauthorized" {
			t.Fatalf("with an allowlist: got %q", code)
		}
		now.add(24 * time.Hour)
		if code, _ := decide(t, plain, httpd.Admin, with()); code != "unauthorized" {
			t.Fatalf("after a day: got %q", code)
		}
		must(t, u.Purge(t.Context()))
		link, err = u.Links.CreateFirst(t.Context())
		must(t, err)
		text, _, err = u.LookAround(t.Context(), link, client)
		must(t, err)
		_, _, err = u.Create(t.Context(), "a@example.com", "A", auth.Member)
		must(t, err)
		if code, _ := decide(t, plain, httpd.Admin, with()); code != "unauthorized" {
			t.Fatalf("with a user: got %q", code)
		}
	})
}
