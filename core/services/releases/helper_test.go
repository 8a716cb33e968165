package releases_test

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/hashicorp/go-hclog"

	"github.com/patchbay-dev/patchbay/core/auth"
	"github.com/patchbay-dev/patchbay/core/cluster"
	"github.com/patchbay-dev/patchbay/core/event"
	"github.com/patchbay-dev/patchbay/core/httpd"
	"github.com/patchbay-dev/patchbay/core/internal/testing/fake"
	"github.com/patchbay-dev/patchbay/core/internal/testing/testkit"
	"github.com/patchbay-dev/patchbay/core/internal/testing/webtest"
	"github.com/patchbay-dev/patchbay/core/notify"
	"github.com/patchbay-dev/patchbay/core/plugin/client"
	"github.com/patchbay-dev/patchbay/core/queue"
	"github.com/patchbay-dev/patchbay/core/secret"
	"github.com/patchbay-dev/patchbay/core/services/releases"
	hosts "github.com/patchbay-dev/patchbay/core/services/releases/sync"
	"github.com/patchbay-dev/patchbay/core/store"
	"github.com/patchbay-dev/patchbay/sdk/codehost"
	sdk "github.com/patchbay-dev/patchbay/sdk/notify"
	"github.com/patchbay-dev/patchbay/sdk/schema"
	"github.com/patchbay-dev/patchbay/sdk/translator"
)

type dict = map[string]any

var must = testkit.Must

// clock is a clock that tests turn on.
type clock struct {
	mu sync.Mutex
	at time.Time
}

func (c *clock) now() time.Time { c.mu.Lock(); defer c.mu.Unlock(); return c.at }

func (c *clock) advance(d time.Duration) { c.mu.Lock(); defer c.mu.Unlock(); c.at = c.at.Add(d) }

// The tokens of the people at the code host.
const (
	adaToken = "ghp_ada_token_of_the_code_host"
	bobToken = "ghp_bob_token_of_the_code_host"
)

// server is the service on a real listener with a queue that works, and a code host.
type server struct {
	testing.TB
	service *releases.Service
	users   *auth.Users
	store   *store.Store
	queue   *queue.Queue
	host    *fake.CodeHost
	clock   *clock
	// told gets the notifications of the channel notify.ops.
	told     *fake.Notifier
	sender   *notify.Sender
	model    *fake.Translator
	base     string
	settings releases.Settings
	access   auth.Access
	ada, bob string
	adaID    string
	// adaCookie is a session of Ada.
	adaCookie string
	// planned counts the queries of rounds of the schedule.
	planned atomic.Int64
}

// forEach runs a test on both dialects.
func forEach(t *testing.T, f func(t *testing.T, s *server), change ...func(*releases.Settings)) {
	testkit.ForEachDialect(t, func(t *testing.T, cfg store.Config) { f(t, startServer(t, cfg, change...)) })
}

func startServer(t testing.TB, cfg store.Config, change ...func(*releases.Settings)) *server {
	t.Helper()
	s := startServerOn(t, testkit.OpenStore(t, cfg, serverMigrations()...), nil, change...)
	s.addPeople()
	return s
}

// serverMigrations are those of a server.
func serverMigrations() []store.Migrations {
	return []store.Migrations{auth.Migrations(), queue.Migrations(), notify.Migrations(), releases.Migrations()}
}

// startServerOn starts a server on a database, which it shares with others if there is a cluster. It has no people.
func startServerOn(t testing.TB, st *store.Store, c *cluster.Cluster, change ...func(*releases.Settings)) *server {
	t.Helper()
	gin.SetMode(gin.ReleaseMode)
	ring, err := secret.NewKeyring(make([]byte, secret.KeySize))
	must(t, err)
	s := &server{TB: t, store: st, host: fake.NewCodeHost(""), model: fake.NewTranslator("译"), told: fake.NewNotifier(sdk.Descriptor{}),
		clock: &clock{at: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)}}
	s.watchQueries()
	s.users, err = auth.New(auth.Config{Store: s.store, Keyring: ring, Scopes: []string{"mail", "releases"}})
	must(t, err)
	s.access.Trusted, err = httpd.NewClients([]string{"127.0.0.0/8"})
	must(t, err)
	s.access.PublicURL = "https://patchbay.example.com"
	s.settings = releases.Settings{BaseURL: "/releases", CodeHosts: []string{"codehost.main"}, Interval: time.Hour, TimeZone: "UTC",
		BriefHour: 8, Translation: releases.TranslationSettings{BatchTokens: 1800}}
	for _, f := range change {
		f(&s.settings)
	}
	bus := event.NewBus()
	t.Cleanup(bus.Close)
	s.queue, err = queue.New(queue.Config{Store: s.store, Bus: bus, Cluster: c, Poll: 20 * time.Millisecond})
	must(t, err)
	s.sender, err = notify.New(notify.Config{Store: s.store, Cluster: c, Channel: func(string) (client.Notifier, error) { return s.told, nil }})
	must(t, err)
	s.sender.Use(s.queue)
	s.service, err = releases.New(context.Background(), releases.Config{
		Store: s.store, Keyring: ring, Queue: s.queue, Logger: hclog.NewNullLogger(), Settings: s.settings, Users: s.users, Alerts: s.sender,
		Hosts:      []hosts.Host{hosts.NewHost("codehost.main", s.host)},
		Translator: s.translator(), Access: s.access, Now: s.clock.now, Cluster: c,
	})
	must(t, err)
	t.Cleanup(s.service.Close)
	must(t, s.queue.Register(append(s.service.Jobs(), s.sender.Jobs()...), nil))
	must(t, s.queue.Start(context.Background()))
	t.Cleanup(func() { _ = s.queue.Stop(context.Background()) })
	s.mount()
	return s
}

