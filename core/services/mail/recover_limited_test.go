package mail_test

import (
	"testing"
	"time"

	"github.com/patchbay-dev/patchbay/core/internal/testing/fake"
)

// interruptBind has the core die while it binds example.com, and start again.
func (s *server) interruptBind() {
	s.t.Helper()
	k := &killer{DNS: s.dns}
	s.provider = k
	s.restart()
	k.killAt("CreateZone")
	s.want(500, "internal", s.admin, "POST", "/api/domains/bind", dict{"mailDomain": "example.com"})
	k.killAt("")
	s.restart()
}

// restart has another core serve what the former one has left.
func (s *server) restart() {
	s.t.Helper()
	s.open()
	s.remount()
}

// TestRecoveryWaitsForLimit: an interrupted provisioning goes on when a provider that limits requests may be asked again, and not before, also
// after a restart.
func TestRecoveryWaitsForLimit(t *testing.T) {
	for _, c := range []struct {
		name         string
		asked, waits time.Duration
	}{
		{"asked", 10 * time.Minute, 10 * time.Minute}, {"not said", 0, 15 * time.Minute}, {"too long", 1000 * time.Hour, 24 * time.Hour},
	} {
		t.Run(c.name, func(t *testing.T) {
			forEach(t, routed, func(t *testing.T, s *server) {
				s.interruptBind()
				s.dns.Fail("EnableRouting", fake.DNSError(429, c.asked))
				s.cleanUp()
				s.wantDomain("provisioning_error", true)
				s.restart()
				s.clock.advance(c.waits - time.Minute)
				s.cleanUp()
				s.wantDomain("provisioning_error", true)
				s.clock.advance(time.Minute)
				s.cleanUp()
				s.wantDomain("active", false)
			})
		})
	}
}

// TestRetryWhileRecoveryWaits: a person need not wait, and a limit that is met then is waited for as well.
func TestRetryWhileRecoveryWaits(t *testing.T) {
	forEach(t, routed, func(t *testing.T, s *server) {
		s.interruptBind()
		s.dns.Fail("EnableRouting", fake.DNSError(429, time.Hour), fake.DNSError(429, 2*time.Hour))
		s.cleanUp()
		at := "/api/domains/" + text(t, s.domain("example.com"), "id")
		s.want(429, "rate_limited", s.admin, "POST", at+"/retry", nil)
		s.clock.advance(time.Hour)
		s.cleanUp()
		s.wantDomain("provisioning_error", true)
		s.clock.advance(time.Hour)
		s.cleanUp()
		s.wantDomain("active", false)
	})
}

// TestDisableWhileRecoveryWaits: a domain that is disabled is not active again later.
func TestDisableWhileRecoveryWaits(t *testing.T) {
	forEach(t, routed, func(t *testing.T, s *server) {
		s.interruptBind()
		s.dns.Fail("EnableRouting", fake.DNSError(429, time.Hour))
		s.cleanUp()
		at := "/api/domains/" + text(t, s.domain("example.com"), "id")
		for range 2 {
			if got := s.want(200, "", s.admin, "POST", at+"/disable", nil); got["status"] != "disabled" {
				t.Errorf("got %v", got)
			}
		}
		s.clock.advance(time.Hour)
		s.cleanUp()
		if got := s.domain("example.com"); got["status"] != "disabled" {
			t.Errorf("got %v", got)
		}
	})
}

// TestRecoveryDoesNotWaitForFormerProvider: the limit of a provider that was given up says nothing about the next one.
func TestRecoveryDoesNotWaitForFormerProvider(t *testing.T) {
	forEach(t, routed, func(t *testing.T, s *server) {
		at := "/api/domains/" + s.bind()
		s.dns.Fail("EnableRouting", fake.DNSError(429, time.Hour))
		s.want(429, "rate_limited", s.admin, "POST", at+"/retry", nil)
		s.swapPlugin("other", routed)
		s.dns.AddZone("example.com", "")
		k := &killer{DNS: s.dns}
		s.provider = k
		s.restart()
		k.killAt("EnableRouting")
		s.want(500, "internal", s.admin, "POST", at+"/retry", nil)
		k.killAt("")
		s.restart()
		s.cleanUp()
		s.wantDomain("active", false)
	})
}
