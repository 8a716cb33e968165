package mail_test

import (
	"testing"
	"time"

	"github.com/patchbay-dev/patchbay/core/internal/testing/fake"
)

// limitFirstProvider has example.com be active without a provider, with a mailbox, and then be tried again with one that limits requests when the
// rule of the mailbox is made. It returns the path of the domain.
func (s *server) limitFirstProvider() (at string) {
	s.t.Helper()
	s.useNoProvider()
	at = "/api/domains/" + s.bind()
	s.want(201, "", s.ada, "POST", "/api/mailboxes", dict{"localPart": "box", "subdomain": "desk", "mailDomain": "example.com"})
	s.useProvider("dns.main", s.dns)
	s.dns.AddZone("example.com", "")
	s.dns.Fail("CreateRule", fake.DNSError(429, time.Hour))
	s.want(429, "rate_limited", s.admin, "POST", at+"/retry", nil)
	s.wantDomain("active", false)
	return at
}

// TestFirstProviderLimitsRequests: a provider that takes mail in from now on, and then limits requests, gets the rules of the mailboxes when it may
// be asked again.
func TestFirstProviderLimitsRequests(t *testing.T) {
	forEach(t, routed, func(t *testing.T, s *server) {
		s.limitFirstProvider()
		s.cleanUp()
		s.wantRules("rules=[]")
		s.clock.advance(time.Hour)
		s.cleanUp()
		s.wantRules("rules=[box@desk.example.com]")
		s.wantDomain("active", false)
	})
}
