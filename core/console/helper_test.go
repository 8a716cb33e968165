package console_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/hashicorp/go-hclog"

	"github.com/patchbay-dev/patchbay/core/auth"
	"github.com/patchbay-dev/patchbay/core/console"
	"github.com/patchbay-dev/patchbay/core/console/ui"
	"github.com/patchbay-dev/patchbay/core/event"
	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/httpd"
	"github.com/patchbay-dev/patchbay/core/internal/testing/testkit"
	"github.com/patchbay-dev/patchbay/core/queue"
	"github.com/patchbay-dev/patchbay/core/secret"
)

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// site is a console on a real listener, with one administrator and one member.
type site struct {
	t             *testing.T
	users         *auth.Users
	queue         *queue.Queue
	providers     *providers
	configurator  *configurator
	base          string
	admin, member string // API keys
	// part is what a service has for the home page.
	part ui.HomePart
}

// hostile is text that must never become markup.
const hostile = `<script>alert(1)</script><img src=x onerror=alert(2)>`

// providers are instances that say what a test wants.
type providers struct {
	rejected  string
	instances []console.Instance
	logs      []string
	restarted []string
	sent      []string
	health    console.Health
}

func (p *providers) Instances() []console.Instance { return p.instances }

func (p *providers) Logs(ref string) ([]string, error) {
	if ref == "search.gone" {
		return nil, fault.New(fault.NotFound, "There is no running instance %s.", ref)
	}
	return p.logs, nil
}

func (p *providers) Check(context.Context, string) (console.Health, error) { return p.health, nil }

func (p *providers) SendTest(_ context.Context, ref, title, text string) (console.Health, error) {
	p.sent = append(p.sent, ref+": "+title+": "+text)
	return p.health, nil
}

func (p *providers) Restart(ref string) error {
	p.restarted = append(p.restarted, ref)
	return nil
}

func (p *providers) Rejected() (string, time.Time) { return p.rejected, time.Unix(1_800_000_000, 0) }

func (p *providers) Available(context.Context) ([]console.Plugin, error) {
	return []console.Plugin{{
		Kind: "search", Name: "files", Version: "1.0.0", Summary: "Summary " + hostile, Origin: "built-in", Block: "search \"files\" \"main\" {\n}\n", Capabilities: []string{"STREAM"},
		Settings: []console.Setting{
			{Name: "folders", Type: "string_list", Doc: hostile, Required: true}, {Name: "key", Type: "string", Secret: true}, {Name: "mode", Type: "string", Enum: []string{"a", "b"}, Default: `"a"`},
		},
	}, {Kind: "search", Name: "broken", Summary: "does not start", Origin: "/opt/broken"}}, nil
}

func newSite(t *testing.T) *site {
	t.Helper()
	gin.SetMode(gin.ReleaseMode)
	ring, err := secret.NewKeyring(make([]byte, secret.KeySize))
	must(t, err)
	st := testkit.OpenStore(t, testkit.SQLiteConfig(t), queue.Migrations(), auth.Migrations())
	s := &site{t: t, configurator: &configurator{}, providers: &providers{
		instances: []console.Instance{
			{Ref: "search.docs", Kind: "search", Plugin: "files", Name: "docs", Version: "1.0.0", State: "ready", Since: time.Now().Add(-time.Hour), PID: 77, Memory: 30 << 20,
				Restarts: 2, Calls: 1200, Failures: 12, Latency: []float64{3, 5, 4}, Place: "plugin.hcl:4", Config: "search \"files\" \"docs\" {\n  key = \"(redacted)\"\n}\n"},
			{Ref: "search.gone", Kind: "search", Plugin: "files", Name: "gone", State: "off", Place: "plugin.hcl:9"},
			{Ref: "notify.ops", Kind: "notify", Plugin: "hook", Name: "ops", State: "backoff", Message: hostile, Place: "plugin.hcl:12"},
		},
		logs: []string{"ready", hostile}, health: console.Health{State: "ready", Message: "fine", Took: 3 * time.Millisecond},
	}}
	bus := event.NewBus()
	t.Cleanup(bus.Close)
	s.users, err = auth.New(auth.Config{Store: st, Keyring: ring, Scopes: []string{"containers", "mail", "search"}})
	must(t, err)
	s.queue, err = queue.New(queue.Config{Store: st, Bus: bus, Handlers: []queue.Handler{
		{Type: "test.good", Run: func(_ context.Context, _ *queue.Job, p queue.Progress) (any, error) {
			return map[string]int{"done": 3}, nil
		}},
		{Type: "test.bad", Run: func(context.Context, *queue.Job, queue.Progress) (any, error) { return nil, errors.New(hostile) }},
		{Type: "test.long", Run: func(ctx context.Context, _ *queue.Job, _ queue.Progress) (any, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		}},
	}})
	must(t, err)
	must(t, s.queue.Start(t.Context()))
	t.Cleanup(func() { _ = s.queue.Stop(context.Background()) })
	s.serve(bus)
	_, s.admin, err = s.users.Create(t.Context(), "ada@example.com", "Ada", auth.Admin)
	must(t, err)
	_, s.member, err = s.users.Create(t.Context(), "bob@example.com", hostile, auth.Member)
	must(t, err)
	return s
}

