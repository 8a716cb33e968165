package httpx_test

import (
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/patchbay-dev/patchbay/plugins/internal/httpx"
	"github.com/patchbay-dev/patchbay/sdk/errs"
)

func newGuard(t *testing.T, cfg httpx.GuardConfig) *httpx.Guard {
	t.Helper()
	g, err := httpx.NewGuard(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func TestGuardRefuses(t *testing.T) {
	c := newClient(t, httpx.Config{Guard: newGuard(t, httpx.GuardConfig{})})
	for _, raw := range []string{
		"http://127.0.0.1/", "http://localhost/", "http://127.1/", "http://2130706433/", "http://0x7f000001/", "http://0/",
		"http://10.0.0.1/", "http://172.16.0.1/", "http://192.168.1.1/", "http://169.254.169.254/latest/meta-data",
		"http://100.64.0.1/", "http://0.0.0.0/", "http://224.0.0.1/", "http://255.255.255.255/", "http://[::1]/", "http://[::]/",
		"http://[fe80::1]/", "http://[fe80::1%25lo]/", "http://[fc00::1]/", "http://[::ffff:127.0.0.1]/", "http://[::ffff:a00:1]/",
		"http://[64:ff9b::7f00:1]/", "http://[2002:7f00:1::]/", "http://8.8.8.8:22/", "http://example.org:6379/",
		"http://user:geheim@example.org/", "ftp://example.org/", "file:///etc/passwd", "gopher://example.org/",
	} {
		_, err := get(t, c, raw)
		if err == nil {
			t.Errorf("%s was fetched", raw)
			continue
		}
		// Some spellings are an address to one resolver and an unknown name to another.
		e := errs.From(err)
		if e.Reason != httpx.ReasonRefused && e.Reason != errs.ReasonConnect {
			t.Errorf("%s: %v", raw, err)
		}
		if strings.Contains(e.Message, "geheim") {
			t.Errorf("%s: message shows the password", raw)
		}
	}
}

// server returns a server on loopback and its host:port.
func server(t *testing.T, h http.Handler) (*httptest.Server, string) {
	t.Helper()
	srv := httptest.NewServer(h)
	t.Cleanup(srv.Close)
	return srv, strings.TrimPrefix(srv.URL, "http://")
}

func TestGuardRedirect(t *testing.T) {
	hits := 0
	_, inner := server(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		hits++
		_, _ = io.WriteString(w, "inner")
	}))
	for _, target := range []string{
		"http://" + inner + "/", "http://localhost:" + strings.Split(inner, ":")[1] + "/", "http://169.254.169.254/", "file:///etc/passwd",
	} {
		_, outer := server(t, http.RedirectHandler(target, http.StatusFound))
		c := newClient(t, httpx.Config{MaxRedirects: 5, Guard: newGuard(t, httpx.GuardConfig{Allow: []string{outer}})})
		_, err := get(t, c, "http://"+outer+"/")
		wantReason(t, err, httpx.ReasonRefused)
	}
	if hits > 0 {
		t.Errorf("the inner server was reached %d times", hits)
	}
}

func TestGuardAllows(t *testing.T) {
	srv, addr := server(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "ok") }))
	port := strings.Split(addr, ":")[1]
	for _, allow := range []string{addr, "localhost:" + port, "LOCALHOST.:" + port} {
		c := newClient(t, httpx.Config{Guard: newGuard(t, httpx.GuardConfig{Allow: []string{allow}})})
		raw := srv.URL
		if allow != addr {
			raw = "http://localhost:" + port
		}
		if res, err := get(t, c, raw); err != nil || string(res.Body) != "ok" {
			t.Errorf("%s: %v", allow, err)
		}
		if _, err := get(t, c, "http://[::ffff:127.0.0.1]:"+port); err == nil {
			t.Errorf("%s also permits another spelling", allow)
		}
	}
	g := newGuard(t, httpx.GuardConfig{Allow: []string{"10.1.0.0/16", "fd00::1", "intra.example:8080"}, Ports: []uint16{80}})
	for raw, want := range map[string]bool{
		"http://10.1.2.3/": true, "http://10.2.0.1/": false, "http://[fd00::1]/": true, "http://[fd00::2]/": false,
		"http://intra.example:8080/": true, "http://intra.example/": true, "https://intra.example/": false,
		"http://10.1.2.3:8080/": false, "http://other.example:8080/": false,
	} {
		u, _ := url.Parse(raw)
		if err := g.CheckURL(u); (err == nil) != want {
			t.Errorf("%s: %v", raw, err)
		}
	}
	for _, bad := range []string{"", "http://x", "a b", "x:0", "x:99999", "*.example.org", "10.0.0.0/33", "u@x"} {
		if _, err := httpx.NewGuard(httpx.GuardConfig{Allow: []string{bad}}); err == nil {
			t.Errorf("%q was accepted", bad)
		}
	}
}

