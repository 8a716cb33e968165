package console_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/patchbay-dev/patchbay/core/auth"
	"github.com/patchbay-dev/patchbay/core/console"
	"github.com/patchbay-dev/patchbay/core/console/ui"
	"github.com/patchbay-dev/patchbay/core/event"
	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/httpd"
	"github.com/patchbay-dev/patchbay/core/internal/testing/testkit"
	"github.com/patchbay-dev/patchbay/core/internal/testing/webtest"
	"github.com/patchbay-dev/patchbay/core/queue"
	"github.com/patchbay-dev/patchbay/core/secret"
)

var must = testkit.Must

// site is a console on a real listener, with one administrator and one member.
type site struct {
	t             *testing.T
	users         *auth.Users
	queue         *queue.Queue
	providers     *providers
	nodes         *nodes
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
		Kind: "search", Name: "files", Version: "1.0.0", Summary: "Summary " + hostile, Origin: "built-in",
		Block: "search \"files\" \"main\" {\n}\n", Capabilities: []string{"STREAM"},
		Settings: []console.Setting{
			{Name: "folders", Type: "string_list", Doc: hostile, Required: true}, {Name: "key", Type: "string", Secret: true},
			{Name: "mode", Type: "string", Enum: []string{"a", "b"}, Default: `"a"`},
		},
	}, {Kind: "search", Name: "broken", Summary: "does not start", Origin: "/opt/broken"}}, nil
}

func newSite(t *testing.T) *site {
	t.Helper()
	gin.SetMode(gin.ReleaseMode)
	ring, err := secret.NewKeyring(make([]byte, secret.KeySize))
	must(t, err)
	st := testkit.OpenStore(t, testkit.SQLiteConfig(t), queue.Migrations(), auth.Migrations())
	s := &site{t: t, configurator: &configurator{}, nodes: &nodes{}, providers: &providers{
		instances: []console.Instance{
			{Ref: "search.docs", Kind: "search", Plugin: "files", Name: "docs", Version: "1.0.0", State: "ready", Since: time.Now().Add(-time.Hour),
				PID: 77, Memory: 30 << 20,
				Restarts: 2, Calls: 1200, Failures: 12, Latency: []float64{3, 5, 4}, Place: "plugin.hcl:4",
				Config: "search \"files\" \"docs\" {\n  key = \"(redacted)\"\n}\n"},
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
		Users: s.users, Access: access, Queue: s.queue, Bus: bus, Providers: s.providers, Configurator: s.configurator,
		Nodes: s.nodes, Version: "1.2.3",
		Sections: []ui.Section{{Service: "demo", Texts: fstest.MapFS{"en.json": {Data: []byte("{}")}, "zh.json": {Data: []byte("{}")}},
			FindIndexed: func(_ context.Context, text string) []ui.IndexedDocument {
				if !strings.Contains(text, "indexed") {
					return nil
				}
				return []ui.IndexedDocument{{Address: "file:notes/other.md", Title: "Other"},
					{Address: "file:core/docs/mail.md", Title: "Mail", Excerpt: "Words of the index."}}
			},
			Home: func(_ context.Context, v *ui.View) (ui.HomePart, error) {
				if !v.Admin() {
					return ui.HomePart{}, nil
				}
				return s.part, nil
			}}},
		Services: []console.Service{{Name: "search", BaseURL: "/search",
			Uses: []console.Use{{Kind: "search", Ref: "search.docs"}, {Kind: "notify", Ref: "notify.ops"},
				{Kind: "search", Ref: "search.unknown"}}}},
	})
	must(s.t, err)
	h := webtest.Serve(s.t, httpd.Options{Guard: s.users.Guard(access), Clients: clients},
		httpd.Mount{Service: httpd.CoreService, BaseURL: "/", Routes: c.Routes(), Errors: c.Errors(nil)})
	s.base = "http://" + h.Addr()
}

// visitor is a browser at the console. Headers are names and values in turn.
func (s *site) visitor(headers ...string) *webtest.Browser {
	v := webtest.NewBrowser(s.t, s.base, "")
	for pair := range slices.Chunk(headers, 2) {
		v.Header.Set(pair[0], pair[1])
	}
	return v
}

// signedIn is a visitor with a session for an API key.
func (s *site) signedIn(key string, headers ...string) *webtest.Browser {
	s.t.Helper()
	v := s.visitor(headers...)
	v.SignIn(key, "/system/account")
	return v
}
