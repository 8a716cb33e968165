package mail_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/patchbay-dev/patchbay/core/internal/testing/fake"
)

// interruptDeletion has the core die in a deletion of example.com that the provider has refused, and refuses as often again.
func (s *server) interruptDeletion(refusals int) (at string) {
	s.t.Helper()
	s.dns.Fail("DeleteZone", slices.Repeat([]error{fake.DNSError(403, 0)}, refusals+1)...)
	return s.interruptChange(interruptions["deletion"])
}

// wantDeleted fails unless every deletion has ended, and nothing is left at the provider.
func (s *server) wantDeleted() {
	s.t.Helper()
	if got := s.dns.State(); got != "" || s.hasPending() {
		s.t.Errorf("the deletion has not ended: %s", got)
	}
}

// wantUndeleted fails unless example.com is listed as a domain whose deletion has not ended.
func (s *server) wantUndeleted(why string) {
	s.t.Helper()
	got := s.domain("example.com")
	if text := text(s.t, got, "lastProvisionError"); got["status"] != "disabled" || !strings.Contains(text, "could not be deleted") ||
		!strings.Contains(text, why) {
		s.t.Errorf("got %v, want its deletion not to have ended: %s", got, why)
	}
}

// TestDeletionIsRefusedInRecovery: an administrator sees a domain whose deletion the provider refuses, it is tried again at growing
// intervals, and ends when the provider takes it.
func TestDeletionIsRefusedInRecovery(t *testing.T) {
	forEach(t, routed, func(t *testing.T, s *server) {
		at := s.interruptDeletion(8)
		s.cleanUp()
		s.wantUndeleted("refused the credentials")
		s.want(400, "", s.ada, "POST", "/api/mailboxes", dict{"localPart": "box", "mailDomain": "example.com"})
		began, asked := s.clock.now(), s.countCalls("DeleteZone")
		var after []int
		for s.countCalls("DeleteZone") < asked+7 {
			s.clock.advance(time.Minute)
			before := s.countCalls("DeleteZone")
			s.cleanUp()
			if s.countCalls("DeleteZone") > before {
				after = append(after, int(s.clock.now().Sub(began)/time.Minute))
			}
		}
		if want := []int{1, 3, 7, 15, 31, 63, 123}; !slices.Equal(after, want) {
			t.Errorf("it was tried again after %d minutes, want %d", after, want)
		}
		s.wantUndeleted("refused the credentials")
		s.clock.advance(time.Hour)
		s.cleanUp()
		s.want(404, "", s.admin, "POST", at+"/retry", nil)
		s.wantDeleted()
		s.bind()
	})
}

// TestPersonEndsInterruptedDeletion: who sees such a domain can delete it without waiting, or give up the deletion.
func TestPersonEndsInterruptedDeletion(t *testing.T) {
	forEach(t, routed, func(t *testing.T, s *server) {
		at := s.interruptDeletion(2)
		s.cleanUp()
		s.want(502, "upstream_unavailable", s.admin, "POST", at+"/delete", nil)
		s.wantUndeleted("refused the credentials")
		s.want(204, "", s.admin, "POST", at+"/delete", nil)
		s.wantDeleted()
	})
	forEach(t, routed, func(t *testing.T, s *server) {
		s.interruptDeletion(1)
		s.cleanUp()
		s.want(200, "", s.admin, "POST", "/api/domains/bind", dict{"mailDomain": "example.com"})
		s.clock.advance(time.Hour)
		s.cleanUp()
		s.wantDomain("active", false)
		s.wantRules("example.com")
	})
}

// TestBindAfterInterruptedDeletion: who binds a domain whose deletion was interrupted gives it up, before recovery has looked at it or
// after. The domain keeps the zone that was made for it, or gets another one if that was deleted already.
func TestBindAfterInterruptedDeletion(t *testing.T) {
	for _, deleted := range []bool{false, true} {
		for _, recovered := range []bool{false, true} {
			t.Run(fmt.Sprintf("deleted=%t recovered=%t", deleted, recovered), func(t *testing.T) {
				forEach(t, routed, func(t *testing.T, s *server) {
					in := interruptions["deletion"]
					if !deleted {
						s.dns.Fail("DeleteZone", fake.DNSError(403, 0))
					}
					s.interruptChange(in)
					if recovered {
						s.dns.Fail("DeleteZone", fake.DNSError(403, 0))
						s.cleanUp()
					}
					got := s.want(200, "", s.admin, "POST", "/api/domains/bind", dict{"mailDomain": "example.com"})
					if got["status"] != "active" || got["bindingSource"] != "project_bind" {
						t.Errorf("got %v", got)
					}
					s.clock.advance(time.Hour)
					s.cleanUp()
					s.wantDomain("active", false)
					s.want(204, "", s.admin, "POST", "/api/domains/"+text(t, got, "id")+"/delete", nil)
					if got := s.dns.State(); got != "" {
						t.Errorf("the provider has %s", got)
					}
				})
			})
		}
	}
}

