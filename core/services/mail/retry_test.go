package mail_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/patchbay-dev/patchbay/core/internal/testing/fake"
	"github.com/patchbay-dev/patchbay/core/plugin/client"
)

// lackRule has example.com lack the rule of box@example.com, as after a catch-all of unknown origin.
func (s *server) lackRule(at string) {
	s.t.Helper()
	s.want(200, "", s.admin, "POST", at+"/catch-all/enable", nil)
	s.want(201, "", s.ada, "POST", "/api/mailboxes", dict{"localPart": "box", "mailDomain": "example.com"})
	must(s.t, s.store.Tx(s.t.Context(), "forget", func(ctx context.Context) error {
		return s.store.Writer(ctx).Exec("UPDATE mail_domains SET catch_all_snapshot = NULL").Error
	}))
}

// wantDomain compares the status of example.com, and whether it tells an error.
func (s *server) wantDomain(status string, failed bool) {
	s.t.Helper()
	if got := s.domain("example.com"); got["status"] != status || (got["lastProvisionError"] != nil) != failed {
		s.t.Errorf("got %v, want it %s", got, status)
	}
}

// TestRetryOfActiveDomainFails: a domain that works stays active when it is tried again in vain, and the error is told. One about which the
// provider says that it does not work is in error.
func TestRetryOfActiveDomainFails(t *testing.T) {
	forEach(t, routed, func(t *testing.T, s *server) {
		at := "/api/domains/" + s.bind()
		s.lackRule(at)
		for _, c := range []struct {
			method           string
			upstream, status int
		}{
			{"EnableRouting", 500, 502}, {"EnableRouting", 403, 502}, {"CreateRule", 500, 502}, {"CreateRule", 409, 409}, {"CreateRule", 404, 409},
		} {
			s.dns.Fail(c.method, fake.DNSError(c.upstream, 0))
			got := s.want(c.status, "", s.admin, "POST", at+"/retry", nil)
			if !strings.Contains(text(t, got, "message"), "DNS provider") {
				t.Errorf("%s %d: got %v", c.method, c.upstream, got)
			}
			s.wantDomain("active", true)
		}
		s.want(201, "", s.ada, "POST", "/api/mailboxes", dict{"localPart": "new", "mailDomain": "example.com"})
		s.want(200, "", s.admin, "POST", at+"/retry", nil)
		s.wantDomain("active", false)
		s.wantRules("rules=[box@example.com new@example.com]")

		s.dns.Fail("EnableRouting", fake.DNSError(409, 0))
		s.want(200, "", s.admin, "POST", at+"/retry", nil)
		s.wantDomain("provisioning_error", true)
		s.dns.Fail("EnableRouting", fake.DNSError(500, 0))
		s.want(200, "", s.admin, "POST", at+"/retry", nil)
		s.wantDomain("provisioning_error", true)
	})
}

// TestRetryOfRecordsFails: so it is where the provider keeps records, among which others than ours can be.
func TestRetryOfRecordsFails(t *testing.T) {
	forEach(t, client.DNSAbilities{CreateZones: true}, func(t *testing.T, s *server) {
		at := "/api/domains/" + s.bind()
		s.dns.Fail("SetRecords", fake.DNSError(500, 0))
		s.want(502, "upstream_unavailable", s.admin, "POST", at+"/retry", nil)
		s.wantDomain("active", true)
		must(t, setMX(t, s.dns, "zone-example.com", "example.com", "10 mx.elsewhere.example"))
		s.want(200, "", s.admin, "POST", at+"/retry", nil)
		s.wantDomain("provisioning_error", true)
	})
}

// interruptRetry binds example.com, which lacks the rule of one mailbox, and kills the core while the domain is tried again. The restarted
// core fails to make that rule.
func (s *server) interruptRetry(failed error) (at string) {
	s.t.Helper()
	k := &killer{DNS: s.dns}
	s.provider = k
	s.open()
	s.remount()
	at = "/api/domains/" + s.bind()
	s.lackRule(at)
	s.dns.Fail("CreateRule", failed)
	s.killed(k, "EnableRouting", at+"/retry")
	return at
}

