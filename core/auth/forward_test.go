package auth_test

import (
	"net/http"
	"testing"

	"github.com/patchbay-dev/patchbay/core/auth"
	"github.com/patchbay-dev/patchbay/core/httpd"
)

func TestForwardedIdentity(t *testing.T) {
	users := open(t, nil)
	f := auth.Forward{UserHeader: "X-Forwarded-User", GroupHeader: "Remote-Groups", AllowedUser: "alice", AllowedGroup: "ops"}
	g := users.Guard(auth.Access{Forward: f, Anonymous: true, Trusted: clients(t, "10.0.0.0/8")})
	proxy := from("10.1.2.3:1")
	user := func(v ...string) func(*http.Request) { return header("X-Forwarded-User", v...) }
	for _, tc := range []struct {
		name string
		req  *http.Request
		code string
	}{
		{"allowed user", request(proxy, user("alice")), ""},
		{"allowed group", request(proxy, user("bob"), header("Remote-Groups", "dev, ops")), ""},
		{"neither", request(proxy, user("bob"), header("Remote-Groups", "dev,opsx")), "auth_required"},
		{"untrusted peer", request(from("192.0.2.1:1"), user("alice")), "auth_required"},
		{"empty", request(proxy, user("")), "auth_required"},
		{"twice", request(proxy, user("alice", "alice")), "auth_required"},
		{"a variable that the proxy did not fill in", request(proxy, user("{http.reverse_proxy.header.Remote-User}")), "auth_required"},
		{"what proxies write for nobody", request(proxy, user("-")), "auth_required"},
		{"a variable of nginx", request(proxy, user("$remote_user")), "auth_required"},
		{"a variable in braces", request(proxy, user("{user}")), "auth_required"},
		{"a variable of httpd", request(proxy, user("%{REMOTE_USER}e")), "auth_required"},
		{"another spelling beside it", request(proxy, user("alice"), header("X_Forwarded_User", "mallory")), "auth_required"},
		{"another spelling alone", request(proxy, header("X_Forwarded_User", "alice")), "auth_required"},
		{"nobody, although anonymous access is on", request(), "auth_required"},
		{"from another site", request(proxy, user("alice"), header("Sec-Fetch-Site", "cross-site")), "forbidden"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			code, p := decide(t, g, httpd.Forward, tc.req)
			if code != tc.code {
				t.Fatalf("got %q, want %q", code, tc.code)
			}
			if code == "" && (!p.Admin() || p.User.ID == "") {
				t.Fatalf("got %+v", p)
			}
		})
	}
	all, err := users.List(t.Context())
	must(t, err)
	if len(all) != 2 {
		t.Fatalf("each identity is one user: got %+v", all)
	}
}

// TestUnfilledVariablesAreNoNames: what is no name for a user is none for a group, and an allowlist that names one lets nobody in.
func TestUnfilledVariablesAreNoNames(t *testing.T) {
	for _, name := range []string{"-", "$remote_user", "{user}", "{http.auth.user.id}", "(null)"} {
		f := auth.Forward{UserHeader: "X-Forwarded-User", GroupHeader: "Remote-Groups", AllowedUser: name, AllowedGroup: name}
		g := open(t, nil).Guard(auth.Access{Forward: f, Trusted: clients(t, "10.0.0.0/8")})
		for _, r := range []*http.Request{
			request(from("10.1.2.3:1"), header("X-Forwarded-User", name)),
			request(from("10.1.2.3:1"), header("X-Forwarded-User", "bob"), header("Remote-Groups", name)),
		} {
			if code, _ := decide(t, g, httpd.Forward, r); code != "auth_required" {
				t.Errorf("%s: got %q", name, code)
			}
		}
	}
}