// translator returns the translator, nil unless the settings name one.
func (s *server) translator() translator.Translator {
	if s.settings.Translator == "" {
		return nil
	}
	return s.model
}

func (s *server) mount() {
	s.Helper()
	mount, err := s.service.MountAt("/releases")
	must(s, err)
	h := webtest.Serve(s, httpd.Options{Guard: s.users.Guard(s.access), Clients: s.access.Trusted}, mount)
	s.base = "http://" + h.Addr() + "/releases"
}

// addPeople makes Ada and Bob, who have accounts at the code host.
func (s *server) addPeople() {
	s.Helper()
	ctx := context.Background()
	_, _, err := s.users.Create(ctx, "root@example.com", "Root", auth.Admin)
	must(s, err)
	ada, key, err := s.users.Create(ctx, "ada@example.com", "Ada", auth.Member)
	must(s, err)
	s.ada, s.adaID = key, ada.ID
	link, err := s.users.Links.CreateForUser(ctx, ada.ID)
	must(s, err)
	s.adaCookie, _, err = s.users.Links.Use(ctx, link, "", "", auth.Origin{Address: "127.0.0.1"})
	must(s, err)
	_, s.bob, err = s.users.Create(ctx, "bob@example.com", "Bob", auth.Member)
	must(s, err)
	s.host.AddAccount(schema.Secret(adaToken), codehost.Account{ID: "1", Login: "ada", AvatarURL: "https://avatars.example.com/ada"})
	s.host.AddAccount(schema.Secret(bobToken), codehost.Account{ID: "2", Login: "bob"})
}

// userOf returns Ada or Bob by the key.
func (s *server) userOf(key string) auth.User {
	s.Helper()
	email := map[string]string{s.ada: "ada@example.com", s.bob: "bob@example.com"}[key]
	all, err := s.users.List(context.Background())
	must(s, err)
	for _, u := range all {
		if u.Email == email {
			return u
		}
	}
	s.Fatal("there is no user " + email)
	return auth.User{}
}

// runJob runs a job of the service.
func (s *server) runJob(kind string) {
	s.Helper()
	for _, h := range s.service.Jobs() {
		if h.Type == kind {
			_, err := h.Run(context.Background(), nil, noProgress{})
			must(s, err)
			return
		}
	}
	s.Fatal("there is no job " + kind)
}

// noProgress takes no reports.
type noProgress struct{ queue.Progress }

func (noProgress) Emit(context.Context, string, any) {}
func (noProgress) Percent(context.Context, int)      {}

// reply is an answer, read whole.
type reply struct {
	status int
	header http.Header
	body   []byte
}

// send makes a request. who is an API key, a cookie of a session, or "" for nobody.
func (s *server) send(who, method, path string, body any, header ...string) reply {
	s.Helper()
	switch {
	case strings.HasPrefix(who, "svc_ak_"):
		header = append(header, "Authorization", "Bearer "+who)
	case who != "":
		header = append(header, "Cookie", auth.SessionCookie+"="+who)
	}
	res, raw := webtest.SendJSON(s, method, s.base+path, body, header...)
	return reply{res.StatusCode, res.Header, raw}
}

// want sends a request and compares status and, unless it is empty, code. It returns the body, if that is an object.
func (s *server) want(status int, code, who, method, path string, body any) dict {
	s.Helper()
	got := s.send(who, method, path, body)
	out := dict{}
	_ = json.Unmarshal(got.body, &out)
	if got.status != status || code != "" && out["code"] != code {
		s.Fatalf("%s %s %v: got %d %s, want %d %s", method, path, body, got.status, got.body, status, code)
	}
	return out
}

// list sends a request and returns the body, which is an array.
func (s *server) list(who, path string) (out []dict) {
	s.Helper()
	got := s.send(who, http.MethodGet, path, nil)
	if got.status != http.StatusOK {
		s.Fatalf("%s: %d %s", path, got.status, got.body)
	}
	must(s, json.Unmarshal(got.body, &out))
	return out
}

// titles returns kind and title of the items of a feed, in their order.
func titles(feed dict) (out []string) {
	for _, item := range feed["items"].([]any) {
		i := item.(dict)
		name := i["title"]
		if name == nil {
			name = i["actor"].(dict)["login"]
		}
		out = append(out, i["kind"].(string)+" "+name.(string))
	}
	return out
}
