package mail_test

import (
	"testing"
	"time"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/internal/testing/fake"
	"github.com/patchbay-dev/patchbay/sdk/dns"
)

// errForeignRule is what a provider says of an address that has a rule of somebody else.
func errForeignRule() error { return fault.FromPlugin(dns.Conflict("the zone has another rule")) }

// TestRuleOfSomebodyElse: a mailbox whose address has a rule of somebody else leaves no reservation that waits for the rule to go.
func TestRuleOfSomebodyElse(t *testing.T) {
	forEach(t, routed, func(t *testing.T, s *server) {
		s.bind()
		body := dict{"localPart": "box", "mailDomain": "example.com"}
		conflict := errForeignRule()
		s.dns.Fail("CreateRule", conflict, conflict)
		s.want(409, "conflict", s.ada, "POST", "/api/mailboxes", body)
		s.want(201, "", s.ada, "POST", "/api/mailboxes", body)
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
