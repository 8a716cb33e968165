package rfc2136_test

import (
	"fmt"
	"slices"
	"testing"

	"google.golang.org/grpc/codes"

	"github.com/patchbay-dev/patchbay/plugins/dns/rfc2136"
	"github.com/patchbay-dev/patchbay/plugins/internal/dnstest"
	"github.com/patchbay-dev/patchbay/sdk/conformance"
	"github.com/patchbay-dev/patchbay/sdk/dns"
	"github.com/patchbay-dev/patchbay/sdk/errs"
	"github.com/patchbay-dev/patchbay/sdk/plugintest"
)

func config(addr, secret string) string {
	return fmt.Sprintf(`{"server":%q,"zones":["example.com","hidden.test","sub.example.com","gone.test"],"key_name":%q,"key_secret":%q}`,
		addr, dnstest.KeyName, secret)
}

// TestBIND runs against one real server: the contract, and then what is the protocol's own.
func TestBIND(t *testing.T) {
	s := dnstest.StartNamed(t, "example.com", "sub.example.com", "!hidden.test")
	proxy := dnstest.NewTCPProxy(t, s.Addr)
	t.Run("conformance", func(t *testing.T) {
		conformance.TestDNS(t, rfc2136.Plugin(), conformance.DNSConfig{
			JSON: fmt.Sprintf(`{"server":%q,"zones":["example.com"],"key_name":%q,"key_secret":%q,"resolvers":[%q]}`, proxy.Addr, dnstest.KeyName,
				dnstest.KeySecret, s.Addr),
			Zone: "example.com", Missing: "example.net", Fault: proxy.SetFault, Secrets: []string{dnstest.KeySecret},
			Invalid: []string{
				config("ns1.example.com", dnstest.KeySecret), config(s.Addr, "no base64!"), config(s.Addr, ""),
				`{"server":"192.0.2.1","zones":[],"key_name":"k","key_secret":"c2VjcmV0"}`,
				`{"server":"192.0.2.1","zones":["a b"],"key_name":"k","key_secret":"c2VjcmV0"}`,
				`{"server":"192.0.2.1","zones":["a.b"],"key_name":"k","key_secret":"c2VjcmV0","ttl":0}`,
				`{"server":"192.0.2.1","zones":["a.b"],"key_name":"","key_secret":"c2VjcmV0"}`,
			},
		})
	})
	l := plugintest.Load(t, rfc2136.Plugin())
	c := dns.NewClient(l.Conn, l.Configure(t, plugintest.Config(t, dns.Kind, "main", config(s.Addr, dnstest.KeySecret))))
	zone, err := c.FindZone(t.Context(), "a.sub.example.com")
	if err != nil || zone.Name != "sub.example.com" {
		t.Fatalf("%+v, %v", zone, err)
	}
	a := dns.RecordSet{Name: "mx.sub.example.com", Type: dns.A, Values: []string{"192.0.2.1"}}
	mx := dns.RecordSet{Name: "sub.example.com", Type: dns.MX, TTL: 60, Values: []string{"10 mx.sub.example.com"}}
	for _, set := range []dns.RecordSet{a, mx} {
		if out, err := c.SetRecords(t.Context(), zone.ID, set); err != nil || out != dns.Applied {
			t.Fatalf("%s, %v", out, err)
		}
	}
	t.Run("visible", func(t *testing.T) {
		checks, err := c.CheckRecords(t.Context(), zone.ID, []dns.RecordSet{a, mx})
		if err != nil || checks[0].Visibility != dns.Visible || checks[1].Visibility != dns.Visible || checks[0].Observations[0].TTL != 300 {
			t.Errorf("%+v, %v", checks, err)
		}
	})
	t.Run("transfer", func(t *testing.T) {
		sets, err := c.ListRecords(t.Context(), zone.ID, "", "")
		var names []string
		for _, s := range sets {
			names = append(names, s.Name+" "+string(s.Type))
		}
		if want := []string{"mx.sub.example.com A", "ns1.sub.example.com A", "sub.example.com MX"}; err != nil || !slices.Equal(names, want) {
			t.Errorf("%v, %v", names, err)
		}
		if _, err := c.ListRecords(t.Context(), "hidden.test", "", ""); err == nil || errs.From(err).Code != codes.PermissionDenied {
			t.Errorf("a zone that is not transferred: %v", err)
		}
	})
	conflict := dns.RecordSet{Name: a.Name, Type: dns.CNAME, Values: []string{"example.com"}}
	if _, err := c.SetRecords(t.Context(), zone.ID, conflict); err == nil || errs.From(err).Reason != dns.ReasonConflict {
		t.Errorf("a CNAME beside an A: %v", err)
	}
	early := dns.RecordSet{Name: "sub.example.com", Type: dns.MX, Values: []string{"10 later.sub.example.com"}}
	if _, err := c.SetRecords(t.Context(), zone.ID, early); err == nil || errs.From(err).Reason != dns.ReasonInvalidRequest {
		t.Errorf("an MX before the address of its host: %v", err)
	}
	for _, id := range []string{"gone.test", "example.net"} {
		_, err := c.SetRecords(t.Context(), id, dns.RecordSet{Name: "a." + id, Type: dns.A, Values: []string{"192.0.2.1"}})
		if e := errs.From(err); e == nil || e.Source != errs.Upstream || e.Code != codes.NotFound && e.Code != codes.PermissionDenied {
			t.Errorf("%s: %v", id, err)
		}
	}
	t.Run("wrong key", func(t *testing.T) {
		wrong := dns.NewClient(l.Conn, l.Configure(t, plugintest.Config(t, dns.Kind, "wrong", config(s.Addr, "d3Jvbmc="))))
		if _, err := wrong.SetRecords(t.Context(), "example.com",
			dns.RecordSet{Name: "a.example.com", Type: dns.A, Values: []string{"192.0.2.1"}}); err == nil ||
			errs.From(err).Code != codes.Unauthenticated {
			t.Errorf("%v", err)
		}
	})
}
