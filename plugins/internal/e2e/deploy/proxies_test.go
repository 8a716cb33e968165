package deploy

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/patchbay-dev/patchbay/plugins/internal/dockertest"
	"github.com/patchbay-dev/patchbay/plugins/internal/e2e/kit"
	"github.com/patchbay-dev/patchbay/plugins/internal/testkit"
)

// startIdentityProvider starts a provider that knows the people by a cookie, and returns its address.
func startIdentityProvider(t *testing.T) string {
	provider := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		who, err := r.Cookie("identity")
		if err != nil || r.URL.Path != "/api/verify" || r.Method != http.MethodGet {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		w.Header().Set("Remote-User", who.Value)
	}))
	t.Cleanup(provider.Close)
	return strings.TrimPrefix(provider.URL, "http://")
}

// startCaddy runs Caddy with the example's file, changed to the addresses of the test.
func startCaddy(t *testing.T, address string, change *strings.Replacer) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(kit.Root(), "examples/deploy/caddy/Caddyfile"))
	kit.Must(t, err)
	kit.StartProxy(t, http.DefaultClient, "http://"+address+"/api/health", kit.CaddyCommand(t, t.TempDir(), change.Replace(string(text))))
}

var (
	certificates = regexp.MustCompile(`(?m)^\s*ssl_certificate.*$`)
	httpsListen  = regexp.MustCompile(`listen 443 ssl`)
)

// startNginx runs nginx with the example's file, changed to the addresses of the test and without TLS.
func startNginx(t *testing.T, address string, change *strings.Replacer) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(kit.Root(), "examples/deploy/nginx/patchbay.conf"))
	kit.Must(t, err)
	dir := t.TempDir()
	secret := filepath.Join(dir, "patchbay-secret.conf")
	kit.Must(t, os.WriteFile(secret, []byte(fmt.Sprintf("set $patchbay_secret %q;\n", kit.ProxySecret)), 0o600))
	conf := strings.ReplaceAll(change.Replace(string(text)), "/etc/nginx/patchbay-secret.conf", secret)
	conf = httpsListen.ReplaceAllString(certificates.ReplaceAllString(conf, ""), "listen "+address)
	kit.StartProxy(t, http.DefaultClient, "http://"+address+"/api/health", kit.NginxCommand(t, dir, conf))
}

// TestDeploymentBehindProxies starts the core and the supervisor behind the proxies of the examples, and makes the deployment's checks
// from outside, in containers on another network: what is public, what is not, and that nobody names himself.
func TestDeploymentBehindProxies(t *testing.T) {
	t.Parallel()
	bin := dockertest.NewestCompose(t)
	env := []string{"SVC_AUTH_ALLOWED_USER=ops@example.org", "SVC_AUTH_PROXY_SECRET=" + kit.ProxySecret, "SVC_AUTH_ALLOW_ANONYMOUS_IN_DEV=false",
		"SVC_SUPERVISOR_HTTP_ADDR=127.0.0.1:0"}
	c := kit.StartCore(t, kit.ContainersHCL(bin.Path, ""), env...)
	s := &kit.Supervised{Core: kit.NewCore(t, "engine \"docker\" \"local\" {}\nsupervisor {}\n", env...)}
	s.Command = "supervise"
	s.Start()
	t.Cleanup(s.Stop)
	provider := startIdentityProvider(t)
	network, host := dockertest.Network(t)
	outside := dockertest.Client(t, network)
	for _, direct := range []*kit.Core{c, s.Core} {
		address := net.JoinHostPort(host, direct.Base[strings.LastIndex(direct.Base, ":")+1:])
		if resp, err := outside.Get("http://" + address + "/api/health"); err == nil {
			_ = resp.Body.Close()
			t.Errorf("%s is reached without a proxy: %d", direct.Command, resp.StatusCode)
		}
	}
	for name, start := range map[string]func(*testing.T, string, *strings.Replacer){"caddy": startCaddy, "nginx": startNginx} {
		t.Run(name, func(t *testing.T) {
			address := net.JoinHostPort(host, strconv.Itoa(testkit.FreePort(t)))
			start(t, address, strings.NewReplacer("127.0.0.1:50883", strings.TrimPrefix(c.Base, "http://"), "127.0.0.1:50884",
				strings.TrimPrefix(s.Base, "http://"), "127.0.0.1:9091", provider,
				"patchbay.example.com {", "http://"+address+" {"))
			for path, want := range map[string]int{"/api/health": 200, "/api/version": 200, "/api/deploy-check/report": 401, "/stacks": 401,
				"/supervisor/health": 401, "/supervisor/version": 401, "/supervisor/self-upgrade": 401} {
				checkProxied(t, outside, address, path, nil, want)
				checkProxied(t, outside, address, path, http.Header{"X-Forwarded-User": {"ops@example.org"}, "Remote-User": {"ops@example.org"},
					"X-Patchbay-Proxy-Secret": {kit.ProxySecret}}, want)
				checkProxied(t, outside, address, path, http.Header{"Cookie": {"identity=ops@example.org"}}, 200)
			}
			checkProxied(t, outside, address, "/supervisor/", http.Header{"Cookie": {"identity=ops@example.org"}}, 200)
			checkProxied(t, outside, address, "/api/deploy-check/report", http.Header{"Cookie": {"identity=somebody@example.org"}}, 401)
			checkProxied(t, outside, address, "/supervisor/health", http.Header{"Cookie": {"identity=somebody@example.org"}}, 401)
		})
	}
}

// checkProxied sends a request through a proxy and expects a status; 401 has its code.
func checkProxied(t *testing.T, client *http.Client, address, path string, header http.Header, want int) {
	t.Helper()
	req, err := http.NewRequest(http.MethodGet, "http://"+address+path, nil)
	kit.Must(t, err)
	for name, values := range header {
		req.Header[name] = values
	}
	resp, err := client.Do(req)
	kit.Must(t, err)
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	kit.Must(t, err)
	// The report of the deploy check is made when it is asked for first.
	got := resp.StatusCode
	if got == http.StatusAccepted {
		got = http.StatusOK
	}
	if got != want || want == http.StatusUnauthorized && path != "/stacks" && !strings.Contains(string(body), `"auth_required"`) {
		t.Errorf("%s with %v: %d, want %d: %.200s", path, header, got, want, body)
	}
}
