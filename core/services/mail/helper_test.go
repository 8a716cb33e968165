package mail_test

import (
	"context"
	"encoding/json"
	"sync"
	"testing"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/hashicorp/go-hclog"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/patchbay-dev/patchbay/core/auth"
	"github.com/patchbay-dev/patchbay/core/httpd"
	"github.com/patchbay-dev/patchbay/core/internal/testing/fake"
	"github.com/patchbay-dev/patchbay/core/internal/testing/testkit"
	"github.com/patchbay-dev/patchbay/core/internal/testing/webtest"
	"github.com/patchbay-dev/patchbay/core/plugin/client"
	"github.com/patchbay-dev/patchbay/core/secret"
	"github.com/patchbay-dev/patchbay/core/services/mail"
	"github.com/patchbay-dev/patchbay/core/store"
	"github.com/patchbay-dev/patchbay/sdk/dns"
)

type dict = map[string]any

var must = testkit.Must

// clock is a clock that tests turn on. before, unless it is nil, runs once, before the next look at it.
type clock struct {
	mu     sync.Mutex
	at     time.Time
	before func()
}

func (c *clock) now() time.Time {
	c.mu.Lock()
	run := c.before
	c.before = nil
	c.mu.Unlock()
	if run != nil {
		run()
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.at
}

func (c *clock) advance(d time.Duration) { c.mu.Lock(); defer c.mu.Unlock(); c.at = c.at.Add(d) }

// server is the service on a real listener, with an administrator and two members.
type server struct {
	t       *testing.T
	service *mail.Service
	users   *auth.Users
	store   *store.Store
	dns     *fake.DNS
	// provider is what the service is given: dns, or something around it.
	provider client.DNS
	// metrics gets the figures; nil for none.
	metrics         *prometheus.Registry
	clock           *clock
	base            string
	admin, ada, bob string
	settings        mail.Settings
	access          auth.Access
	adminID, adaID  string
}

// forEach runs a test on both dialects, with a double of a provider that has these abilities.
func forEach(t *testing.T, can client.DNSAbilities, f func(t *testing.T, s *server)) {
	testkit.ForEachDialect(t, func(t *testing.T, cfg store.Config) { f(t, startServer(t, cfg, can)) })
}

func startServer(t *testing.T, cfg store.Config, can client.DNSAbilities) *server {
	t.Helper()
	gin.SetMode(gin.ReleaseMode)
	ring, err := secret.NewKeyring(make([]byte, secret.KeySize))
	must(t, err)
	s := &server{t: t, dns: fake.NewDNS(can), clock: &clock{at: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)}}
	s.provider = s.dns
	s.store = testkit.OpenStore(t, cfg, auth.Migrations(), mail.Migrations())
	s.users, err = auth.New(auth.Config{Store: s.store, Keyring: ring, Scopes: []string{"mail", "search"}})
	must(t, err)
	s.access.Trusted, err = httpd.NewClients([]string{"127.0.0.0/8"})
	must(t, err)
	s.settings = mail.Settings{DNS: "dns.main", Domains: []string{"mail.localhost"}, MXHost: "mx.example.com"}
	s.open()
	s.remount()
	admin, key, err := s.users.Create(t.Context(), "admin@example.com", "Admin", auth.Admin)
	must(t, err)
	s.admin, s.adminID = key, admin.ID
	ada, key, err := s.users.Create(t.Context(), "ada@example.com", "Ada", auth.Member)
	must(t, err)
	s.ada, s.adaID = key, ada.ID
	_, s.bob, err = s.users.Create(t.Context(), "bob@example.com", "Bob", auth.Member)
	must(t, err)
	return s
}

// registerer returns where the figures go; nil for nowhere.
func (s *server) registerer() prometheus.Registerer {
	if s.metrics == nil {
		return nil
	}
	return s.metrics
}

// open makes the service on the database, as a start of the core does.
func (s *server) open() {
	s.t.Helper()
	var err error
	s.service, err = mail.New(s.t.Context(), mail.Config{
		Store: s.store, Logger: hclog.NewNullLogger(), Settings: s.settings, DNS: s.provider, Metrics: s.registerer(), Users: s.users,
		Access: s.access, Now: s.clock.now,
	})
	must(s.t, err)
	s.t.Cleanup(s.service.Close)
}

// remount serves the present service at an address of its own.
func (s *server) remount() {
	s.t.Helper()
	mount, err := s.service.MountAt("/mail")
	must(s.t, err)
	h := webtest.Serve(s.t, httpd.Options{Guard: s.users.Guard(s.access), Clients: s.access.Trusted}, mount)
	s.base = "http://" + h.Addr() + "/mail"
}

// cleanUp runs the job of the service.
func (s *server) cleanUp() {
	s.t.Helper()
	must(s.t, s.runCleanUp(s.t.Context()))
}

// runCleanUp is cleanUp in a context.
func (s *server) runCleanUp(ctx context.Context) error {
	s.t.Helper()
	for _, h := range s.service.Jobs() {
		if h.Type == "mail.clean_up" {
			_, err := h.Run(ctx, nil, nil)
			return err
		}
	}
	s.t.Fatal("there is no such job")
	return nil
}

// call sends a request with an API key and returns status and body.
func (s *server) call(key, method, path string, body any) (int, dict) {
	s.t.Helper()
	var header []string
	if key != "" {
		header = []string{"Authorization", "Bearer " + key}
	}
	res, raw := webtest.SendJSON(s.t, method, s.base+path, body, header...)
	out := dict{}
	if len(raw) > 0 {
		must(s.t, json.Unmarshal(raw, &out))
	}
	return res.StatusCode, out
}

// want calls and compares status and, unless it is empty, code.
func (s *server) want(status int, code, key, method, path string, body any) dict {
	s.t.Helper()
	got, out := s.call(key, method, path, body)
	if got != status || code != "" && out["code"] != code {
		s.t.Fatalf("%s %s %v: got %d %v, want %d %s", method, path, body, got, out, status, code)
	}
	return out
}

// text returns a member of an answer that must be a text.
func text(t *testing.T, body dict, name string) string {
	t.Helper()
	v, ok := body[name].(string)
	if !ok {
		t.Fatalf("%s is %v", name, body[name])
	}
	return v
}

// setMX sets the MX record of a name at the provider.
func setMX(t *testing.T, provider client.DNS, zoneID, name, value string) error {
	t.Helper()
	_, err := provider.SetRecords(t.Context(), zoneID, dns.RecordSet{Name: name, Type: dns.MX, Values: []string{value}})
	return err
}