// TestGuardRefusesInnerNames: a name that can only lead inside is refused before anything is looked up.
func TestGuardRefusesInnerNames(t *testing.T) {
	for raw, want := range map[string]bool{
		"https://localhost/": false, "https://LOCALHOST./": false, "https://127.1/": false, "https://2130706433/": false,
		"https://0x7f.1/":  false,
		"https://printer/": false, "https://nas.local/": false, "https://metadata.google.internal/": false, "https://a.home.arpa/": false,
		"https://push.example.com/": true, "https://1and1.example/": true, "https://local.example.org./": true,
	} {
		u, err := url.Parse(raw)
		if err != nil {
			t.Fatal(err)
		}
		if err := newGuard(t, httpx.GuardConfig{}).CheckURL(u); (err == nil) != want {
			t.Errorf("%s: %v", raw, err)
		}
		// Where an inner network is permitted, a name may lead there.
		if err := newGuard(t, httpx.GuardConfig{Allow: []string{"10.0.0.0/8"}}).CheckURL(u); err != nil {
			t.Errorf("%s with a network: %v", raw, err)
		}
	}
	u := &url.URL{Scheme: "https", Host: "printer"}
	if err := newGuard(t, httpx.GuardConfig{Allow: []string{"printer"}}).CheckURL(u); err != nil {
		t.Error(err)
	}
}

// TestGuardTellsHowToPermit: a refusal that an operator can lift says how.
func TestGuardTellsHowToPermit(t *testing.T) {
	g, err := httpx.NewGuard(httpx.GuardConfig{Hint: "ask for it"})
	if err != nil {
		t.Fatal(err)
	}
	for raw, hinted := range map[string]bool{"http://10.0.0.1/": true, "https://example.com:8443/": true, "ftp://example.com/": false,
		"http://u:p@example.com/": false} {
		u, err := url.Parse(raw)
		if err != nil {
			t.Fatal(err)
		}
		if err = g.CheckURL(u); err == nil || strings.HasSuffix(err.Error(), ": ask for it") != hinted {
			t.Errorf("%s: %v", raw, err)
		}
	}
}

// TestGuardDials: a guard serves other protocols than HTTP too, on any port if that is what they need.
func TestGuardDials(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	addr := l.Addr().String()
	_, port, _ := net.SplitHostPort(addr)
	for _, tc := range []struct {
		allow []string
		addr  string
		want  bool
	}{
		{nil, addr, false}, {nil, "localhost:" + port, false}, {[]string{"127.0.0.1"}, addr, true},
		{[]string{"127.0.0.0/8"}, "localhost:" + port, true},
		{[]string{"localhost"}, "localhost:" + port, true}, {[]string{"localhost:" + port}, "localhost:" + port, true},
		{[]string{"localhost:1"}, "localhost:" + port, false},
		{[]string{"10.0.0.0/8"}, addr, false}, {[]string{"localhost"}, addr, false},
	} {
		g := newGuard(t, httpx.GuardConfig{Allow: tc.allow, AnyPort: true})
		conn, err := g.DialContext(t.Context(), "tcp4", tc.addr)
		if (err == nil) != tc.want || (httpx.FindRefusal(err) == "") != tc.want {
			t.Errorf("%v to %s: %v", tc.allow, tc.addr, err)
		}
		if err == nil {
			_ = conn.Close()
		}
	}
	g := newGuard(t, httpx.GuardConfig{AnyPort: true})
	for host, want := range map[string]bool{"10.0.0.1": false, "8.8.8.8": true, "mail.example": true} {
		if err := g.CheckHost(host, 2525); (err == nil) != want {
			t.Errorf("%s: %v", host, err)
		}
	}
}
