package search

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/gin-gonic/gin"
	"go.uber.org/goleak"

	"github.com/patchbay-dev/patchbay/core/auth"
	"github.com/patchbay-dev/patchbay/core/cluster"
	"github.com/patchbay-dev/patchbay/core/httpd"
	"github.com/patchbay-dev/patchbay/core/internal/testing/testkit"
	"github.com/patchbay-dev/patchbay/core/internal/testing/webtest"
	"github.com/patchbay-dev/patchbay/core/plugin/client"
	"github.com/patchbay-dev/patchbay/core/secret"
	"github.com/patchbay-dev/patchbay/core/services/search/access"
	"github.com/patchbay-dev/patchbay/core/services/search/internal/searchtest"
	"github.com/patchbay-dev/patchbay/core/services/search/proxy"
	"github.com/patchbay-dev/patchbay/core/store"
	"github.com/patchbay-dev/patchbay/sdk/schema"
	sdk "github.com/patchbay-dev/patchbay/sdk/search"
)

func TestMain(m *testing.M) {
	gin.SetMode(gin.ReleaseMode)
	if token := os.Getenv(envSpender); token != "" {
		fmt.Fprintln(os.Stderr, spendForever(token, os.Getenv(envSpenderURL)))
		os.Exit(1)
	}
	goleak.VerifyTestMain(m, goleak.IgnoreTopFunction("database/sql.(*DB).connectionOpener"))
}

// backend is a search backend whose answers the test decides.
type backend struct {
	client.Search
	desc   sdk.Descriptor
	invoke func(ctx context.Context, req *sdk.Request) (*sdk.Reply, error)
	stream func(ctx context.Context, req *sdk.Request) (client.SearchStream, error)
	// keyStatus is what it says about a key.
	keyStatus func(ctx context.Context, v schema.Secret) (*sdk.KeyStatus, error)

	mu      sync.Mutex
	calls   []sdk.Request
	retired error
}

func (b *backend) Describe() (*sdk.Descriptor, error) { return &b.desc, nil }

func (b *backend) note(req *sdk.Request) {
	b.mu.Lock()
	defer b.mu.Unlock()
	r := *req
	r.Body = bytes.Clone(req.Body)
	b.calls = append(b.calls, r)
}

func (b *backend) seen() []sdk.Request {
	b.mu.Lock()
	defer b.mu.Unlock()
	return append([]sdk.Request(nil), b.calls...)
}

func (b *backend) Invoke(ctx context.Context, req *sdk.Request) (*sdk.Reply, error) {
	b.note(req)
	b.mu.Lock()
	retired := b.retired
	b.mu.Unlock()
	if retired != nil {
		return nil, retired
	}
	return b.invoke(ctx, req)
}

func (b *backend) Stream(ctx context.Context, req *sdk.Request) (client.SearchStream, error) {
	b.note(req)
	if b.stream == nil {
		return nil, errors.New("no stream")
	}
	return b.stream(ctx, req)
}

func (b *backend) KeyStatus(ctx context.Context, v schema.Secret) (*sdk.KeyStatus, error) {
	if b.keyStatus != nil {
		return b.keyStatus(ctx, v)
	}
	return &sdk.KeyStatus{}, nil
}

const jsonType = "application/json"

func reply(status int, body string) *sdk.Reply {
	return &sdk.Reply{Response: sdk.Response{Head: sdk.Head{Status: status, ContentType: jsonType}, Body: []byte(body)}}
}

// env is a service with everything around it.
type env struct {
	testing.TB
	store *store.Store
	ring  *secret.Keyring
	// now is that of clock unless it is set.
	now     func() time.Time
	clock   *searchtest.Clock
	backend *backend
	// more are the further backends of the chain.
	more []*backend
	set  Settings
	// cluster is nil for a core alone.
	cluster *cluster.Cluster
	logs    *logs
	people  access.People
	svc     *Service
	base    string
	server  *httpd.Server
	public  string
}

func keyring(t testing.TB) *secret.Keyring {
	t.Helper()
	ring, err := secret.NewKeyring(bytes.Repeat([]byte{7}, 32))
	if err != nil {
		t.Fatal(err)
	}
	return ring
}

