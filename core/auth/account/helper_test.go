package account_test

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/gin-gonic/gin"

	"github.com/patchbay-dev/patchbay/core/auth"
	"github.com/patchbay-dev/patchbay/core/auth/account"
	"github.com/patchbay-dev/patchbay/core/httpd"
	"github.com/patchbay-dev/patchbay/core/internal/testing/testkit"
	"github.com/patchbay-dev/patchbay/core/internal/testing/webtest"
	"github.com/patchbay-dev/patchbay/core/secret"
	"github.com/patchbay-dev/patchbay/core/store"
)

// server is a core mount with the accounts, on a real listener.
type server struct {
	t     *testing.T
	users *auth.Users
	// base is http://localhost:PORT, where passkeys work.
	base string
}

var must = testkit.Must

// each runs a test on both dialects.
func each(t *testing.T, access auth.Access, f func(t *testing.T, s *server)) {
	gin.SetMode(gin.ReleaseMode)
	testkit.ForEachDialect(t, func(t *testing.T, cfg store.Config) { f(t, start(t, cfg, access)) })
}

func start(t *testing.T, cfg store.Config, access auth.Access) *server {
	t.Helper()
	ring, err := secret.NewKeyring(make([]byte, secret.KeySize))
	must(t, err)
	users, err := auth.New(auth.Config{Store: testkit.OpenStore(t, cfg, auth.Migrations()), Keyring: ring,
		Scopes: []string{"containers", "mail", "releases", "search"}})
	must(t, err)
	access.Trusted, err = httpd.NewClients([]string{"127.0.0.0/8"})
	must(t, err)
	routes := account.New(account.Config{Users: users, Access: access, Version: "1.2.3"}).System()
	h := webtest.Serve(t, httpd.Options{Guard: users.Guard(access), Clients: access.Trusted},
		httpd.Mount{Service: httpd.CoreService, BaseURL: "/", Routes: routes})
	_, port, _ := strings.Cut(h.Addr(), ":")
	return &server{t: t, users: users, base: "http://localhost:" + port}
}

// browser keeps a cookie, as a browser does, and sends headers along.
type browser struct {
	*server
	cookie string
	header http.Header
}

func (s *server) browser(headers ...string) *browser {
	b := &browser{server: s, header: http.Header{}}
	for i := 0; i+1 < len(headers); i += 2 {
		b.header.Add(headers[i], headers[i+1])
	}
	return b
}

func (s *server) key(text string) *browser { return s.browser("Authorization", "Bearer "+text) }

// answer is what came back.
type answer struct {
	status int
	header http.Header
	raw    []byte
}

func (a answer) body(t *testing.T) map[string]any {
	t.Helper()
	out := map[string]any{}
	if len(a.raw) > 0 {
		must(t, json.Unmarshal(a.raw, &out))
	}
	return out
}

// call sends a request; body is JSON, nil for none.
func (b *browser) call(method, path string, body any) answer {
	b.t.Helper()
	var r io.Reader
	if body != nil {
		raw, err := json.Marshal(body)
		must(b.t, err)
		r = strings.NewReader(string(raw))
	}
	req, err := http.NewRequestWithContext(b.t.Context(), method, b.base+"/system/api"+path, r)
	must(b.t, err)
	req.Header = b.header.Clone()
	if h := req.Header.Get("Host"); h != "" {
		req.Host = h
	}
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	if b.cookie != "" {
		req.AddCookie(&http.Cookie{Name: auth.SessionCookie, Value: b.cookie})
	}
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	res, err := client.Do(req)
	must(b.t, err)
	defer func() { _ = res.Body.Close() }()
	raw, err := io.ReadAll(res.Body)
	must(b.t, err)
	for _, c := range res.Cookies() {
		if c.Name == auth.SessionCookie {
			if b.cookie = c.Value; c.MaxAge < 0 {
				b.cookie = ""
			}
		}
	}
	return answer{res.StatusCode, res.Header, raw}
}

// want calls and compares status and code.
func (b *browser) want(status int, code, method, path string, body any) map[string]any {
	b.t.Helper()
	a := b.call(method, path, body)
	got := a.body(b.t)
	if a.status != status || code != "" && got["code"] != code {
		b.t.Fatalf("%s %s: got %d %s, want %d %s", method, path, a.status, a.raw, status, code)
	}
	return got
}

// setUp makes the first administrator by the link.
func (s *server) setUp() *browser {
	s.t.Helper()
	token, err := s.users.Links.CreateFirst(s.t.Context())
	must(s.t, err)
	b := s.browser()
	b.want(200, "", "POST", "/setup", map[string]string{"token": token, "email": "ann@example.com", "name": "Ann"})
	if b.cookie == "" {
		s.t.Fatal("there is no session")
	}
	return b
}

type dict = map[string]any
