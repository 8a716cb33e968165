package pages

import (
	"context"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
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
	"github.com/patchbay-dev/patchbay/core/plugin/client"
	"github.com/patchbay-dev/patchbay/core/queue"
	"github.com/patchbay-dev/patchbay/core/secret"
	service "github.com/patchbay-dev/patchbay/core/services/search"
	"github.com/patchbay-dev/patchbay/core/store"
	"github.com/patchbay-dev/patchbay/core/texts"
	"github.com/patchbay-dev/patchbay/sdk/schema"
	sdk "github.com/patchbay-dev/patchbay/sdk/search"
)

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

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
		Store: st, Keyring: ring, Logger: hclog.NewNullLogger(), Backends: []client.Search{s.backend}, People: s.users, Sessions: s.users,
		Settings: service.Settings{BaseURL: "/search", Backend: []string{"search.web"}, Retention: 768 * 3600e9, LogBodies: true},
	})
	must(t, err)
	t.Cleanup(s.service.Close)
	s.serve(st)
	for name, to := range map[string][2]*string{"ada": {&s.admin, new(string)}, "bob": {&s.bob, &s.bobID}, "eve": {&s.eve, &s.eveID}} {
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
	c, err := console.New(console.Config{Users: s.users, Access: access, Queue: q, Bus: bus, Providers: noProviders{}, Sections: []ui.Section{section}})
	must(s, err)
	mount, err := s.service.Mount()
	must(s, err)
	mount.Routes = append(mount.Routes, c.SectionRoutes("search")...)
	mount.Errors = c.Errors(mount.Errors)
	h, err := httpd.Listen("127.0.0.1:0", "test", hclog.NewNullLogger())
	must(s, err)
	must(s, h.Mount([]httpd.Mount{{Service: httpd.CoreService, BaseURL: "/", Routes: c.Routes(), Errors: c.Errors(nil)}, mount}, httpd.Options{Guard: s.users.Guard(access), Clients: clients}))
	h.Serve()
	s.Cleanup(func() { _ = h.Shutdown(context.Background()) })
	s.base = "http://" + h.Addr()
}

// noProviders are no plugins.
type noProviders struct{ console.Providers }

func (noProviders) Instances() []console.Instance { return nil }

func (noProviders) Rejected() (reason string, at time.Time) { return "", time.Time{} }

// token makes an access token for a user; nobody's with "".
func (s *site) token(owner, note string) (text, id string) {
	s.Helper()
	text, err := s.service.CreateToken(context.Background(), service.NewToken{Note: note, Group: "team " + note, OwnerID: owner})
	must(s, err)
	return text, service.TokenID(text)
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
	_, err := s.service.Try(context.Background(), service.Trial{TokenID: id, Operation: "search", Body: []byte(`{"query":"` + hostileJSON + `"}`), RequestID: "req_01J00000000000000000000000", Client: "192.0.2.7"})
	must(s, err)
	must(s, s.service.Flush(context.Background()))
	rows, err := s.service.Requests(context.Background(), service.LogFilter{TokenIDs: []string{id}}, "", 1)
	must(s, err)
	if len(rows.Items) != 1 {
		s.Fatal("the request is not in the audit")
	}
	return rows.Items[0].ID
}

// jar keeps cookies by their names.
type jar map[string]string

func (j jar) SetCookies(_ *url.URL, cookies []*http.Cookie) {
	for _, c := range cookies {
		j[c.Name] = c.Value
		if c.MaxAge < 0 {
			delete(j, c.Name)
		}
	}
}

func (j jar) Cookies(*url.URL) (out []*http.Cookie) {
	for name, value := range j {
		out = append(out, &http.Cookie{Name: name, Value: value})
	}
	return out
}

// visitor is a browser without script.
type visitor struct {
	*site
	http http.Client
	lang string
	// from says where the browser stands that sends a request.
	from string
}

// as is a visitor who has signed in with an API key.
func (s *site) as(key, lang string) *visitor {
	s.Helper()
	v := &visitor{site: s, lang: lang, from: "same-origin"}
	v.http.Jar = jar{}
	v.http.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	if p := v.post("/system/sign-in", "key", key, "next", "/system"); p.status != http.StatusSeeOther {
		s.Fatalf("sign-in: status %d\n%s", p.status, p.body)
	}
	v.confirm(key)
	return v
}

// confirm gives the visitor a session that began with a set-up link, which shows secrets.
func (v *visitor) confirm(key string) {
	v.Helper()
	from := auth.Origin{Address: "192.0.2.1"}
	_, p, err := v.users.Exchange(context.Background(), key, from)
	must(v, err)
	link, err := v.users.UserLink(context.Background(), p.User.ID)
	must(v, err)
	cookie, _, err := v.users.UseSetup(context.Background(), link, "", "", from)
	must(v, err)
	v.http.Jar.SetCookies(nil, []*http.Cookie{auth.Cookie(cookie, false)})
}

type page struct {
	status int
	header http.Header
	body   string
}

func (v *visitor) get(path string) page { v.Helper(); return v.do(http.MethodGet, path, nil) }

func (v *visitor) post(path string, form ...string) page {
	v.Helper()
	values := url.Values{}
	for pair := range slices.Chunk(form, 2) {
		values.Add(pair[0], pair[1])
	}
	return v.do(http.MethodPost, path, values)
}

// posted sends a form and returns the page that it leads to.
func (v *visitor) posted(t *testing.T, path string, form ...string) page {
	t.Helper()
	p := v.post(path, form...)
	if p.status != http.StatusSeeOther {
		t.Fatalf("%s: status %d\n%s", path, p.status, p.body)
	}
	return v.get(p.header.Get("Location"))
}

func (v *visitor) do(method, path string, form url.Values) page {
	v.Helper()
	req, err := http.NewRequestWithContext(context.Background(), method, v.base+path, strings.NewReader(form.Encode()))
	must(v, err)
	req.Header = http.Header{"Accept": {"text/html"}, "Sec-Fetch-Site": {v.from}, "Accept-Language": {v.lang}}
	if form != nil {
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	resp, err := v.http.Do(req)
	must(v, err)
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	must(v, err)
	return page{resp.StatusCode, resp.Header, string(raw)}
}

// is fails the test unless the page has a status and all the texts.
func (p page) is(t testing.TB, what string, status int, wanted ...string) {
	t.Helper()
	if p.status != status {
		t.Errorf("%s: status %d, want %d\n%s", what, p.status, status, texts.Truncate(p.body, 3000))
		return
	}
	for _, text := range wanted {
		if !strings.Contains(p.body, text) {
			t.Errorf("%s: %q is missing in\n%s", what, text, p.body)
		}
	}
}

// lacks fails the test for each text that the page holds.
func (p page) lacks(t testing.TB, what string, texts ...string) {
	t.Helper()
	for _, text := range texts {
		if at := strings.Index(p.body, text); at >= 0 {
			t.Errorf("%s: %q stands in the page: …%s…", what, text, p.body[max(0, at-200):min(len(p.body), at+200)])
		}
	}
}
