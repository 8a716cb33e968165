package manual_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/patchbay-dev/patchbay/plugins/dns/manual"
	"github.com/patchbay-dev/patchbay/plugins/internal/dnstest"
	"github.com/patchbay-dev/patchbay/sdk/conformance"
	"github.com/patchbay-dev/patchbay/sdk/dns"
	"github.com/patchbay-dev/patchbay/sdk/plugintest"
)

func client(t *testing.T, config string) *dns.Client {
	t.Helper()
	l := plugintest.Load(t, manual.Plugin())
	return dns.NewClient(l.Conn, l.Configure(t, plugintest.Config(t, dns.Kind, "manual", config)))
}

func TestConformance(t *testing.T) {
	s := dnstest.Serve(t, "example.com", `mail A 192.0.2.25`)
	conformance.TestDNS(t, manual.Plugin(), conformance.DNSConfig{
		JSON: `{"resolvers":["` + s + `"],"timeout":"2s"}`, Zone: "example.com",
		Invalid: []string{`{"resolvers":["ns1.example.com"]}`, `{"resolvers":[""]}`, `{"resolvers":["192.0.2.1:0"]}`, `{"timeout":"0s"}`,
			`{"timeout":"2h"}`},
	})
}

func TestCheckRecords(t *testing.T) {
	s := dnstest.Serve(t, "example.com",
		`mail A 192.0.2.25`, `mail A 192.0.2.26`, `mail MX 10 Mail.example.com.`, `mail TXT "v=spf1 " "mx -all"`, `mail TXT "other"`,
		`*.wild TXT "w"`, `alias CNAME mail`)
	c := client(t, `{"resolvers":["`+s+`"],"timeout":"2s"}`)
	set := func(name string, recordType dns.Type, values ...string) dns.RecordSet {
		return dns.RecordSet{Name: name, Type: recordType, Values: values}
	}
	for _, tt := range []struct {
		set  dns.RecordSet
		want dns.Visibility
		seen []string
	}{
		{set("mail.example.com", dns.A, "192.0.2.26", "192.0.2.25"), dns.Visible, []string{"192.0.2.25", "192.0.2.26"}},
		{set("mail.example.com", dns.A, "192.0.2.25"), dns.Different, []string{"192.0.2.25", "192.0.2.26"}},
		{set("mail.example.com", dns.MX, "10 MAIL.example.com."), dns.Visible, []string{"10 mail.example.com"}},
		{set("mail.example.com", dns.TXT, "v=spf1 mx -all"), dns.Visible, []string{"other", "v=spf1 mx -all"}},
		{set("mail.example.com", dns.TXT, "v=spf1 -all"), dns.Missing, []string{"other", "v=spf1 mx -all"}},
		{set("mail.example.com", dns.TXT), dns.Different, []string{"other", "v=spf1 mx -all"}},
		{set("alias.example.com", dns.CNAME, "mail.example.com"), dns.Visible, []string{"mail.example.com"}},
		{set("*.wild.example.com", dns.TXT, "w"), dns.Visible, []string{"w"}},
		{set("none.example.com", dns.A, "192.0.2.25"), dns.Missing, nil},
		{set("none.example.com", dns.A), dns.Visible, nil},
		{set("mail.localhost", dns.A, "127.0.0.1"), dns.Unneeded, nil},
	} {
		checks, err := c.CheckRecords(t.Context(), "example.com", []dns.RecordSet{tt.set})
		if err != nil || checks[0].Visibility != tt.want {
			t.Errorf("%+v: %+v, %v, want %s", tt.set, checks, err, tt.want)
			continue
		}
		var seen []string
		for _, o := range checks[0].Observations {
			seen = append(seen, o.Values...)
			if o.Server != s || o.Problem != "" {
				t.Errorf("%+v: %+v", tt.set, o)
			}
		}
		if diff := cmp.Diff(tt.seen, seen); diff != "" {
			t.Errorf("%+v: %s", tt.set, diff)
		}
	}
}

// TestNoAnswer: a resolver that is not there is a part of the answer and no error.
func TestNoAnswer(t *testing.T) {
	c := client(t, `{"resolvers":["127.0.0.1:1"],"timeout":"200ms"}`)
	checks, err := c.CheckRecords(t.Context(), "example.com",
		[]dns.RecordSet{{Name: "example.com", Type: dns.A, Values: []string{"192.0.2.1"}}})
	if err != nil || checks[0].Visibility != dns.Unknown || checks[0].Observations[0].Problem == "" {
		t.Errorf("%+v, %v", checks, err)
	}
}

func TestOutcomes(t *testing.T) {
	c := client(t, `{}`)
	for name, want := range map[string]dns.Outcome{"mail.example.com": dns.PendingManual, "mail.localhost": dns.NotNeeded} {
		zone, err := c.FindZone(t.Context(), name)
		if err != nil || zone.Name != name {
			t.Fatalf("%+v, %v", zone, err)
		}
		set := dns.RecordSet{Name: "a." + name, Type: dns.MX, Values: []string{"10 " + name}}
		got, err := c.SetRecords(t.Context(), zone.ID, set)
		if err != nil || got != want {
			t.Errorf("set %s: %s, %v, want %s", name, got, err, want)
		}
		if got, err = c.DeleteRecords(t.Context(), zone.ID, set.Name, set.Type); err != nil || got != want {
			t.Errorf("delete %s: %s, %v, want %s", name, got, err, want)
		}
	}
	if _, err := c.SetRecords(t.Context(), "example.com",
		dns.RecordSet{Name: "example.org", Type: dns.A, Values: []string{"192.0.2.1"}}); err == nil {
		t.Error("a name of another zone is accepted")
	}
}
