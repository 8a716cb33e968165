package powerdns_test

import (
	"fmt"
	"testing"

	"google.golang.org/grpc/codes"

	"github.com/patchbay-dev/patchbay/plugins/dns/powerdns"
	"github.com/patchbay-dev/patchbay/plugins/internal/dnstest"
	"github.com/patchbay-dev/patchbay/sdk/conformance"
	"github.com/patchbay-dev/patchbay/sdk/dns"
	"github.com/patchbay-dev/patchbay/sdk/errs"
	"github.com/patchbay-dev/patchbay/sdk/plugintest"
)

func config(s *dnstest.PowerDNS, url string) string {
	return fmt.Sprintf(`{"api_url":%q,"api_key":%q,"name_servers":["ns1.example.net","ns2.example.net"],"resolvers":[%q]}`, url, s.Key, s.Addr)
}

// TestPowerDNS runs against one real server: the contract, and then what is PowerDNS's own.
func TestPowerDNS(t *testing.T) {
	s := dnstest.StartPowerDNS(t, "example.com", "sub.example.com")
	proxy := dnstest.NewProxy(t, s.URL)
	t.Run("conformance", func(t *testing.T) {
		conformance.TestDNS(t, powerdns.Plugin(), conformance.DNSConfig{
			JSON: config(s, proxy.URL), Zone: "example.com", NewZone: "new.example.org", Missing: "example.net", Fault: proxy.SetFault,
			Secrets: []string{s.Key},
			Invalid: []string{
				`{"api_url":"ftp://x","api_key":"k"}`, `{"api_url":"http://x","api_key":"k","ttl":0}`,
				`{"api_url":"http://x","api_key":"k","timeout":"0s"}`,
				`{"api_url":"http://x","api_key":"k","resolvers":["x"]}`, `{"api_url":"http://x","api_key":"k","name_servers":["a b"]}`,
				`{"api_url":"http://x","api_key":"k","server_id":""}`,
			},
		})
	})
	l := plugintest.Load(t, powerdns.Plugin())
	c := dns.NewClient(l.Conn, l.Configure(t, plugintest.Config(t, dns.Kind, "main", config(s, s.URL))))
	zone, err := c.FindZone(t.Context(), "a.sub.example.com")
	if err != nil || zone.Name != "sub.example.com" {
		t.Fatalf("%+v, %v", zone, err)
	}
	set := dns.RecordSet{Name: "mx.sub.example.com", Type: dns.A, Values: []string{"192.0.2.1"}}
	if out, err := c.SetRecords(t.Context(), zone.ID, set); err != nil || out != dns.Applied {
		t.Errorf("%s, %v", out, err)
	}
	t.Run("visible", func(t *testing.T) {
		checks, err := c.CheckRecords(t.Context(), zone.ID, []dns.RecordSet{set})
		if err != nil || checks[0].Visibility != dns.Visible || checks[0].Observations[0].TTL != 300 {
			t.Errorf("%+v, %v", checks, err)
		}
	})
	for _, tt := range []struct {
		name   string
		zoneID string
		set    dns.RecordSet
		code   codes.Code
		reason string
	}{
		{"CNAME beside an A", zone.ID, dns.RecordSet{Name: set.Name, Type: dns.CNAME, Values: []string{"example.com"}}, codes.AlreadyExists,
			dns.ReasonConflict},
		{"zone that is not there", "example.net.", dns.RecordSet{Name: "example.net", Type: dns.A, Values: []string{"192.0.2.1"}},
			codes.NotFound, dns.ReasonNoZone},
		{"name of another zone", zone.ID, dns.RecordSet{Name: "example.org", Type: dns.A, Values: []string{"192.0.2.1"}}, codes.InvalidArgument,
			errs.ReasonStatus},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := c.SetRecords(t.Context(), tt.zoneID, tt.set)
			if e := errs.From(err); e == nil || e.Code != tt.code || e.Reason != tt.reason || e.Source != errs.Upstream {
				t.Errorf("%v", err)
			}
		})
	}
	t.Run("wrong key", func(t *testing.T) {
		wrong := dns.NewClient(l.Conn, l.Configure(t,
			plugintest.Config(t, dns.Kind, "wrong", fmt.Sprintf(`{"api_url":%q,"api_key":"wrong"}`, s.URL))))
		if _, err := wrong.ListZones(t.Context()); err == nil || errs.From(err).Code != codes.Unauthenticated {
			t.Errorf("%v", err)
		}
		if _, _, err := wrong.CreateZone(t.Context(), "other.example.org"); err == nil || errs.From(err).Reason != dns.ReasonNotConfigured {
			t.Errorf("%v", err)
		}
	})
}