// TestForwardedRoleFollowsTheHeader: who is no longer allowed loses the role with everything that was made meanwhile, and
// gets it back with the next visit that is allowed.
func TestForwardedRoleFollowsTheHeader(t *testing.T) {
	each(t, func(t *testing.T, u *auth.Users, _ *clock) {
		f := auth.Forward{UserHeader: "X-Forwarded-User", GroupHeader: "Remote-Groups", AllowedGroup: "ops"}
		access := auth.Access{Forward: f, Trusted: clients(t, "10.0.0.0/8")}
		g := u.Guard(access)
		visit := func(groups string) *http.Request {
			return request(from("10.1.2.3:1"), header("X-Forwarded-User", "bob"), header("Remote-Groups", groups))
		}
		code, bob := decide(t, g, httpd.Forward, visit("ops"))
		if code != "" {
			t.Fatalf("got %q", code)
		}
		_, key, err := u.Keys.Create(t.Context(), bob, auth.NewKey{})
		must(t, err)
		session, _, err := u.Sessions.Exchange(t.Context(), key, client)
		must(t, err)
		check := func(when, want string) {
			t.Helper()
			for name, r := range map[string]*http.Request{"key": request(bearer(key)), "session": request(cookie(session))} {
				if code, _ := decide(t, g, httpd.Admin, r); code != want {
					t.Errorf("%s: the %s gets %q, want %q", when, name, code, want)
				}
			}
		}
		check("while he is in the group", "")
		if code, _ := decide(t, g, httpd.Forward, visit("dev")); code != "auth_required" {
			t.Fatalf("without the group: got %q", code)
		}
		check("after a visit without the group", "forbidden")
		if code, _ := decide(t, g, httpd.Forward, visit("ops")); code != "" {
			t.Fatalf("got %q", code)
		}
		check("after a visit with the group", "")
		// The session itself arrives with a header that no longer has the group.
		r := visit("dev")
		r.AddCookie(auth.Cookie(session, false))
		if code, _ := decide(t, g, httpd.Admin, r); code != "forbidden" {
			t.Fatalf("got %q", code)
		}
		if code, _ := decide(t, g, httpd.Forward, visit("ops")); code != "" {
			t.Fatalf("got %q", code)
		}
		// Without an allowlist, and with one that names others, nothing upholds the role.
		for _, other := range []auth.Forward{{}, {UserHeader: "X-Forwarded-User", AllowedUser: "alice"}} {
			changed := u.Guard(auth.Access{Forward: other, Trusted: access.Trusted})
			if code, _ := decide(t, changed, httpd.Admin, request(bearer(key))); code != "forbidden" {
				t.Errorf("allowlist %+v: got %q", other, code)
			}
		}
	})
}

// TestForwardedMemberKeepsTheOwnRole: a user who was made here is an administrator for the visit alone, and is not demoted.
func TestForwardedMemberKeepsTheOwnRole(t *testing.T) {
	users := open(t, nil)
	_, adminKey, err := users.Create(t.Context(), "ann@example.com", "Ann", auth.Admin)
	must(t, err)
	_, memberKey, err := users.Create(t.Context(), "max@example.com", "Max", auth.Member)
	must(t, err)
	f := auth.Forward{UserHeader: "X-Forwarded-User", AllowedUser: "max@example.com"}
	g := users.Guard(auth.Access{Forward: f, Trusted: clients(t, "10.0.0.0/8")})
	visit := func(name string) string {
		code, _ := decide(t, g, httpd.Forward, request(from("10.1.2.3:1"), header("X-Forwarded-User", name)))
		return code
	}
	if a, b := visit("ann@example.com"), visit("max@example.com"); a != "auth_required" || b != "" {
		t.Fatalf("got %q, %q", a, b)
	}
	for key, want := range map[string]string{adminKey: "", memberKey: "forbidden"} {
		if code, _ := decide(t, g, httpd.Admin, request(bearer(key))); code != want {
			t.Errorf("got %q, want %q", code, want)
		}
	}
}

// TestProxySecret: with one configured, identity headers count only beside it.
func TestProxySecret(t *testing.T) {
	f := auth.Forward{UserHeader: "X-Forwarded-User", AllowedUser: "alice", Secret: "0123456789abcdef"}
	g := open(t, nil).Guard(auth.Access{Forward: f, Trusted: clients(t, "127.0.0.0/8")})
	alice := header("X-Forwarded-User", "alice")
	for name, tc := range map[string]struct {
		shown []string
		code  string
	}{
		"right": {[]string{f.Secret}, ""}, "none": {nil, "auth_required"}, "wrong": {[]string{f.Secret + "x"}, "auth_required"},
		"empty": {[]string{""}, "auth_required"},
		"twice": {[]string{f.Secret, f.Secret}, "auth_required"},
	} {
		if code, _ := decide(t, g, httpd.Forward, request(alice, header(auth.HeaderProxySecret, tc.shown...))); code != tc.code {
			t.Errorf("%s: got %q, want %q", name, code, tc.code)
		}
	}
}

// TestTrustsOpenLoopback is the condition of the warning.
func TestTrustsOpenLoopback(t *testing.T) {
	listed := auth.Forward{UserHeader: "X-Forwarded-User", AllowedUser: "alice"}
	guarded := listed
	guarded.Secret = "0123456789abcdef"
	for _, tc := range []struct {
		forward auth.Forward
		trusted string
		addr    string
		want    bool
	}{
		{listed, "127.0.0.0/8", "0.0.0.0:50883", true}, {listed, "::1/128", "[::]:50883", true}, {listed, "127.0.0.0/8", ":50883", true},
		{listed, "127.0.0.0/8", "127.0.0.1:50883", false}, {listed, "10.0.0.0/8", "0.0.0.0:50883", false},
		{guarded, "127.0.0.0/8", "0.0.0.0:50883", false}, {auth.Forward{}, "127.0.0.0/8", "0.0.0.0:50883", false},
	} {
		if got := (auth.Access{Forward: tc.forward, Trusted: clients(t, tc.trusted)}).TrustsOpenLoopback(tc.addr); got != tc.want {
			t.Errorf("%+v: got %v", tc, got)
		}
	}
}
