package app

import (
	"net/http"
	"testing"

	"github.com/patchbay-dev/patchbay/core/auth"
	"github.com/patchbay-dev/patchbay/core/httpd"
)

// TestAnonymousDevelopment walks every route without an identity while there is no user: this machine is let in; a page of
// another site, a name that points here, and a proxy are not. With the first user it is over.
func TestAnonymousDevelopment(t *testing.T) {
	a := startApp(t, map[string]string{"SVC_AUTH_TRUSTED_PROXIES": "127.0.0.0/8"})
	base, mounts := exposed(t, a)
	nobody := []struct {
		caller
		before string
	}{
		{caller{name: "this machine", header: http.Header{}}, ""},
		{caller{name: "through a proxy", header: http.Header{"X-Forwarded-For": {"127.0.0.1"}}}, "unauthorized"},
		{caller{name: "through a proxy that says only its own name", header: http.Header{"Via": {"1.1 proxy"}}}, "unauthorized"},
		{caller{name: "a name that points here", header: http.Header{"Host": {"rebind.example"}}}, "unauthorized"},
		{caller{name: "a forwarded identity, of which nobody is allowed", header: http.Header{"X-Forwarded-User": {"alice"}}}, "unauthorized"},
		{caller{name: "another site", header: http.Header{"Sec-Fetch-Site": {"cross-site"}}}, "forbidden"},
		{caller{name: "another origin", header: http.Header{"Origin": {"http://rebind.example"}}}, "forbidden"},
	}
	walk := func(users bool) {
		t.Helper()
		for _, m := range mounts {
			for _, r := range m.Routes {
				switch r.Policy {
				case httpd.Session, httpd.Admin, httpd.APIKey, httpd.Forward:
				default:
					continue
				}
				for _, c := range nobody {
					c.from = proxyAddr
					want := c.before
					if want == "forbidden" && (r.Method == http.MethodGet || r.Method == http.MethodHead) {
						want = ""
					}
					if users {
						want = "unauthorized"
					}
					want = refusal(r.Policy, want)
					if status, code := c.send(t, base, r.Method, concrete(m.BaseURL, r.Path)); code != want || (want == "") != (status == reached) {
						t.Errorf("%s %s: %s gets %d %q, want %q", r.Method, r.Path, c.name, status, code, want)
					}
				}
			}
		}
	}
	walk(false)
	_, _, err := a.users.Create(t.Context(), "ann@example.com", "Ann", auth.Member)
	must(t, err)
	walk(true)
}
