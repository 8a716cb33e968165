package app

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/gin-gonic/gin"

	"github.com/patchbay-dev/patchbay/core/auth"
	"github.com/patchbay-dev/patchbay/core/httpd"
	"github.com/patchbay-dev/patchbay/core/internal/testing/webtest"
	"github.com/patchbay-dev/patchbay/core/services/search"
	"github.com/patchbay-dev/patchbay/core/services/search/access"
)

// caller is somebody who makes requests.
type caller struct {
	name string
	// from is the address that the connection comes from.
	from   string
	header http.Header
	// may tells what a route of a service lets the caller do: "" or the code of the refusal.
	may func(service string, r httpd.Route) string
}

// confirmed reports whether the caller has a session with a check of the last minutes.
func (c caller) confirmed() bool { return c.name == "member" || c.name == "admin" || c.may == nil }

// scopedRoutes are the routes of the core that an API key for single services may use. TestScopedKeysSeeTheirServicesAlone shows what
// they tell.
var scopedRoutes = []string{"GET /system", "GET /system/live", "POST /system/steps/skip", "GET /system/find", "GET /system/docs", "GET /system/docs/*name",
	"GET /system/api/auth/session"}

const (
	proxyAddr    = "127.0.0.1"
	strangerAddr = "127.0.0.2"
)

// callers makes users, keys, sessions and tokens of all sorts.
func callers(t *testing.T, a *App) []caller {
	t.Helper()
	ctx := t.Context()
	from := auth.Origin{Address: "192.0.2.1"}
	token, err := a.users.Links.CreateFirst(ctx)
	must(t, err)
	adminCookie, admin, err := a.users.Links.Use(ctx, token, "admin@example.com", "Admin", from)
	must(t, err)
	member, memberKey, err := a.users.Create(ctx, "member@example.com", "Member", auth.Member)
	must(t, err)
	token, err = a.users.Links.CreateForUser(ctx, member.ID)
	must(t, err)
	memberCookie, _, err := a.users.Links.Use(ctx, token, "", "", from)
	must(t, err)
	gone, goneKey, err := a.users.Create(ctx, "gone@example.com", "Gone", auth.Admin)
	must(t, err)
	yes := true
	_, err = a.users.Change(ctx, gone.ID, auth.UserChange{Disabled: &yes})
	must(t, err)
	key := func(scopes ...string) string {
		_, text, err := a.users.Keys.Create(ctx, admin, auth.NewKey{Scopes: scopes})
		must(t, err)
		return text
	}
	adminKey, searchKey, mailKey, releasesKey, containersKey := key(), key("search"), key("mail"), key("releases"), key("containers")
	// A key that an earlier version has made, for a service that this core does not have.
	former, formerKey, err := a.users.Keys.Create(ctx, admin, auth.NewKey{Scopes: []string{"search"}})
	must(t, err)
	must(t, a.store.Tx(ctx, "write a former scope", func(ctx context.Context) error {
		return a.store.Writer(ctx).Exec(`UPDATE api_keys SET scopes = 'former' WHERE id = ?`, former.ID).Error
	}))
	exchanged, _, err := a.users.Sessions.Exchange(ctx, adminKey, from)
	must(t, err)
	accessToken, err := search.NewAdmin(a.store, a.keyring, nil).CreateToken(ctx, access.NewToken{Note: "test"})
	must(t, err)

	all := func(string, httpd.Route) string { return "" }
	never := func(code string) func(string, httpd.Route) string {
		return func(string, httpd.Route) string { return code }
	}
	// A member may do what needs no administrator.
	asMember := func(_ string, r httpd.Route) string {
		if r.Policy == httpd.Admin || r.Policy == httpd.Forward {
			return "forbidden"
		}
		return ""
	}
	// A key is not enough for what needs a sign-in.
	byKey := func(may func(string, httpd.Route) string) func(string, httpd.Route) string {
		return func(service string, r httpd.Route) string {
			if r.Policy == httpd.Session {
				return "forbidden"
			}
			return may(service, r)
		}
	}
	// A key with scopes is for those services, and of the core for what the route declares: a page or a form as well as the API.
	scoped := func(scope string) func(string, httpd.Route) string {
		return byKey(func(service string, r httpd.Route) string {
			if service == httpd.CoreService && !slices.Contains(scopedRoutes, r.Method+" "+r.Path) || service != httpd.CoreService &&
				service != scope {
				return "forbidden"
			}
			return ""
		})
	}
	cookie := func(v string) http.Header { return http.Header{"Cookie": {auth.SessionCookie + "=" + v}} }
	bearer := func(v string) http.Header { return http.Header{"Authorization": {"Bearer " + v}} }
	person := func(v string) http.Header {
		return http.Header{"X-Forwarded-User": {v}, "X-Forwarded-For": {"192.0.2.1"}}
	}
	return []caller{
		{"anonymous", proxyAddr, http.Header{}, never("unauthorized")},
		{"anonymous with a forwarding header", proxyAddr, http.Header{"X-Forwarded-For": {"127.0.0.1"}}, never("unauthorized")},
		{"member", proxyAddr, cookie(memberCookie), asMember},
		{"admin", proxyAddr, cookie(adminCookie), all},
		{"API key of an admin", proxyAddr, bearer(adminKey), byKey(all)},
		{"API key of a member", proxyAddr, bearer(memberKey), byKey(asMember)},
		{"API key with the scope search", proxyAddr, bearer(searchKey), scoped("search")},
		{"API key with the scope mail", proxyAddr, bearer(mailKey), scoped("mail")},
		{"API key with the scope releases", proxyAddr, bearer(releasesKey), scoped("releases")},
		{"API key with a former scope", proxyAddr, bearer(formerKey), scoped("former")},
		{"API key with the scope containers", proxyAddr, bearer(containersKey), scoped("containers")},
		{"session from an API key", proxyAddr, cookie(exchanged), byKey(all)},
		{"access token", proxyAddr, bearer(accessToken), never("invalid_api_key")},
		{"forward identity, allowed", proxyAddr, person("alice"), all},
		{"forward identity, not allowed", proxyAddr, person("mallory"), never("unauthorized")},
		{"forward identity, from an untrusted address", strangerAddr, person("alice"), never("unauthorized")},
		{"disabled user", proxyAddr, bearer(goneKey), never("account_disabled")},
		{"session of an admin, from another site", proxyAddr, func() http.Header {
			h := cookie(adminCookie)
			h.Set("Sec-Fetch-Site", "cross-site")
			return h
		}(), nil},
	}
}

