package mail_test

import (
	"context"
	"testing"
	"time"

	"github.com/patchbay-dev/patchbay/core/internal/testing/fake"
	"github.com/patchbay-dev/patchbay/core/plugin/client"
)

// limitFirstProvider has example.com be active without a provider, with a mailbox, and then be tried again with one that limits requests
// when the rule of the mailbox is made. It returns the path of the domain.
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

// TestFirstProviderLimitsRequests: a provider that takes mail in from now on, and then limits requests, gets the rules of the mailboxes
// when it may be asked again.
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

// TestCatchAllWhileProvisioningIsOpen: the beginning of a catch-all does not make a provisioning that goes on later forgotten.
func TestCatchAllWhileProvisioningIsOpen(t *testing.T) {
	forEach(t, routed, func(t *testing.T, s *server) {
		at := s.limitFirstProvider()
		s.want(409, "conflict", s.admin, "POST", at+"/catch-all/enable", nil)
		s.clock.advance(time.Hour)
		s.cleanUp()
		s.wantRules("rules=[box@desk.example.com]")
		s.want(200, "", s.admin, "POST", at+"/catch-all/enable", nil)
	})
}

// TestCatchAllEndsWhileProvisioningIsOpen: neither does the end of one that is not at the provider.
func TestCatchAllEndsWhileProvisioningIsOpen(t *testing.T) {
	forEach(t, client.DNSAbilities{CreateZones: true}, func(t *testing.T, s *server) {
		at := "/api/domains/" + s.bind()
		s.want(200, "", s.admin, "POST", at+"/catch-all/enable", nil)
		must(t, s.store.Tx(t.Context(), "interrupt", func(ctx context.Context) error {
			return s.store.Writer(ctx).Exec("UPDATE mail_domains SET operation = 'provision', step = 'records' WHERE name = 'example.com'").Error
		}))
		s.want(200, "", s.admin, "POST", at+"/catch-all/disable", nil)
		before := s.countCalls("SetRecords")
		s.cleanUp()
		if n := s.countCalls("SetRecords") - before; n == 0 {
			t.Error("the records are not set")
		}
		s.wantDomain("active", false)
	})
}
