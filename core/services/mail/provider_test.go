package mail_test

import (
	"context"
	"strings"
	"testing"

	"github.com/patchbay-dev/patchbay/core/internal/testing/fake"
	"github.com/patchbay-dev/patchbay/core/plugin/client"
)

// TestRoutingBeginsWithCatchAll: a catch-all that was never at a provider ends when the domain gets one that routes mail, and registered
// mailboxes get rules.
func TestRoutingBeginsWithCatchAll(t *testing.T) {
	begin := func(t *testing.T, s *server, at string) {
		s.want(200, "", s.admin, "POST", at+"/catch-all/enable", nil)
		s.want(201, "", s.ada, "POST", "/api/mailboxes", dict{"localPart": "box", "mailDomain": "example.com"})
		_, err := s.service.FindRecipient(t.Context(), "caught@example.com")
		must(t, err)
		s.settings.DNS = "dns.main"
		s.swapPlugin("other", routed)
		s.dns.AddZone("example.com", "kept")
		got := s.want(200, "", s.admin, "POST", at+"/retry", nil)
		if got["status"] != "active" || got["catchAllEnabled"] != false || got["subdomainDnsMode"] != "explicit" {
			t.Errorf("got %v", got)
		}
		s.wantRules("rules=[box@example.com]", `catch-all="kept"`)
		if _, err := s.service.FindRecipient(t.Context(), "caught@example.com"); err == nil {
			t.Error("a mailbox of the catch-all still takes mail")
		}
		s.want(200, "", s.admin, "POST", at+"/catch-all/enable", nil)
		s.want(200, "", s.admin, "POST", at+"/catch-all/disable", nil)
		s.wantRules("rules=[box@example.com]", `catch-all="kept"`)
	}
	t.Run("after another plugin", func(t *testing.T) {
		forEach(t, client.DNSAbilities{Manual: true}, func(t *testing.T, s *server) { begin(t, s, "/api/domains/"+s.bind()) })
	})
	t.Run("after no provider", func(t *testing.T) {
		forEach(t, client.DNSAbilities{Manual: true}, func(t *testing.T, s *server) {
			s.useNoProvider()
			begin(t, s, "/api/domains/"+s.bind())
		})
	})
}

// TestRetryEndsCatchAllOfUnknownOrigin: a catch-all that cannot be taken back, since nobody knows what the provider did before, ends when
// the domain is tried again, and registered mailboxes get rules.
func TestRetryEndsCatchAllOfUnknownOrigin(t *testing.T) {
	forEach(t, routed, func(t *testing.T, s *server) {
		at := "/api/domains/" + s.bind()
		s.want(200, "", s.admin, "POST", at+"/catch-all/enable", nil)
		s.want(201, "", s.ada, "POST", "/api/mailboxes", dict{"localPart": "box", "mailDomain": "example.com"})
		must(t, s.store.Tx(t.Context(), "forget", func(ctx context.Context) error {
			return s.store.Writer(ctx).Exec("UPDATE mail_domains SET catch_all_snapshot = NULL").Error
		}))
		s.want(409, "conflict", s.admin, "POST", at+"/catch-all/disable", nil)
		if got := s.want(200, "", s.admin, "POST", at+"/retry", nil); got["status"] != "active" || got["catchAllEnabled"] != false {
			t.Errorf("got %v", got)
		}
		s.wantRules("rules=[box@example.com]")
		s.want(200, "", s.admin, "POST", at+"/catch-all/enable", nil)
		s.want(200, "", s.admin, "POST", at+"/catch-all/disable", nil)
	})
}