var clientNumber atomic.Int64

// send makes a request from the caller's address and returns the status and the code of the body.
func (c caller) send(t *testing.T, base, method, path string) (int, string) {
	t.Helper()
	dial := &net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(c.from)}}
	tr := &http.Transport{DialContext: dial.DialContext, DisableKeepAlives: true}
	var body io.Reader
	if method != http.MethodGet && method != http.MethodHead {
		body = strings.NewReader("{}")
	}
	req, err := http.NewRequestWithContext(t.Context(), method, base+path, body)
	must(t, err)
	req.Header = c.header.Clone()
	if h := req.Header.Get("Host"); h != "" {
		req.Host = h
	}
	req.Header.Set("Content-Type", "application/json")
	if req.Header.Get("Authorization") != "" {
		// Wrong keys are counted by client, and this is not about that.
		client := clientNumber.Add(1)
		req.Header.Set("X-Forwarded-For", fmt.Sprintf("10.0.%d.%d", client/256, client%256))
	}
	req.Header.Set("Accept", "application/json")
	res, err := tr.RoundTrip(req)
	must(t, err)
	defer func() { _ = res.Body.Close() }()
	if refused := res.StatusCode == http.StatusUnauthorized; refused != (res.Header.Get("WWW-Authenticate") == "Bearer") {
		t.Errorf("%s %s: %d with WWW-Authenticate %q", method, path, res.StatusCode, res.Header.Get("WWW-Authenticate"))
	}
	var answer struct{ Code string }
	_ = json.NewDecoder(res.Body).Decode(&answer)
	return res.StatusCode, answer.Code
}

// reached is the status of handlers that only tell that they were reached.
const reached = 299

// exposed puts the routes of the product behind the product's guard, with handlers that do nothing.
func exposed(t *testing.T, a *App) (base string, mounts []httpd.Mount) {
	t.Helper()
	mounts, err := a.buildMounts(a.set)
	must(t, err)
	for i := range mounts {
		routes := slices.Clone(mounts[i].Routes)
		for j := range routes {
			routes[j].Handler = func(c *gin.Context) { c.Status(reached); c.Writer.WriteHeaderNow() }
		}
		mounts[i].Routes, mounts[i].Errors = routes, nil
	}
	h := webtest.Serve(t, httpd.Options{Guard: a.users.Guard(a.set.Access(a.clients)), Clients: a.clients}, mounts...)
	return "http://" + h.Addr(), mounts
}

// concrete fills the parameters of a path.
func concrete(base, path string) string {
	parts := strings.Split(strings.TrimSuffix(base, "/")+path, "/")
	for i, p := range parts {
		if strings.HasPrefix(p, ":") || strings.HasPrefix(p, "*") {
			parts[i] = "x"
		}
	}
	return strings.Join(parts, "/")
}

// refusal is the code of a refusal on a route: services behind a proxy that signs people in have a word of their own for
// nobody.
func refusal(p httpd.Policy, code string) string {
	if p == httpd.Forward && code == "unauthorized" {
		return "auth_required"
	}
	return code
}

