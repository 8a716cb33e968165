package mail_test

import (
	"context"
	"testing"

	"github.com/patchbay-dev/patchbay/core/plugin/client"
	"github.com/patchbay-dev/patchbay/sdk/dns"
)

// listInterrupter is a provider in front of another one. after, unless it is nil, runs once, after the next call of ListZones.
type listInterrupter struct {
	client.DNS
	after func()
}

func (i *listInterrupter) Pin() (client.DNS, string) {
	_, plugin := i.DNS.Pin()
	return i, plugin
}

func (i *listInterrupter) ListZones(ctx context.Context) ([]dns.Zone, error) {
	zones, err := i.DNS.ListZones(ctx)
	runOnce(&i.after)
	return zones, err
}

// TestZoneIsListedAgainMeanwhile: a zone that the provider lists again while a person checks the domain is not taken for another one.
func TestZoneIsListedAgainMeanwhile(t *testing.T) {
	for name, in := range catchAllChanges {
		for _, path := range []string{"retry", "bind"} {
			t.Run(name+" "+path, func(t *testing.T) {
				forEach(t, routed, func(t *testing.T, s *server) {
					at := s.interruptChange(in)
					s.dns.HideZone("zone-example.com", true)
					s.want(409, "conflict", s.admin, "POST", at+"/retry", nil)
					i := &listInterrupter{DNS: s.dns, after: func() { s.dns.HideZone("zone-example.com", false) }}
					s.useProvider("dns.main", i)
					if path == "bind" {
						at = "/api/domains"
					}
					s.want(409, "conflict", s.admin, "POST", at+"/"+path, dict{"mailDomain": "example.com"})
					if got := s.domain("example.com"); !s.hasPending() || got["zoneId"] != "zone-example.com" || got["bindingSource"] != "project_bind" {
						t.Errorf("the zone is forgotten: %v", got)
					}
					s.cleanUp()
					if s.hasPending() {
						t.Error("the catch-all is not taken back")
					}
					s.wantRules(`catch-all=""`)
				})
			})
		}
	}
}