// TestInstanceGetsAnotherReference: what a domain has at its provider is not sought at another instance of the same plugin, even if the ids
// mean something there.
func TestInstanceGetsAnotherReference(t *testing.T) {
	forEach(t, client.DNSAbilities{CreateZones: true}, func(t *testing.T, s *server) {
		at := "/api/domains/" + s.bind()
		s.settings.DNS = "dns.other"
		s.swapPlugin("fake", client.DNSAbilities{CreateZones: true})
		s.dns.AddZone("example.com", "")
		if got := s.want(200, "", s.admin, "POST", at+"/retry", nil); got["status"] != "active" || got["provider"] != "dns.other" ||
			got["bindingSource"] != "catalog" {
			t.Errorf("got %v", got)
		}
		s.want(204, "", s.admin, "POST", at+"/delete", nil)
		if !strings.Contains(s.dns.State(), "example.com") {
			t.Error("a zone that was not made here is deleted")
		}
	})
}

// TestProviderIsGoneForATime: a domain that is tried again without a provider still knows whose zone it has.
func TestProviderIsGoneForATime(t *testing.T) {
	can := client.DNSAbilities{CreateZones: true}
	forEach(t, can, func(t *testing.T, s *server) {
		at, zone := "/api/domains/"+s.bind(), s.dns
		s.useNoProvider()
		if got := s.want(200, "", s.admin, "POST", at+"/retry", nil); got["provider"] != "dns.main" {
			t.Errorf("got %v", got)
		}
		s.settings.DNS = "dns.other"
		s.swapPlugin("fake", can)
		s.dns.AddZone("example.com", "")
		s.want(200, "", s.admin, "POST", at+"/retry", nil)
		s.want(204, "", s.admin, "POST", at+"/delete", nil)
		if !strings.Contains(s.dns.State(), "example.com") || !strings.Contains(zone.State(), "example.com") {
			t.Error("a zone that was not made here, or of another provider, is deleted")
		}
	})
}

// TestBindFailsWhileProviderChanges: the zone that a bind has made is not deleted at a provider that is put into use meanwhile, and stays
// if there is none.
func TestBindFailsWhileProviderChanges(t *testing.T) {
	for name, change := range map[string]func(*server){
		"another plugin": func(s *server) {
			s.swapPlugin("other", routed)
			s.dns.AddZone("example.com", "kept")
		},
		"no provider": (*server).useNoProvider,
	} {
		t.Run(name, func(t *testing.T) {
			forEach(t, routed, func(t *testing.T, s *server) {
				i, former := s.interrupt(), s.dns
				former.Fail("EnableRouting", fake.DNSError(500, 0))
				i.before = func() { change(s) }
				got := s.want(502, "upstream_unavailable", s.admin, "POST", "/api/domains/bind", dict{"mailDomain": "example.com"})
				if got["cleanupRequired"] != true || !strings.Contains(former.State(), "example.com") ||
					!strings.Contains(s.dns.State(), "example.com") {
					t.Errorf("got %v; at the former provider: %s; at the other: %s", got, former.State(), s.dns.State())
				}
			})
		})
	}
}

// TestProviderChangesWhileDomainIsRetried: one retry asks one provider, and notes whose ids it has.
func TestProviderChangesWhileDomainIsRetried(t *testing.T) {
	forEach(t, routed, func(t *testing.T, s *server) {
		i := s.interrupt()
		at := "/api/domains/" + s.bind()
		s.want(201, "", s.ada, "POST", "/api/mailboxes", dict{"localPart": "box", "mailDomain": "example.com"})
		i.named = func() {
			s.swapPlugin("other", routed)
			s.dns.AddZone("example.com", "kept")
		}
		s.want(409, "conflict", s.admin, "POST", at+"/retry", nil)
		s.wantDomain("active", true)
		if !strings.Contains(s.dns.State(), "hosts=[]") {
			t.Errorf("the other provider was asked for the zone of the former one: %s", s.dns.State())
		}
		if got := s.want(200, "", s.admin, "POST", at+"/retry", nil); got["status"] != "active" || got["bindingSource"] != "catalog" {
			t.Errorf("got %v", got)
		}
		s.wantRules("rules=[box@example.com]")
	})
}