// TestInterruptedRetryOfActiveDomain: it goes on until it has ended, and the domain is active meanwhile.
func TestInterruptedRetryOfActiveDomain(t *testing.T) {
	for status, failed := range map[int]bool{500: true, 429: false} {
		forEach(t, routed, func(t *testing.T, s *server) {
			s.interruptRetry(fake.DNSError(status, 0))
			s.wantDomain("active", failed)
			s.clock.advance(time.Hour)
			s.cleanUp()
			s.wantDomain("active", false)
			s.wantRules("rules=[box@example.com]")
		})
	}
}

// TestDomainIsDisabledAfterInterruptedRetry: a domain that is disabled stays so, although a crash has interrupted a retry before.
func TestDomainIsDisabledAfterInterruptedRetry(t *testing.T) {
	forEach(t, routed, func(t *testing.T, s *server) {
		at := s.interruptRetry(fake.DNSError(500, 0))
		s.want(200, "", s.admin, "POST", at+"/disable", nil)
		s.cleanUp()
		if got := s.domain("example.com"); got["status"] != "disabled" || got["disabledAt"] == nil {
			t.Errorf("got %v", got)
		}
	})
}

// TestInterruptedRetryIsRefused: what a crash has interrupted is not tried again without end where a person has to do something before.
func TestInterruptedRetryIsRefused(t *testing.T) {
	forEach(t, routed, func(t *testing.T, s *server) {
		s.interruptRetry(fake.DNSError(409, 0))
		before := s.countCalls("EnableRouting")
		s.cleanUp()
		if n := s.countCalls("EnableRouting") - before; n != 0 {
			t.Errorf("it was tried again %d times", n)
		}
		s.wantDomain("active", true)
	})
}

// TestProviderChangesAfterInterruptedRetry: what a crash has interrupted does not go on with another provider, for which the former one,
// by which mail comes, would be given up.
func TestProviderChangesAfterInterruptedRetry(t *testing.T) {
	forEach(t, routed, func(t *testing.T, s *server) {
		at := s.interruptRetry(fake.DNSError(500, 0))
		s.swapPlugin("other", routed)
		s.dns.AddZone("example.com", "kept")
		s.cleanUp()
		s.wantDomain("active", true)
		if got := s.dns.State(); !strings.Contains(got, "hosts=[]") {
			t.Errorf("the other provider has %s", got)
		}
		s.want(200, "", s.admin, "POST", at+"/retry", nil)
		s.wantRules("rules=[box@example.com]")
	})
}

// TestInterruptedRetryWaitsForProvider: what a crash has interrupted has not ended because the provider is out of use for a time.
func TestInterruptedRetryWaitsForProvider(t *testing.T) {
	forEach(t, routed, func(t *testing.T, s *server) {
		s.interruptRetry(fake.DNSError(500, 0))
		s.useNoProvider()
		s.cleanUp()
		s.wantDomain("active", true)
		s.useProvider("dns.main", s.dns)
		s.cleanUp()
		s.wantDomain("active", false)
		s.wantRules("rules=[box@example.com]")
	})
}

// TestProviderChangesAfterInterruptedEnabling: nor does the enabling of a domain that is disabled, whose mailboxes go on receiving.
func TestProviderChangesAfterInterruptedEnabling(t *testing.T) {
	forEach(t, routed, func(t *testing.T, s *server) {
		k := &killer{DNS: s.dns}
		s.provider = k
		s.restart()
		at := "/api/domains/" + s.bind()
		s.want(200, "", s.admin, "POST", at+"/disable", nil)
		k.killAt("EnableRouting")
		s.want(500, "internal", s.admin, "POST", "/api/domains/bind", dict{"mailDomain": "example.com"})
		s.swapPlugin("other", routed)
		s.dns.AddZone("example.com", "kept")
		s.provider = s.dns
		s.restart()
		s.cleanUp()
		s.wantDomain("disabled", true)
		s.wantRules("hosts=[]")
	})
}