// newEnv makes a service on a SQLite database; change may alter what it is made of.
func newEnv(t testing.TB, change ...func(*env)) *env {
	t.Helper()
	return newEnvOn(t, testkit.OpenStore(t, testkit.SQLiteConfig(t), Migrations()), change...)
}

func newEnvOn(t testing.TB, st *store.Store, change ...func(*env)) *env {
	t.Helper()
	e := &env{TB: t, store: st, ring: keyring(t), clock: searchtest.NewClock(searchtest.Noon), logs: &logs{}}
	e.set = Settings{BaseURL: "/search", Backend: []string{"search.web"}, Retention: 768 * time.Hour}
	e.backend = &backend{desc: sdk.Descriptor{Operations: searchtest.Operations()}}
	e.backend.invoke = func(context.Context, *sdk.Request) (*sdk.Reply, error) { return reply(200, `{"results":[]}`), nil }
	for _, f := range change {
		f(e)
	}
	e.svc = e.start()
	return e
}

// start makes a service on the same database.
func (e *env) start() *Service {
	e.Helper()
	cfg := Config{
		Store: e.store, Cluster: e.cluster, Keyring: e.ring, Logger: e.logs.logger(), Settings: e.set, Backends: e.backends(), Now: e.clock.Now, PublicURL: e.public,
		People: e.people,
	}
	if e.now != nil {
		cfg.Now = e.now
	}
	svc, err := New(context.Background(), cfg)
	if err != nil {
		e.Fatal(err)
	}
	e.Cleanup(svc.Close)
	return svc
}

// knowing makes the service one that knows users.
func knowing(p people) func(*env) { return func(e *env) { e.people = p } }

// withKeys makes the backend one that needs keys.
func withKeys(e *env) { e.backend.desc.Credential = true }

func (e *env) token(l *access.Limits) string {
	e.Helper()
	text, err := e.svc.CreateToken(context.Background(), access.NewToken{Limits: l})
	if err != nil {
		e.Fatal(err)
	}
	return text
}

func idOf(token string) string { return token[3:7] }

func (e *env) addKeys(values ...string) []string {
	e.Helper()
	added, err := e.svc.AddKeys(context.Background(), "", values)
	if err != nil {
		e.Fatal(err)
	}
	ids := make([]string, len(added))
	for i, a := range added {
		ids[i] = a.ID
	}
	return ids
}

func (e *env) flush() {
	e.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	if err := e.svc.Flush(ctx); err != nil {
		e.Fatal(err)
	}
}

// listen serves the routes of the service.
func (e *env) listen() {
	e.Helper()
	mount, err := e.svc.Mount()
	if err != nil {
		e.Fatal(err)
	}
	e.server = webtest.Serve(e, httpd.Options{Logger: e.logs.logger(), Guard: webtest.NamedUserGuard(auth.ViaKey)}, mount)
	e.base = "http://" + e.server.Addr()
}

// got is an answer, read whole.
type got struct {
	status int
	header http.Header
	body   string
	json   map[string]any
}

func (e *env) send(method, path, body string, header ...string) got {
	e.Helper()
	if e.base == "" {
		e.listen()
	}
	resp, raw := webtest.Send(e, method, e.base+path, body, header...)
	g := got{status: resp.StatusCode, header: resp.Header, body: string(raw)}
	_ = json.Unmarshal(raw, &g.json)
	return g
}

// post sends a body with a token in the header; an empty token sends none.
func (e *env) post(op, token, body string) got {
	e.Helper()
	if token == "" {
		return e.send(http.MethodPost, "/search/api/proxy/"+op, body)
	}
	return e.send(http.MethodPost, "/search/api/proxy/"+op, body, "Authorization", "Bearer "+token)
}

// call makes one request at the verb, without HTTP.
func (e *env) call(svc *Service, tokenID, op, body string) (*proxy.Answer, error) {
	e.Helper()
	st := svc.State()
	o := st.Operations[op]
	in, err := proxy.ParseInput([]byte(body), o.Want)
	if err != nil {
		e.Fatal(err)
	}
	tok := svc.Table().Get(tokenID)
	if tok == nil {
		e.Fatalf("token %s is not in the table", tokenID)
	}
	return svc.Perform(context.Background(), st,
		&proxy.Call{Token: tok, Op: o, In: in, RequestID: "req_test", Client: "192.0.2.1", Size: len(body)})
}