func (s *site) serve(bus *event.Bus) {
	clients, err := httpd.NewClients(nil)
	must(s.t, err)
	access := auth.Access{Trusted: clients}
	c, err := console.New(console.Config{
		Users: s.users, Access: access, Queue: s.queue, Bus: bus, Providers: s.providers, Configurator: s.configurator, Version: "1.2.3",
		Sections: []ui.Section{{Service: "demo", Texts: fstest.MapFS{"en.json": {Data: []byte("{}")}, "zh.json": {Data: []byte("{}")}}, Home: func(_ context.Context, v *ui.View) (ui.HomePart, error) {
			if !v.Admin() {
				return ui.HomePart{}, nil
			}
			return s.part, nil
		}}},
		Services: []console.Service{{Name: "search", BaseURL: "/search", Uses: []console.Use{{Kind: "search", Ref: "search.docs"}, {Kind: "notify", Ref: "notify.ops"}, {Kind: "search", Ref: "search.unknown"}}}},
	})
	must(s.t, err)
	h, err := httpd.Listen("127.0.0.1:0", "test", hclog.NewNullLogger())
	must(s.t, err)
	must(s.t, h.Mount([]httpd.Mount{{Service: httpd.CoreService, BaseURL: "/", Routes: c.Routes(), Errors: c.Errors(nil)}}, httpd.Options{Guard: s.users.Guard(access), Clients: clients}))
	h.Serve()
	s.t.Cleanup(func() { _ = h.Shutdown(context.Background()) })
	s.base = "http://" + h.Addr()
}

// visitor is a browser without script: it keeps cookies and shows pages.
type visitor struct {
	*site
	http   http.Client
	header http.Header
}

// jar keeps cookies by their name.
type jar map[string]*http.Cookie

func (j jar) SetCookies(_ *url.URL, cookies []*http.Cookie) {
	for _, c := range cookies {
		j[c.Name] = c
		if c.MaxAge < 0 {
			delete(j, c.Name)
		}
	}
}

func (j jar) Cookies(*url.URL) (out []*http.Cookie) {
	for _, c := range j {
		out = append(out, &http.Cookie{Name: c.Name, Value: c.Value})
	}
	return out
}

func (s *site) visitor(headers ...string) *visitor {
	v := &visitor{site: s, header: http.Header{"Accept": {"text/html"}, "Sec-Fetch-Site": {"same-origin"}}}
	v.http.Jar = jar{}
	v.http.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	for i := 0; i+1 < len(headers); i += 2 {
		v.header.Set(headers[i], headers[i+1])
	}
	return v
}

// signedIn is a visitor with a session for an API key.
func (s *site) signedIn(key string, headers ...string) *visitor {
	s.t.Helper()
	v := s.visitor(headers...)
	if p := v.post("/system/sign-in", "key", key, "next", "/system/account"); p.status != http.StatusSeeOther || p.header.Get("Location") != "/system/account" {
		s.t.Fatalf("sign-in: status %d to %q\n%s", p.status, p.header.Get("Location"), p.body)
	}
	return v
}

type answer struct {
	status int
	header http.Header
	body   string
}

func (v *visitor) get(path string) answer { v.t.Helper(); return v.do(http.MethodGet, path, nil) }

func (v *visitor) post(path string, form ...string) answer {
	v.t.Helper()
	values := url.Values{}
	for i := 0; i+1 < len(form); i += 2 {
		values.Add(form[i], form[i+1])
	}
	return v.do(http.MethodPost, path, values)
}

func (v *visitor) do(method, path string, form url.Values) answer {
	v.t.Helper()
	req, err := http.NewRequestWithContext(v.t.Context(), method, v.base+path, strings.NewReader(form.Encode()))
	must(v.t, err)
	req.Header = v.header.Clone()
	if form != nil {
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	resp, err := v.http.Do(req)
	must(v.t, err)
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	must(v.t, err)
	return answer{resp.StatusCode, resp.Header, string(raw)}
}

// says fails the test for each text that is missing.
func (a answer) says(t *testing.T, texts ...string) {
	t.Helper()
	for _, text := range texts {
		if !strings.Contains(a.body, text) {
			t.Errorf("%q is missing in:\n%s", text, a.body)
		}
	}
}
