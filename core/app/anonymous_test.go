package app

import (
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/patchbay-dev/patchbay/core/httpd"
	"github.com/patchbay-dev/patchbay/core/internal/testing/testkit"
)

// guardedRoutes calls f for each route that a guard stands before.
func guardedRoutes(mounts []httpd.Mount, f func(m httpd.Mount, r httpd.Route)) {
	for _, m := range mounts {
		for _, r := range m.Routes {
			switch r.Policy {
			case httpd.Session, httpd.Admin, httpd.APIKey, httpd.Forward:
				f(m, r)
			}
		}
	}
}

// refusesNobody checks that each route refuses a request without an identity that is sent to an address.
func refusesNobody(t *testing.T, at string, mounts []httpd.Mount) {
	t.Helper()
	guardedRoutes(mounts, func(m httpd.Mount, r httpd.Route) {
		want := refusal(r.Policy, "unauthorized")
		nobody := caller{from: proxyAddr, header: http.Header{}}
		if status, code := nobody.send(t, at, r.Method, concrete(m.BaseURL, r.Path)); status != http.StatusUnauthorized || code != want &&
			r.Method != http.MethodHead {
			t.Errorf("%s %s: got %d %q, want %q", r.Method, r.Path, status, code, want)
		}
	})
}

// TestNobodyIsLetInByAddress walks every route of a fresh installation: directly from this machine, and behind a proxy on this
// machine that adds no header.
func TestNobodyIsLetInByAddress(t *testing.T) {
	base, mounts := exposed(t, startApp(t, nil))
	core, err := url.Parse(base)
	must(t, err)
	proxy := httptest.NewServer(&httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(core) }})
	defer proxy.Close()
	refusesNobody(t, base, mounts)
	refusesNobody(t, proxy.URL, mounts)
}

// TestNobodyIsLetInBehindNginx does the same behind nginx with nothing but proxy_pass.
func TestNobodyIsLetInBehindNginx(t *testing.T) {
	binary, err := exec.LookPath("nginx")
	testkit.Require(t, "nginx", err == nil, "apt-get install nginx-light")
	base, mounts := exposed(t, startApp(t, nil))
	port, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	addr := port.Addr().String()
	must(t, port.Close())
	dir := t.TempDir()
	conf := filepath.Join(dir, "nginx.conf")
	text := fmt.Sprintf(`daemon off; master_process off; user root; pid %[1]s/pid; error_log %[1]s/error.log;
events {}
http {
  access_log off; client_body_temp_path %[1]s/body; proxy_temp_path %[1]s/proxy; fastcgi_temp_path %[1]s/fastcgi;
  uwsgi_temp_path %[1]s/uwsgi; scgi_temp_path %[1]s/scgi;
  server { listen %[2]s; location / { proxy_pass %[3]s; } }
}
`, dir, addr, base)
	must(t, os.WriteFile(conf, []byte(text), 0o600))
	cmd := exec.Command(binary, "-p", dir, "-c", conf)
	must(t, cmd.Start())
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	testkit.Eventually(t, 10*time.Second, func() bool {
		conn, err := net.Dial("tcp", addr)
		if err == nil {
			_ = conn.Close()
		}
		return err == nil
	}, "nginx listens")
	refusesNobody(t, "http://"+addr, mounts)
}

// TestAnonymousDevelopment walks every route without an identity where the setting lets everybody in: another site is kept out
// from what changes something.
func TestAnonymousDevelopment(t *testing.T) {
	a := startApp(t, map[string]string{"SVC_AUTH_ALLOW_ANONYMOUS_IN_DEV": "true"})
	base, mounts := exposed(t, a)
	foreign := []caller{
		{name: "another site", header: http.Header{"Sec-Fetch-Site": {"cross-site"}}},
		{name: "another origin", header: http.Header{"Origin": {"http://rebind.example"}}},
	}
	guardedRoutes(mounts, func(m httpd.Mount, r httpd.Route) {
		path := concrete(m.BaseURL, r.Path)
		nobody := caller{from: strangerAddr, header: http.Header{}}
		if status, code := nobody.send(t, base, r.Method, path); (status == reached) == r.Confirm {
			t.Errorf("%s %s: got %d %q", r.Method, r.Path, status, code)
		}
		for _, c := range foreign {
			c.from = proxyAddr
			want := "forbidden"
			if !r.Confirm && (r.Method == http.MethodGet || r.Method == http.MethodHead) {
				want = ""
			}
			if status, code := c.send(t, base, r.Method, path); code != want || (want == "") != (status == reached) {
				t.Errorf("%s %s: %s gets %d %q, want %q", r.Method, r.Path, c.name, status, code, want)
			}
		}
	})
}
