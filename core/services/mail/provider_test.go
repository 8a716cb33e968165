package mail_test

import (
	"testing"

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
