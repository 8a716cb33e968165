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

// TestRecoveryWaitsForLimit: an interrupted provisioning goes on when a provider that limits requests may be asked again, and not before,
// also after a restart.
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

// interruption is a change of a domain, of which the core is killed after a call of a method.
type interruption struct {
	// begun has happened to the domain before.
	begun        string
	path, method string
	// resumes is what recovery calls first.
	resumes string
}

// interruptions are those of changes other than a provisioning.
var interruptions = map[string]interruption{
	"beginning of the catch-all": {"", "/catch-all/enable", "SetCatchAll", "RestoreCatchAll"},
	"end of the catch-all":       {"/catch-all/enable", "/catch-all/disable", "RestoreCatchAll", "RestoreCatchAll"},
	"deletion":                   {"", "/delete", "DeleteZone", "DeleteZone"},
}

// interruptChange binds example.com and kills the core in a change of it. What recovery calls first ends with the errors then.
func (s *server) interruptChange(in interruption, failed ...error) (at string) {
	s.t.Helper()
	k := &killer{DNS: s.dns}
	s.provider = k
	s.restart()
	at = "/api/domains/" + s.bind()
	if in.begun != "" {
		s.want(200, "", s.admin, "POST", at+in.begun, nil)
	}
	k.killAt(in.method)
	s.want(500, "internal", s.admin, "POST", at+in.path, nil)
	k.killAt("")
	s.restart()
	s.dns.Fail(in.resumes, failed...)
	return at
}

// TestRecoveryWaitsForLimitOfEveryChange: what was begun with a catch-all, or a deletion, waits for a provider that limits requests as
// well.
func TestRecoveryWaitsForLimitOfEveryChange(t *testing.T) {
	for name, in := range interruptions {
		t.Run(name, func(t *testing.T) {
			forEach(t, routed, func(t *testing.T, s *server) {
				s.interruptChange(in, fake.DNSError(429, 2*time.Hour))
				s.cleanUp()
				s.restart()
				s.wantWaiting(2 * time.Hour)
			})
		})
	}
}

// TestRecoveryWaitsForLimitOfRequest: it does so from the beginning if the request that has left something open has met the limit.
func TestRecoveryWaitsForLimitOfRequest(t *testing.T) {
	for name, in := range catchAllChanges {
		t.Run(name, func(t *testing.T) {
			forEach(t, routed, func(t *testing.T, s *server) {
				at := "/api/domains/" + s.bind()
				if in.begun != "" {
					s.want(200, "", s.admin, "POST", at+in.begun, nil)
				}
				for _, method := range []string{"SetCatchAll", "RestoreCatchAll"} {
					s.dns.Fail(method, fake.DNSError(429, time.Hour))
				}
				s.want(429, "rate_limited", s.admin, "POST", at+in.path, nil)
				s.wantWaiting(time.Hour)
			})
		})
	}
}

// TestEndOfCatchAllIsRefusedInRecovery: it is given up where somebody has to do something before, and the domain tells what.
func TestEndOfCatchAllIsRefusedInRecovery(t *testing.T) {
	forEach(t, routed, func(t *testing.T, s *server) {
		s.interruptChange(interruptions["end of the catch-all"], fake.DNSError(409, 0))
		s.cleanUp()
		if got := s.domain("example.com"); s.hasPending() || got["catchAllEnabled"] != true {
			t.Errorf("got %v", got)
		}
		s.wantDomain("active", true)
	})
}

// wantWaiting fails unless recovery leaves the provider alone for a time, and then ends what is open.
func (s *server) wantWaiting(pause time.Duration) {
	s.t.Helper()
	asked := len(s.dns.Calls())
	s.clock.advance(pause - time.Minute)
	s.cleanUp()
	if n := len(s.dns.Calls()) - asked; n != 0 || !s.hasPending() {
		s.t.Errorf("the provider was asked %d times before it wanted to be", n)
	}
	s.clock.advance(time.Minute)
	s.cleanUp()
	if s.hasPending() {
		s.t.Error("the change has not ended")
	}
}

// TestRecoveryWaitsForLimitOfWayBack: recovery waits as well if the provider has met its limit only when the catch-all was to be ours
// again.
func TestRecoveryWaitsForLimitOfWayBack(t *testing.T) {
	forEach(t, routed, func(t *testing.T, s *server) {
		s.interruptChange(interruptions["end of the catch-all"], fake.DNSError(500, 0))
		s.dns.Fail("SetCatchAll", fake.DNSError(429, 2*time.Hour))
		s.cleanUp()
		s.wantWaiting(2 * time.Hour)
	})
}

// TestRecoveryWaitsForLimitOfRetry: and if a person has met the limit who has tried the domain again.
func TestRecoveryWaitsForLimitOfRetry(t *testing.T) {
	for name, in := range catchAllChanges {
		t.Run(name, func(t *testing.T) {
			forEach(t, routed, func(t *testing.T, s *server) {
				at := s.interruptChange(in, fake.DNSError(429, time.Hour))
				s.want(429, "rate_limited", s.admin, "POST", at+"/retry", nil)
				s.wantWaiting(time.Hour)
			})
		})
	}
}

// TestRecoveryDoesNotWaitForEarlierLimit: a limit that was met by a request which has ended does not hold up what a later one has left
// open.
func TestRecoveryDoesNotWaitForEarlierLimit(t *testing.T) {
	forEach(t, routed, func(t *testing.T, s *server) {
		k := &killer{DNS: s.dns}
		s.provider = k
		s.restart()
		at := "/api/domains/" + s.bind()
		s.dns.Fail("EnableRouting", fake.DNSError(429, 20*time.Hour))
		s.want(429, "rate_limited", s.admin, "POST", at+"/retry", nil)
		k.killAt("EnableRouting")
		s.want(500, "internal", s.admin, "POST", at+"/retry", nil)
		k.killAt("")
		s.restart()
		s.cleanUp()
		if s.hasPending() {
			t.Error("the provisioning has not ended")
		}
	})
}
