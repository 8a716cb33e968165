package httpx_test

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/patchbay-dev/patchbay/plugins/internal/httpx"
	"github.com/patchbay-dev/patchbay/sdk/errs"
)

func parse(t *testing.T, raw string) *url.URL {
	t.Helper()
	u, err := url.Parse(raw)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// TestOwnAddresses: without a guard of its own a client reaches the public internet and, of what is private, the very hosts and ports
// that the configuration or a request names.
func TestOwnAddresses(t *testing.T) {
	srv, addr := server(t, http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	_, other := server(t, http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("the other port was reached") }))
	_, port, _ := strings.Cut(addr, ":")
	for name, c := range map[string]struct {
		cfg httpx.Config
		url string
		own bool
		ok  bool
	}{
		"nothing named":             {httpx.Config{}, srv.URL, false, false},
		"base":                      {httpx.Config{BaseURL: srv.URL}, srv.URL, false, true},
		"named":                     {httpx.Config{Own: []*url.URL{parse(t, srv.URL)}}, srv.URL + "/x", false, true},
		"named by name":             {httpx.Config{Own: []*url.URL{parse(t, "http://LOCALHOST:"+port)}}, "http://localhost:" + port, false, true},
		"another name":              {httpx.Config{Own: []*url.URL{parse(t, srv.URL)}}, "http://localhost:" + port, false, false},
		"another port":              {httpx.Config{Own: []*url.URL{parse(t, srv.URL)}}, "http://" + other, false, false},
		"another scheme":            {httpx.Config{Own: []*url.URL{parse(t, srv.URL)}}, "ftp://" + addr, false, false},
		"with a user":               {httpx.Config{Own: []*url.URL{parse(t, srv.URL)}}, "http://u:geheim@" + addr, false, false},
		"by the request":            {httpx.Config{}, srv.URL, true, true},
		"base beside a guard":       {httpx.Config{BaseURL: srv.URL, Guard: newGuard(t, httpx.GuardConfig{})}, srv.URL, false, false},
		"inner name, not looked up": {httpx.Config{}, "http://metadata.internal/", false, false},
	} {
		t.Run(name, func(t *testing.T) {
			client, err := httpx.New(c.cfg)
			if err != nil {
				t.Fatal(err)
			}
			defer client.Close()
			_, err = client.Do(t.Context(), &httpx.Request{Method: http.MethodGet, URL: parse(t, c.url), Own: c.own})
			if (err == nil) != c.ok {
				t.Errorf("%v", err)
			}
			if e := errs.From(err); err != nil && e.Reason != httpx.ReasonRefused {
				t.Errorf("it is refused by %v", err)
			}
		})
	}
}

// TestRedirectsKeepCredentials sends requests with credentials of every sort to a server that leads elsewhere.
func TestRedirectsKeepCredentials(t *testing.T) {
	var got http.Header
	elsewhere, _ := server(t, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { got = r.Header }))
	var home *httptest.Server
	home, _ = server(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		to := elsewhere.URL + "/other"
		if r.URL.Query().Has("home") {
			to = home.URL + "/end"
		}
		if r.URL.Path == "/end" {
			got = r.Header
			return
		}
		w.Header().Set("Location", to)
		w.WriteHeader(map[string]int{http.MethodPost: http.StatusTemporaryRedirect}[r.Method] | map[string]int{http.MethodGet: http.StatusFound}[r.Method])
	}))
	c := newClient(t, httpx.Config{MaxRedirects: 3})
	header := http.Header{"Authorization": {"Bearer geheim"}, "X-Api-Key": {"geheim"}, "Private-Token": {"geheim"}, "Cookie": {"a=geheim"},
		"Accept": {"text/plain"}}
	if _, err := c.Do(t.Context(), &httpx.Request{Method: http.MethodGet, URL: parse(t, home.URL+"/?token=geheim"),
		Header: header}); err != nil {
		t.Fatal(err)
	}
	for name, values := range got {
		if strings.Contains(strings.Join(values, " "), "geheim") {
			t.Errorf("another port got %s: %q", name, values)
		}
	}
	if got.Get("Accept") != "text/plain" {
		t.Errorf("it got %v", got)
	}
	if _, err := c.Do(t.Context(), &httpx.Request{Method: http.MethodGet, URL: parse(t, home.URL+"/?home"), Header: header}); err != nil ||
		got.Get("X-Api-Key") == "" {
		t.Errorf("its own host and port got %v, %v", got, err)
	}
	got = nil
	_, err := c.Do(t.Context(), &httpx.Request{Method: http.MethodPost, URL: parse(t, home.URL), Body: []byte("client_secret=geheim")})
	wantReason(t, err, errs.ReasonProtocol)
	if got != nil {
		t.Error("a body went elsewhere")
	}
}

// TestProxyConnects: behind a proxy the target's name and literal address are checked, and the proxy, which may be private, connects.
func TestProxyConnects(t *testing.T) {
	var asked []string
	proxy, _ := server(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked = append(asked, r.URL.String())
		if r.URL.Path == "/leads" {
			http.Redirect(w, r, "http://10.0.0.1/", http.StatusFound)
		}
	}))
	t.Setenv("HTTP_PROXY", proxy.URL)
	client, err := httpx.New(httpx.Config{Proxy: true, MaxRedirects: 3, Own: []*url.URL{parse(t, "http://searx.lan:8080")}})
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	for raw, ok := range map[string]bool{
		"http://example.com/a": true, "http://searx.lan:8080/b": true,
		"http://10.0.0.1/c": false, "http://nas.lan/d": false, "http://searx.lan:8081/e": false, "http://example.com/leads": false,
	} {
		before := len(asked)
		_, err := client.Do(t.Context(), &httpx.Request{Method: http.MethodGet, URL: parse(t, raw)})
		if (err == nil) != ok || err != nil && errs.From(err).Reason != httpx.ReasonRefused {
			t.Errorf("%s: %v", raw, err)
		}
		if n := len(asked) - before; n != 1 && (ok || strings.HasSuffix(raw, "leads")) || n != 0 && !ok && !strings.HasSuffix(raw, "leads") {
			t.Errorf("%s: the proxy was asked %d times", raw, n)
		}
	}
}
