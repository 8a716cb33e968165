package mail_test

import (
	"testing"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/sdk/dns"
)

// TestRuleOfSomebodyElse: a mailbox whose address has a rule of somebody else leaves no reservation that waits for the rule to go.
func TestRuleOfSomebodyElse(t *testing.T) {
	forEach(t, routed, func(t *testing.T, s *server) {
		s.bind()
		body := dict{"localPart": "box", "mailDomain": "example.com"}
		conflict := fault.FromPlugin(dns.Conflict("the zone has another rule"))
		s.dns.Fail("CreateRule", conflict, conflict)
		s.want(409, "conflict", s.ada, "POST", "/api/mailboxes", body)
		s.want(201, "", s.ada, "POST", "/api/mailboxes", body)
	})
}
