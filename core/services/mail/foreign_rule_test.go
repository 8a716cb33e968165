package mail_test

import (
	"strings"
	"testing"
	"time"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/internal/testing/fake"
	"github.com/patchbay-dev/patchbay/sdk/dns"
)

// errForeignRule is what a provider says of an address that has a rule of somebody else.
func errForeignRule() error {
	return fault.FromPlugin("dns.fake", dns.Conflict("the zone has another rule"))
}

// TestRuleOfSomebodyElse: a mailbox whose address has a rule of somebody else leaves no reservation that waits for the rule to go.
func TestRuleOfSomebodyElse(t *testing.T) {
	forEach(t, routed, func(t *testing.T, s *server) {
		s.bind()
		body := dict{"localPart": "box", "mailDomain": "example.com"}
		s.dns.Fail("CreateRule", errForeignRule())
		s.want(409, "conflict", s.ada, "POST", "/api/mailboxes", body)
		s.want(201, "", s.ada, "POST", "/api/mailboxes", body)
	})
}

// TestRuleOfSomebodyElseAmongOthers: it keeps no other mailbox from getting its rule when a domain is tried again.
func TestRuleOfSomebodyElseAmongOthers(t *testing.T) {
	forEach(t, routed, func(t *testing.T, s *server) {
		at := "/api/domains/" + s.bind()
		for _, local := range []string{"one", "two", "three"} {
			s.want(201, "", s.ada, "POST", "/api/mailboxes", dict{"localPart": local, "mailDomain": "example.com"})
		}
		s.swapPlugin("other", routed)
		s.dns.AddZone("example.com", "")
		s.dns.Fail("CreateRule", nil, errForeignRule())
		got := s.want(200, "", s.admin, "POST", at+"/retry", nil)
		if got["status"] != "provisioning_error" || !strings.Contains(text(t, got, "lastProvisionError"), "another rule") {
			t.Errorf("got %v", got)
		}
		if n := strings.Count(s.dns.State(), "@example.com"); n != 2 {
			t.Errorf("%d of the others have a rule: %s", n, s.dns.State())
		}
		s.want(200, "", s.admin, "POST", at+"/retry", nil)
		s.wantRules("rules=[one@example.com three@example.com two@example.com]")
	})
}

// TestZoneOfUnknownRuleIsGone: a reservation is given up although the zone in which its rule may have been made has been deleted by hand.
func TestZoneOfUnknownRuleIsGone(t *testing.T) {
	forEach(t, routed, func(t *testing.T, s *server) {
		s.bind()
		down := fake.DNSError(500, 0)
		s.dns.Fail("CreateRule", down, down)
		s.want(502, "", s.ada, "POST", "/api/mailboxes", dict{"localPart": "box", "mailDomain": "example.com"})
		id := s.findMailboxID("box@example.com")
		must(t, s.dns.DeleteZone(t.Context(), "zone-example.com"))
		s.clock.advance(time.Hour)
		s.cleanUp()
		if got := s.want(200, "", s.ada, "GET", "/api/mailboxes/"+id, nil); got["status"] != "destroyed" {
			t.Errorf("got %v", got)
		}
	})
}
