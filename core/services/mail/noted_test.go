package mail_test

import (
	"testing"

	"github.com/patchbay-dev/patchbay/core/internal/testing/fake"
)

// TestPluginIsNotedWhileDomainIsChanged: what a reload notes stays, although the change that is under way has read the domain before.
func TestPluginIsNotedWhileDomainIsChanged(t *testing.T) {
	changes := map[string]func(s *server, i *interrupter, at string){
		"retry without a provider": func(s *server, i *interrupter, at string) {
			s.useNoProvider()
			s.clock.before = func() { s.useProvider("dns.main", i) }
			s.want(200, "", s.admin, "POST", at+"/retry", nil)
		},
		"end of the catch-all": func(s *server, i *interrupter, at string) {
			s.want(200, "", s.admin, "POST", at+"/catch-all/enable", nil)
			s.forgetPlugin("dns.main")
			i.before = func() { s.useProvider("dns.main", i) }
			s.want(200, "", s.admin, "POST", at+"/catch-all/disable", nil)
		},
		"deletion that fails": func(s *server, i *interrupter, at string) {
			s.dns.Fail("DeleteZone", fake.DNSError(500, 0))
			i.before = func() { s.useProvider("dns.main", i) }
			s.want(502, "", s.admin, "POST", at+"/delete", nil)
		},
	}
	for name, change := range changes {
		t.Run(name, func(t *testing.T) {
			forEach(t, routed, func(t *testing.T, s *server) {
				i := s.interrupt()
				at := "/api/domains/" + s.bind()
				s.forgetPlugin("dns.main")
				change(s, i, at)
				if got := s.notedPlugin(); got != "fake" {
					t.Errorf("noted is %q", got)
				}
			})
		})
	}
}

// TestProviderChangesBeforeItsPluginIsNoted: a change that has begun with one provider goes on with no other one, although nothing was
// noted.
func TestProviderChangesBeforeItsPluginIsNoted(t *testing.T) {
	forEach(t, routed, func(t *testing.T, s *server) {
		i := s.interrupt()
		at := "/api/domains/" + s.bind()
		s.want(200, "", s.admin, "POST", at+"/catch-all/enable", nil)
		for _, sub := range []string{"desk", "shop"} {
			s.want(201, "", s.ada, "POST", "/api/mailboxes", dict{"localPart": "box", "subdomain": sub, "mailDomain": "example.com"})
		}
		s.forgetPlugin("dns.main")
		i.before = func() {
			s.swapPlugin("other", routed)
			s.dns.AddZone("example.com", "kept")
		}
		s.want(409, "conflict", s.admin, "POST", at+"/catch-all/disable", nil)
		if got := s.notedPlugin(); got != "fake" || s.countCalls("CreateRule") != 0 {
			t.Errorf("noted is %q; the other provider has %s", got, s.dns.State())
		}
	})
}
