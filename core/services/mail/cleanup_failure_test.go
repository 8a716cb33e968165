package mail_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/patchbay-dev/patchbay/core/internal/testing/fake"
)

// TestSecondLookIsRefusedForGood: a rule that a destroyed mailbox may have left, and that the provider refuses to be asked for, is looked
// for once a day in the end, and an administrator sees why it is left.
func TestSecondLookIsRefusedForGood(t *testing.T) {
	forEach(t, routed, func(t *testing.T, s *server) {
		c := ruleRequests["ensure"]
		_, id := s.loseAnswerAfterDeletion(c.prepare, c.request)
		const looks = 15
		s.dns.Fail("CreateRule", slices.Repeat([]error{fake.DNSError(403, 0)}, looks)...)
		for range looks {
			s.clock.advance(25 * time.Hour)
			s.cleanUp()
		}
		asked := s.countCalls("CreateRule")
		s.clock.advance(12 * time.Hour)
		s.cleanUp()
		if n := s.countCalls("CreateRule") - asked; n != 0 {
			t.Errorf("the provider was asked %d times within half a day", n)
		}
		failures := func() []any { return s.want(200, "", s.admin, "GET", "/api/domains", nil)["cleanupFailures"].([]any) }
		all := failures()
		if len(all) != 1 {
			t.Fatalf("got %v", all)
		}
		got := all[0].(dict)
		why := text(t, got, "error")
		if got["domainId"] != s.domain("example.com")["id"] || got["mailboxes"] != 1.0 ||
			!strings.HasPrefix(why, "The DNS provider refused the credentials: ") {
			t.Errorf("got %v", got)
		}
		wantPageText(t, why)
		s.clock.advance(12 * time.Hour)
		s.wantGone(id)
		if got := failures(); len(got) != 0 {
			t.Errorf("got %v", got)
		}
	})
}
