package pages

import (
	"context"
	"io"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/hashicorp/go-hclog"

	"github.com/patchbay-dev/patchbay/core/auth"
	"github.com/patchbay-dev/patchbay/core/console"
	"github.com/patchbay-dev/patchbay/core/console/ui"
	"github.com/patchbay-dev/patchbay/core/event"
	"github.com/patchbay-dev/patchbay/core/httpd"
	"github.com/patchbay-dev/patchbay/core/internal/testing/testkit"
	"github.com/patchbay-dev/patchbay/core/internal/testing/webtest"
	"github.com/patchbay-dev/patchbay/core/plugin/client"
	"github.com/patchbay-dev/patchbay/core/queue"
	"github.com/patchbay-dev/patchbay/core/secret"
	service "github.com/patchbay-dev/patchbay/core/services/search"
	"github.com/patchbay-dev/patchbay/core/services/search/access"
	"github.com/patchbay-dev/patchbay/core/services/search/audit"
	"github.com/patchbay-dev/patchbay/core/services/search/proxy"
	"github.com/patchbay-dev/patchbay/core/store"
	"github.com/patchbay-dev/patchbay/sdk/schema"
	sdk "github.com/patchbay-dev/patchbay/sdk/search"
)

var must = testkit.Must

// backend answers every call as the test says.
type backend struct {
	mu     sync.Mutex
	status int
	body   string
	called int
	// index is what it says of its index, and reindexed counts the calls of Reindex.
	index     *sdk.IndexStatus
	reindexed int
}

func (b *backend) IndexStatus(context.Context) (*sdk.IndexStatus, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.index == nil {
		return nil, io.ErrUnexpectedEOF
	}
	return b.index, nil
}

func (b *backend) Reindex(context.Context) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.reindexed++
	return nil
}

// calls returns how many calls there were.
func (b *backend) calls() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.called
}

func (b *backend) answers(status int, body string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.status, b.body = status, body
}

func (b *backend) Describe() (*sdk.Descriptor, error) {
	return &sdk.Descriptor{Credential: true, Capabilities: []string{sdk.CapIndex}, Operations: []sdk.Operation{
		{Name: sdk.OpSearch, Required: []string{"query"}, Price: []sdk.PriceTerm{{Rate: 1}}, InputSchema: `{"type":"object","properties":{
			"query":{"type":"string","description":"` + hostileJSON + `"},"max_results":{"type":"integer"},"topic":{"type":"string","enum":["general","news"]}}}`},
		{Name: sdk.OpMap, Required: []string{"url"}, Price: []sdk.PriceTerm{{Rate: 2}}},
	}}, nil
}

func (b *backend) Invoke(context.Context, *sdk.Request) (*sdk.Reply, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.called++
	return &sdk.Reply{Response: sdk.Response{Head: sdk.Head{Status: b.status, ContentType: "application/json"}, Body: []byte(b.body)}}, nil
}

func (b *backend) Stream(context.Context, *sdk.Request) (client.SearchStream, error) {
	return nil, io.ErrUnexpectedEOF
}

func (b *backend) KeyStatus(context.Context, schema.Secret) (*sdk.KeyStatus, error) {
	return &sdk.KeyStatus{Limit: 1000, Used: 10}, nil
}

// site is the pages of a search service on a real listener, with an administrator and two members.
type site struct {
	testing.TB
	store   *store.Store
	users   *auth.Users
	service *service.Service
	backend *backend
	base    string
	// The API keys of the administrator and of the members, and the ids of the members.
	admin, bob, eve string
	bobID, eveID    string
}

func newSite(t testing.TB) *site {
	t.Helper()
	return newSiteOn(t, testkit.OpenStore(t, testkit.SQLiteConfig(t), service.Migrations(), queue.Migrations(), auth.Migrations()))
}

func newSiteOn(t testing.TB, st *store.Store) *site {
	t.Helper()
	gin.SetMode(gin.ReleaseMode)
	ring, err := secret.NewKeyring(make([]byte, secret.KeySize))
	must(t, err)
	s := &site{TB: t, store: st, backend: &backend{status: 200, body: `{"results":[]}`}}
	s.users, err = auth.New(auth.Config{Store: st, Keyring: ring, Scopes: []string{"containers", "mail", "search"}})
	must(t, err)
	s.service, err = service.New(t.Context(), service.Config{
		Store: st, Keyring: ring, Logger: hclog.NewNullLogger(), Backends: []client.Search{s.backend}, People: s.users, Sessions: s.users.Sessions,
		Settings: service.Settings{BaseURL: "/search", Backend: []string{"search.web"}, Retention: 768 * 3600e9, LogBodies: true},
	})
	must(t, err)
	t.Cleanup(s.service.Close)
	s.serve(st)
	// The first user is an administrator, however made.
	for _, user := range []struct {
		name    string
		key, id *string
	}{{"ada", &s.admin, new(string)}, {"bob", &s.bob, &s.bobID}, {"eve", &s.eve, &s.eveID}} {
		name, to := user.name, [2]*string{user.key, user.id}
		role := auth.Member
		if name == "ada" {
			role = auth.Admin
		}
		u, key, err := s.users.Create(t.Context(), name+"@example.com", name, role)
		must(t, err)
		*to[0], *to[1] = key, u.ID
	}
	return s
}