// TestWhoMayDoWhat walks every route of the product with every sort of caller and compares what happens with the policy
// that the route declares.
func TestWhoMayDoWhat(t *testing.T) {
	a := startApp(t, map[string]string{
		"SVC_AUTH_ALLOW_ANONYMOUS_IN_DEV": "false", "SVC_AUTH_ALLOWED_USER": "alice", "SVC_AUTH_TRUSTED_PROXIES": proxyAddr,
	})
	base, mounts := exposed(t, a)
	all := callers(t, a)
	n := 0
	for _, m := range mounts {
		for _, r := range m.Routes {
			path := concrete(m.BaseURL, r.Path)
			for _, c := range all {
				n++
				status, code := c.send(t, base, r.Method, path)
				want := ""
				switch r.Policy {
				case httpd.Session, httpd.Admin, httpd.APIKey, httpd.Forward:
					switch {
					case c.may != nil:
						want = c.may(m.Service, r)
					case r.Method != http.MethodGet && r.Method != http.MethodHead && r.Method != http.MethodOptions:
						want = "forbidden"
					}
				}
				if want = refusal(r.Policy, want); want == "" && r.Confirm && !c.confirmed() {
					want = "forbidden"
				}
				if r.Method == http.MethodHead {
					// An answer without a body has no code.
					code = want
				}
				if code != want || (want == "") != (status == reached) {
					t.Errorf("%s %s (%s): %s gets %d %q, want %q", r.Method, path, r.Policy, c.name, status, code, want)
				}
			}
		}
	}
	if n < 500 {
		t.Errorf("only %d combinations were tried", n)
	}
}

// TestAccessTokenRoutes: routes that check the token themselves take the access token of their service and nothing else. The callers
// have one of the search service.
func TestAccessTokenRoutes(t *testing.T) {
	a := startApp(t, map[string]string{
		"SVC_AUTH_ALLOW_ANONYMOUS_IN_DEV": "false", "SVC_AUTH_ALLOWED_USER": "alice", "SVC_AUTH_TRUSTED_PROXIES": proxyAddr,
	})
	mounts, err := a.buildMounts(a.set)
	must(t, err)
	all, n := callers(t, a), 0
	for _, m := range mounts {
		for _, r := range m.Routes {
			if r.Policy != httpd.AccessToken {
				continue
			}
			n++
			for _, c := range all {
				status, code := c.send(t, "http://"+a.Addr(), r.Method, concrete(m.BaseURL, r.Path))
				takes := c.name == "access token" && m.Service == "search"
				if refused := status == http.StatusUnauthorized; refused == takes && status != http.StatusMethodNotAllowed {
					t.Errorf("%s %s: %s gets %d %q", r.Method, r.Path, c.name, status, code)
				}
			}
		}
	}
	if n < 7 {
		t.Errorf("there are only %d such routes", n)
	}
}

// TestScopedKeysSeeTheirServicesAlone: what the core shows to an administrator's API key for one service names no user, no plugin, no
// instance, and nothing of another service.
func TestScopedKeysSeeTheirServicesAlone(t *testing.T) {
	a := startApp(t, map[string]string{"SVC_AUTH_ALLOW_ANONYMOUS_IN_DEV": "false", "SVC_AUTH_ALLOWED_USER": "alice",
		"SVC_AUTH_TRUSTED_PROXIES": proxyAddr})
	all := callers(t, a)
	read := func(name, target string) string {
		c := all[slices.IndexFunc(all, func(c caller) bool { return c.name == name })]
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+a.Addr()+target, nil)
		must(t, err)
		req.Header = c.header.Clone()
		res, err := http.DefaultClient.Do(req)
		must(t, err)
		body, err := io.ReadAll(res.Body)
		must(t, err)
		must(t, res.Body.Close())
		if res.StatusCode != http.StatusOK {
			t.Errorf("%s: %s gets %d", target, name, res.StatusCode)
		}
		return string(body)
	}
	secrets := []string{"member@example.com", "testsearch", "engine.main", "/system/users", "/system/plugins", "/search/tokens", "/releases/",
		"/stacks"}
	whole := ""
	for _, target := range []string{"/system", "/system/find", "/system/find?q=e", "/system/find?q=main",
		"/system/find?q=member&part=options"} {
		whole += read("API key of an admin", target)
		seen := read("API key with the scope mail", target)
		for _, secret := range secrets {
			if strings.Contains(seen, secret) {
				t.Errorf("%s shows %q to a key for mail", target, secret)
			}
		}
	}
	for _, secret := range append(secrets, "/mail/") {
		if !strings.Contains(whole, secret) {
			t.Errorf("an administrator does not see %q either", secret)
		}
	}
	if seen := read("API key with the scope mail", "/system"); !strings.Contains(seen, "/mail") {
		t.Error("a key for mail does not see mail")
	}
}
