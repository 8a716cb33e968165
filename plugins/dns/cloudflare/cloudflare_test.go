package cloudflare_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc/codes"

	"github.com/patchbay-dev/patchbay/plugins/dns/cloudflare"
	"github.com/patchbay-dev/patchbay/plugins/internal/cloudflaretest"
	"github.com/patchbay-dev/patchbay/plugins/internal/dnstest"
	"github.com/patchbay-dev/patchbay/sdk/conformance"
	"github.com/patchbay-dev/patchbay/sdk/dns"
	"github.com/patchbay-dev/patchbay/sdk/errs"
	"github.com/patchbay-dev/patchbay/sdk/plugintest"
)

// config has a resolver that is not there: the names of the stand-in are on no server.
func config(url string) string {
	return fmt.Sprintf(`{"base_url":%q,"api_token":%q,"account_id":%q,"worker":%q,"resolvers":["127.0.0.1:1"]}`,
		url, cloudflaretest.Token, cloudflaretest.Account, cloudflaretest.Worker)
}

func client(t *testing.T, config string) *dns.Client {
	t.Helper()
	l := plugintest.Load(t, cloudflare.Plugin())
	return dns.NewClient(l.Conn, l.Configure(t, plugintest.Config(t, dns.Kind, "main", config)))
}

func TestConformance(t *testing.T) {
	s := cloudflaretest.New(t)
	s.AddZone("example.com")
	proxy := dnstest.NewProxy(t, strings.TrimSuffix(s.URL, "/client/v4"))
	conformance.TestDNS(t, cloudflare.Plugin(), conformance.DNSConfig{
		JSON: config(proxy.URL + "/client/v4"), Zone: "example.com", NewZone: "new.example.org", Missing: "www.example.net",
		Fault: proxy.SetFault, Secrets: []string{cloudflaretest.Token},
		Invalid: []string{
			`{"api_token":"x","base_url":"ftp://x"}`, `{"api_token":"x","cooldown":"0s"}`, `{"api_token":"x","timeout":"0s"}`,
			`{"api_token":"x","resolvers":["x"]}`,
		},
	})
}

func TestZones(t *testing.T) {
	s := cloudflaretest.New(t)
	for i := range 120 {
		s.AddZone(fmt.Sprintf("zone%03d.example", i))
	}
	s.TakeZone("taken.example")
	c := client(t, config(s.URL))
	if zones, err := c.ListZones(t.Context()); err != nil || len(zones) != 120 {
		t.Errorf("%d zones, %v", len(zones), err)
	}
	if zone, err := c.FindZone(t.Context(), "*.a.zone077.example"); err != nil || zone.Name != "zone077.example" || zone.Status != "active" ||
		len(zone.NameServers) != 2 {
		t.Errorf("%+v, %v", zone, err)
	}
	if _, _, err := c.CreateZone(t.Context(), "taken.example"); err == nil || errs.From(err).Reason != dns.ReasonConflict {
		t.Errorf("%v", err)
	}
}

func TestConflicts(t *testing.T) {
	s := cloudflaretest.New(t)
	id := s.AddZone("example.com")
	s.AddRule(id, "ada@example.com")
	c := client(t, config(s.URL))
	if _, err := c.SetRecords(t.Context(), id, dns.RecordSet{Name: "a.example.com", Type: dns.A, Values: []string{"192.0.2.1"}}); err != nil {
		t.Fatal(err)
	}
	_, recordErr := c.SetRecords(t.Context(), id, dns.RecordSet{Name: "a.example.com", Type: dns.CNAME, Values: []string{"b.example.com"}})
	_, ruleErr := c.CreateRule(t.Context(), id, "ada@example.com")
	for _, err := range []error{recordErr, ruleErr} {
		if e := errs.From(err); e == nil || e.Reason != dns.ReasonConflict || e.Source != errs.Upstream {
			t.Errorf("%v", err)
		}
	}
}

// TestCatchAllIsRestoredExactly compares what the vendor has, not what the plugin says of it.
func TestCatchAllIsRestoredExactly(t *testing.T) {
	s := cloudflaretest.New(t)
	id := s.AddZone("example.com")
	c, before := client(t, config(s.URL)), s.CatchAll(id)
	taken, err := c.ReadCatchAll(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.SetCatchAll(t.Context(), id); err != nil || !strings.Contains(s.CatchAll(id), cloudflaretest.Worker) {
		t.Errorf("%v, %s", err, s.CatchAll(id))
	}
	if err := c.RestoreCatchAll(t.Context(), id, taken); err != nil || s.CatchAll(id) != before {
		t.Errorf("%v\n%s\n%s", err, before, s.CatchAll(id))
	}
}

func TestNotConfigured(t *testing.T) {
	s := cloudflaretest.New(t)
	id := s.AddZone("example.com")
	c := client(t, fmt.Sprintf(`{"base_url":%q,"api_token":%q}`, s.URL, cloudflaretest.Token))
	_, ruleErr := c.CreateRule(t.Context(), id, "ada@example.com")
	_, _, zoneErr := c.CreateZone(t.Context(), "example.org")
	for _, err := range []error{ruleErr, zoneErr, c.SetCatchAll(t.Context(), id)} {
		if e := errs.From(err); e == nil || e.Reason != dns.ReasonNotConfigured || e.Code != codes.FailedPrecondition {
			t.Errorf("%v", err)
		}
	}
	if n := len(s.Requests()); n != 0 {
		t.Errorf("%q were sent", s.Requests())
	}
}

// TestCooldown: after a 429 nothing is sent, by whatever call, until the time that the API named, or the configured one.
func TestCooldown(t *testing.T) {
	for header, want := range map[string]time.Duration{"": 15 * time.Minute, "120": 2 * time.Minute} {
		var requests []string
		srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			requests = append(requests, r.URL.Path)
			if header != "" {
				w.Header().Set("Retry-After", header)
			}
			w.WriteHeader(http.StatusTooManyRequests)
			_, _ = w.Write([]byte(`{"success":false,"errors":[{"code":10429,"message":"slow down"}]}`))
		}))
		defer srv.Close()
		c := client(t, config(srv.URL))
		_, first := c.ListZones(t.Context())
		if e := errs.From(first); e == nil || e.Code != codes.ResourceExhausted || e.RetryAfter != want ||
			!strings.Contains(e.Message, "slow down (10429)") {
			t.Errorf("%q: %v", header, first)
		}
		_, second := c.FindZone(t.Context(), "example.com")
		for _, err := range []error{second, c.SetCatchAll(t.Context(), "zone"), c.DeleteRule(t.Context(), "zone", "rule")} {
			e := errs.From(err)
			if e == nil || e.Reason != dns.ReasonCoolingDown || e.RetryAfter <= want-time.Minute || e.RetryAfter > want ||
				!strings.Contains(e.Message, "until 20") {
				t.Errorf("%q: %v", header, err)
			}
		}
		if !slices.Equal(requests, []string{"/zones"}) {
			t.Errorf("%q: %q were sent", header, requests)
		}
	}
}