func (s *site) serve(st *store.Store) {
	s.Helper()
	bus := event.NewBus()
	s.Cleanup(bus.Close)
	q, err := queue.New(queue.Config{Store: st, Bus: bus})
	must(s, err)
	clients, err := httpd.NewClients(nil)
	must(s, err)
	access := auth.Access{Trusted: clients}
	section, err := Section(s.service, "/search", "/search")
	must(s, err)
	c, err := console.New(console.Config{Users: s.users, Access: access, Queue: q, Bus: bus, Providers: noProviders{},
		Sections: []ui.Section{section}})
	must(s, err)
	mount, err := s.service.Mount()
	must(s, err)
	mount.Routes = append(mount.Routes, c.SectionRoutes("search")...)
	mount.Errors = c.Errors(mount.Errors)
	h := webtest.Serve(s, httpd.Options{Guard: s.users.Guard(access), Clients: clients},
		httpd.Mount{Service: httpd.CoreService, BaseURL: "/", Routes: c.Routes(), Errors: c.Errors(nil)}, mount)
	s.base = "http://" + h.Addr()
}

// noProviders are no plugins.
type noProviders struct{ console.Providers }

func (noProviders) Instances() []console.Instance { return nil }

func (noProviders) Rejected() (reason string, at time.Time) { return "", time.Time{} }

// token makes an access token for a user; nobody's with "".
func (s *site) token(owner, note string) (text, id string) {
	s.Helper()
	text, err := s.service.CreateToken(context.Background(), access.NewToken{Note: note, Group: "team " + note, OwnerID: owner})
	must(s, err)
	return text, access.TokenID(text)
}

// keys adds upstream keys.
func (s *site) keys(group string, values ...string) (ids []string) {
	s.Helper()
	added, err := s.service.AddKeys(context.Background(), group, values)
	must(s, err)
	for _, a := range added {
		ids = append(ids, a.ID)
	}
	return ids
}

// searched makes a request with a token and returns the number of its row.
func (s *site) searched(id string) int64 {
	s.Helper()
	_, err := s.service.Try(context.Background(),
		proxy.Trial{TokenID: id, Operation: "search", Body: []byte(`{"query":"` + hostileJSON + `"}`),
			RequestID: "req_01J00000000000000000000000", Client: "192.0.2.7"})
	must(s, err)
	must(s, s.service.Flush(context.Background()))
	rows, err := s.service.Requests(context.Background(), audit.LogFilter{TokenIDs: []string{id}}, "", 1)
	must(s, err)
	if len(rows.Items) != 1 {
		s.Fatal("the request is not in the audit")
	}
	return rows.Items[0].ID
}

// visitor is a browser at the site.
type visitor struct {
	*site
	*webtest.Browser
}

func (s *site) visitor(lang string) *visitor { return &visitor{s, webtest.NewBrowser(s, s.base, lang)} }

// as is a visitor who has signed in with an API key.
func (s *site) as(key, lang string) *visitor {
	s.Helper()
	v := s.visitor(lang)
	v.SignIn(key, "/system")
	v.confirm(key)
	return v
}

// confirm gives the visitor a session that began with a set-up link, which shows secrets.
func (v *visitor) confirm(key string) {
	v.Helper()
	from := auth.Origin{Address: "192.0.2.1"}
	_, p, err := v.users.Sessions.Exchange(context.Background(), key, from)
	must(v, err)
	link, err := v.users.Links.CreateForUser(context.Background(), p.User.ID)
	must(v, err)
	cookie, _, err := v.users.Links.Use(context.Background(), link, "", "", from)
	must(v, err)
	v.Client.Jar.SetCookies(nil, []*http.Cookie{auth.Cookie(cookie, false)})
}

// posted sends a form and returns the page that it leads to.
func (v *visitor) posted(t *testing.T, path string, form ...string) webtest.Page {
	t.Helper()
	p := v.Post(path, form...)
	if p.Status != http.StatusSeeOther {
		t.Fatalf("%s: status %d\n%s", path, p.Status, p.Body)
	}
	return v.Get(p.Header.Get("Location"))
}