// TestBindAfterInterruptedDeletionOfHiddenZone: a zone that the credentials may not see at present is not forgotten with its deletion.
func TestBindAfterInterruptedDeletionOfHiddenZone(t *testing.T) {
	forEach(t, routed, func(t *testing.T, s *server) {
		s.interruptDeletion(0)
		s.dns.HideZone("zone-example.com", true)
		bind := func(status string) {
			t.Helper()
			got := s.want(200, "", s.admin, "POST", "/api/domains/bind", dict{"mailDomain": "example.com"})
			if got["status"] != status || got["zoneId"] != "zone-example.com" || got["bindingSource"] != "project_bind" {
				t.Errorf("got %v", got)
			}
		}
		bind("provisioning_error")
		s.dns.HideZone("zone-example.com", false)
		bind("active")
	})
}

// TestZonesAreNotListedAfterInterruptedDeletion: the deletion is not given up while nobody knows what is left of the zone.
func TestZonesAreNotListedAfterInterruptedDeletion(t *testing.T) {
	forEach(t, routed, func(t *testing.T, s *server) {
		s.interruptDeletion(0)
		s.dns.Fail("ListZones", fake.DNSError(500, 0))
		s.want(502, "", s.admin, "POST", "/api/domains/bind", dict{"mailDomain": "example.com"})
		s.cleanUp()
		s.wantDeleted()
	})
}

// TestInterruptedDeletionWithoutProvider: a deletion whose provider is not in use is seen, and goes on when it is in use again.
func TestInterruptedDeletionWithoutProvider(t *testing.T) {
	forEach(t, routed, func(t *testing.T, s *server) {
		s.interruptDeletion(0)
		s.useNoProvider()
		s.cleanUp()
		s.wantUndeleted("does not use now")
		before := s.domain("example.com")["updatedAt"]
		s.clock.advance(time.Hour)
		s.cleanUp()
		if after := s.domain("example.com")["updatedAt"]; after != before {
			t.Errorf("it was written again at %v", after)
		}
		s.useProvider("dns.main", s.dns)
		s.cleanUp()
		s.wantDeleted()
	})
}

// TestDeletionIsInterruptedTwiceWithoutProvider: so is one that was begun once more, and interrupted again.
func TestDeletionIsInterruptedTwiceWithoutProvider(t *testing.T) {
	forEach(t, routed, func(t *testing.T, s *server) {
		s.interruptDeletion(0)
		s.useNoProvider()
		s.cleanUp()
		must(t, s.store.Tx(t.Context(), "hide the domain, as a deletion does", func(ctx context.Context) error {
			return s.store.Writer(ctx).Exec("UPDATE mail_domains SET deleted_at = 1 WHERE name = 'example.com'").Error
		}))
		s.cleanUp()
		s.wantUndeleted("does not use now")
	})
}

// TestRecoveryIsCalledOff: a deletion that a shutdown calls off has not failed.
func TestRecoveryIsCalledOff(t *testing.T) {
	forEach(t, routed, func(t *testing.T, s *server) {
		at := s.interruptDeletion(0)
		i := s.interrupt()
		ctx, cancel := context.WithCancel(t.Context())
		i.before = cancel
		if err := s.runCleanUp(ctx); !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
		s.want(404, "", s.admin, "POST", at+"/retry", nil)
		s.cleanUp()
		if s.hasPending() {
			t.Error("the deletion has not ended")
		}
	})
}

// TestCatchAllIsRefusedInRecovery: so it is with a catch-all that the provider does not take back. The error goes when that has ended.
func TestCatchAllIsRefusedInRecovery(t *testing.T) {
	forEach(t, routed, func(t *testing.T, s *server) {
		denied := fake.DNSError(403, 0)
		s.interruptChange(interruptions["beginning of the catch-all"], denied, denied)
		s.cleanUp()
		s.cleanUp()
		if got := text(t, s.domain("example.com"), "lastProvisionError"); !strings.Contains(got, "could not be restored") ||
			!strings.Contains(got, "refused the credentials") {
			t.Errorf("got %q", got)
		}
		if n := s.countCalls("RestoreCatchAll"); n != 1 {
			t.Errorf("it was tried %d times within a minute", n)
		}
		s.clock.advance(time.Minute)
		s.cleanUp()
		s.clock.advance(2 * time.Minute)
		s.cleanUp()
		s.wantDomain("active", false)
		if s.hasPending() {
			t.Error("it has not ended")
		}
	})
}
