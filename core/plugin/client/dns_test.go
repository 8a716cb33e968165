package client_test

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/patchbay-dev/patchbay/core/internal/testing/testplugin"
	"github.com/patchbay-dev/patchbay/core/plugin/catalog"
	"github.com/patchbay-dev/patchbay/core/plugin/client"
	"github.com/patchbay-dev/patchbay/sdk/dns"
	"github.com/patchbay-dev/patchbay/sdk/errs"
)

func newDNS(t *testing.T, seen *[]string) (client.DNS, func()) {
	t.Helper()
	handles, retire := openUpstreams(t, 300*time.Millisecond, dns.Kind)
	return client.NewDNS(handles[0], func(_, operation string, _, _ time.Duration, _ error) { *seen = append(*seen, operation) }), retire
}

func TestDNSFacade(t *testing.T) {
	var seen []string
	d, retire := newDNS(t, &seen)
	ctx := t.Context()
	want := func(what string, got, want any, err error) {
		t.Helper()
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("%s: %v, %s", what, err, diff)
		}
	}
	abilities, err := d.Describe()
	want("abilities", abilities, client.DNSAbilities{CreateZones: true, MailRouting: true}, err)
	_, plugin := d.Pin()
	want("plugin", plugin, "testplugin", nil)
	zones, err := d.ListZones(ctx)
	want("zones", zones, []dns.Zone{{ID: "1", Name: "example.com", Status: "active", NameServers: []string{"ns1.example.net"}}}, err)
	zone, err := d.FindZone(ctx, "A.Example.com.")
	want("zone", zone, &dns.Zone{ID: "1", Name: "a.example.com"}, err)
	zone, created, err := d.CreateZone(ctx, "example.org")
	want("new zone", zone, &dns.Zone{ID: "2", Name: "example.org"}, err)
	want("created", created, true, d.DeleteZone(ctx, "2"))
	sets, err := d.ListRecords(ctx, "1", "a.example.com", dns.MX)
	want("records", sets, []dns.RecordSet{{Name: "a.example.com", Type: dns.MX, TTL: 60, Values: []string{"1"}}}, err)
	set := dns.RecordSet{Name: "a.example.com", Type: dns.TXT, TTL: 60, Values: []string{"b", "a", "b"}}
	out, err := d.SetRecords(ctx, "1", set)
	want("set", out, dns.PendingManual, err)
	out, err = d.DeleteRecords(ctx, "1", "a.example.com", dns.TXT)
	want("delete", out, dns.Applied, err)
	checks, err := d.CheckRecords(ctx, "1", []dns.RecordSet{{Name: "a.localhost", Type: dns.A}, set})
	observed := []dns.Observation{{Server: "ns1", Values: []string{"a", "b"}, TTL: 60, Problem: "as asked"}}
	want("checks", checks, []dns.Check{
		{Name: "a.localhost", Type: dns.A, Visibility: dns.Unneeded},
		{Name: "a.example.com", Type: dns.TXT, Visibility: dns.Different, Observations: observed},
	}, err)
	rule, err := d.CreateRule(ctx, "1", "Ada@example.com")
	want("rule", rule, "rule of ada@example.com",
		errors.Join(err, d.DeleteRule(ctx, "1", "r"), d.EnableRouting(ctx, "1", "example.com"), d.DisableRouting(ctx, "1", "example.com")))
	snapshot, err := d.ReadCatchAll(ctx, "1")
	want("snapshot", string(snapshot), "snapshot", errors.Join(err, d.SetCatchAll(ctx, "1"), d.RestoreCatchAll(ctx, "1", snapshot)))
	want("operations", seen, []string{
		"listzones", "findzone", "createzone", "deletezone", "listrecords", "setrecords", "deleterecords", "checkrecords",
		"createrule", "deleterule", "enablerouting", "disablerouting", "readcatchall", "setcatchall", "restorecatchall",
	}, nil)
	retire()
	if _, err := d.ListZones(ctx); !errors.Is(err, catalog.ErrRetired) {
		t.Errorf("after a reload: %v", err)
	}
	if _, err := d.Describe(); !errors.Is(err, catalog.ErrRetired) {
		t.Errorf("after a reload: %v", err)
	}
	if _, got := d.Pin(); got != "" {
		t.Errorf("after a reload the plugin is %q", got)
	}
}

func TestDNSErrors(t *testing.T) {
	var seen []string
	d, _ := newDNS(t, &seen)
	for end, cause := range map[string]client.Cause{
		testplugin.EndLimited: client.CauseLimited, testplugin.EndDenied: client.CauseDenied, testplugin.EndMissing: client.CauseMissing,
		testplugin.EndDown: client.CauseUnreachable, testplugin.EndHang: client.CauseUnreachable, "": "",
	} {
		if err := d.SetCatchAll(t.Context(), "zone"+end); client.CauseOf(err) != cause {
			t.Errorf("%q: %v, want %q", end, err, cause)
		}
	}
	_, err := d.FindZone(t.Context(), "a..b")
	if client.CauseOf(err) != client.CauseRefused || errs.From(err).Reason != dns.ReasonInvalidRequest {
		t.Errorf("%v", err)
	}
}

// TestDNSIsPinnedToAPlugin: what was begun with one plugin does not go on with another one that a reload gives to the instance.
func TestDNSIsPinnedToAPlugin(t *testing.T) {
	c := newCatalog(t)
	apply := func(plugin string, timeout time.Duration) {
		applyInstances(t, c, catalog.Desired{Kind: dns.Kind, Name: "up", Plugin: plugin, Spec: testplugin.Spec(testplugin.Upstream),
			Timeout: timeout})
	}
	apply("testplugin", time.Second)
	handle, err := c.Handle(dns.Kind + ".up")
	if err != nil {
		t.Fatal(err)
	}
	d := client.NewDNS(handle, nil)
	pinned, plugin := d.Pin()
	if err := pinned.DeleteZone(t.Context(), "2"); err != nil || plugin != "testplugin" {
		t.Fatalf("with %q: %v", plugin, err)
	}
	apply("testplugin", 2*time.Second)
	if err := pinned.DeleteZone(t.Context(), "2"); err != nil {
		t.Errorf("after another change of the instance: %v", err)
	}
	apply("other", time.Second)
	for name, err := range map[string]error{"deletion": pinned.DeleteZone(t.Context(), "2"), "description": describe(pinned)} {
		if !errors.Is(err, client.ErrOtherPlugin) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if again, still := pinned.Pin(); again != pinned || still != "testplugin" {
		t.Errorf("what is pinned has become %q", still)
	}
	now, plugin := d.Pin()
	if err := now.DeleteZone(t.Context(), "2"); err != nil || plugin != "other" {
		t.Errorf("with %q: %v", plugin, err)
	}
}

// describe asks a provider for its abilities alone.
func describe(d client.DNS) error {
	_, err := d.Describe()
	return err
}
