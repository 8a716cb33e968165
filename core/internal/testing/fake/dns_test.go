package fake_test

import (
	"testing"

	"github.com/patchbay-dev/patchbay/core/internal/testing/fake"
	"github.com/patchbay-dev/patchbay/core/plugin/client"
	"github.com/patchbay-dev/patchbay/sdk/dns"
)

func TestDNS(t *testing.T) {
	d, ctx := fake.NewDNS(client.DNSAbilities{CreateZones: true, MailRouting: true}), t.Context()
	zone, created, err := d.CreateZone(ctx, "example.com")
	if err != nil || !created {
		t.Fatalf("%+v, %v, %v", zone, created, err)
	}
	if _, created, err := d.CreateZone(ctx, "example.com"); err != nil || created {
		t.Errorf("%v, %v", created, err)
	}
	before := d.State()
	set := dns.RecordSet{Name: "mail.example.com", Type: dns.MX, TTL: 300, Values: []string{"10 MX.example.com."}}
	if out, err := d.SetRecords(ctx, zone.ID, set); err != nil || out != dns.Applied {
		t.Errorf("%s, %v", out, err)
	}
	set.Values = []string{"10 mx.example.com"}
	if checks, err := d.CheckRecords(ctx, zone.ID, []dns.RecordSet{set}); err != nil || checks[0].Visibility != dns.Visible {
		t.Errorf("%+v, %v", checks, err)
	}
	snapshot, err := d.ReadCatchAll(ctx, zone.ID)
	if err != nil || d.SetCatchAll(ctx, zone.ID) != nil || d.State() == before {
		t.Errorf("%v, %s", err, d.State())
	}
	rule, err := d.CreateRule(ctx, zone.ID, "a@mail.example.com")
	if again, _ := d.CreateRule(ctx, zone.ID, "a@mail.example.com"); err != nil || again != rule {
		t.Errorf("%q, %q, %v", rule, again, err)
	}
	for range 2 {
		_, err := d.DeleteRecords(ctx, zone.ID, "mail.example.com", dns.MX)
		if err != nil || d.DeleteRule(ctx, zone.ID, rule) != nil || d.RestoreCatchAll(ctx, zone.ID, snapshot) != nil {
			t.Error(err)
		}
	}
	if d.State() != before {
		t.Errorf("the state is %s, want %s", d.State(), before)
	}
	d.Fail("FindZone", nil, fake.DNSError(503, 0))
	for _, want := range []client.Cause{"", client.CauseUnreachable, ""} {
		if _, err := d.FindZone(ctx, "x.example.com"); client.CauseOf(err) != want {
			t.Errorf("%v, want %q", err, want)
		}
	}
	if _, err := d.FindZone(ctx, "elsewhere.example"); client.CauseOf(err) != client.CauseMissing {
		t.Errorf("%v", err)
	}
	manual := fake.NewDNS(client.DNSAbilities{Manual: true})
	for name, want := range map[string]dns.Outcome{"mail.example.com": dns.PendingManual, "mail.localhost": dns.NotNeeded} {
		out, err := manual.SetRecords(ctx, name, dns.RecordSet{Name: name, Type: dns.A, Values: []string{"192.0.2.1"}})
		if err != nil || out != want {
			t.Errorf("%s: %s, %v", name, out, err)
		}
	}
}
