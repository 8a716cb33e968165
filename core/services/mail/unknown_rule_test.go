package mail_test

import (
	"testing"
	"time"

	"github.com/patchbay-dev/patchbay/core/internal/testing/fake"
)

// unknownBox is the address of the mailbox whose rule becomes unknown.
const unknownBox = "box@desk.example.com"

// ruleRequests begin a request for the rule of unknownBox, in which the provider is told of the host before.
var ruleRequests = map[string]struct {
	// prepare makes the mailbox, if it is not made by the request.
	prepare func(s *server, at string)
	request func(s *server, at string, status int)
}{
	"create": {func(*server, string) {}, func(s *server, _ string, status int) {
		s.t.Helper()
		s.want(status, "", s.admin, "POST", "/api/mailboxes", dict{"localPart": "box", "subdomain": "desk", "mailDomain": "example.com"})
	}},
	"ensure": {func(s *server, at string) { s.catchMailbox(at, unknownBox) }, ensureUnknown},
	"end of the catch-all": {func(s *server, at string) {
		s.want(200, "", s.admin, "POST", at+"/catch-all/enable", nil)
		ensureUnknown(s, at, 201)
	}, func(s *server, at string, status int) {
		s.t.Helper()
		s.want(status, "", s.admin, "POST", at+"/catch-all/disable", nil)
	}},
}

func ensureUnknown(s *server, _ string, status int) {
	s.t.Helper()
	s.want(status, "", s.admin, "POST", "/api/mailboxes/ensure", dict{"address": unknownBox})
}

// deleteUnknown deletes the mailbox that has the address.
func (s *server) deleteUnknown() (id string) {
	s.t.Helper()
	id = s.findMailboxID(unknownBox)
	s.want(200, "", s.admin, "DELETE", "/api/mailboxes/"+id, nil)
	return id
}

// loseAnswerAfterDeletion has a mailbox be deleted while a request for its rule goes on, whose answer is lost then. The rule is there.
// The calls of CreateRule from that one on end with the errors.
func (s *server) loseAnswerAfterDeletion(prepare func(*server, string), request func(*server, string, int), errs ...error) (at, id string) {
	s.t.Helper()
	i := s.interrupt()
	l := &answerLoser{DNS: s.dns}
	i.DNS = l
	at = "/api/domains/" + s.bind()
	prepare(s, at)
	i.before = func() {
		id = s.deleteUnknown()
		l.lose.Store(true)
		s.dns.Fail("CreateRule", errs...)
	}
	request(s, at, 502)
	s.wantRules("rules=[" + unknownBox + "]")
	return at, id
}

// wantGone fails unless the clean-up leaves neither a rule nor a mailbox with the id.
func (s *server) wantGone(id string) {
	s.t.Helper()
	// The second time comes after a failure of the first one.
	for range 2 {
		s.clock.advance(time.Hour)
		s.cleanUp()
	}
	s.wantRules("rules=[]")
	if got := s.want(200, "", s.admin, "GET", "/api/mailboxes/"+id, nil); got["status"] != "destroyed" {
		s.t.Errorf("got %v", got)
	}
}

// TestAnswerIsLostAfterMailboxIsDeleted: a rule that comes into being after its mailbox was destroyed is deleted, also if nobody hears of
// it.
func TestAnswerIsLostAfterMailboxIsDeleted(t *testing.T) {
	for name, c := range ruleRequests {
		t.Run(name, func(t *testing.T) {
			forEach(t, routed, func(t *testing.T, s *server) {
				// The clean-up looks for the rule, which fails at first.
				_, id := s.loseAnswerAfterDeletion(c.prepare, c.request, nil, fake.DNSError(500, 0))
				s.wantGone(id)
				asked := len(s.dns.Calls())
				s.clock.advance(time.Hour)
				s.cleanUp()
				if n := len(s.dns.Calls()) - asked; n != 0 {
					t.Errorf("the provider was asked %d times again", n)
				}
			})
		})
	}
}

// TestKilledAfterMailboxIsDeleted: also if the core dies before the answer.
func TestKilledAfterMailboxIsDeleted(t *testing.T) {
	for name, c := range ruleRequests {
		t.Run(name, func(t *testing.T) {
			forEach(t, routed, func(t *testing.T, s *server) {
				i := s.interrupt()
				k := &killer{DNS: s.dns}
				i.DNS = k
				at := "/api/domains/" + s.bind()
				c.prepare(s, at)
				var id string
				i.before = func() {
					id = s.deleteUnknown()
					k.killAt("CreateRule")
				}
				c.request(s, at, 500)
				k.killAt("")
				s.wantRules("rules=[" + unknownBox + "]")
				s.restart()
				s.wantGone(id)
			})
		})
	}
}

// TestAddressIsTakenAfterLostAnswer: such a rule is that of the mailbox which has the address meanwhile, and goes with it, whether that
// one needs a rule or not.
func TestAddressIsTakenAfterLostAnswer(t *testing.T) {
	for name, caught := range map[string]bool{"registered": false, "caught": true} {
		t.Run(name, func(t *testing.T) {
			forEach(t, routed, func(t *testing.T, s *server) {
				c := ruleRequests["ensure"]
				at, id := s.loseAnswerAfterDeletion(c.prepare, c.request)
				if caught {
					s.want(200, "", s.admin, "POST", at+"/catch-all/enable", nil)
					_, err := s.service.FindRecipient(t.Context(), unknownBox)
					must(t, err)
				} else {
					ensureUnknown(s, at, 201)
				}
				s.clock.advance(time.Hour)
				s.cleanUp()
				s.wantRules("rules=[" + unknownBox + "]")
				if other := s.deleteUnknown(); other == id {
					t.Error("the destroyed mailbox has the address again")
				}
				s.wantGone(id)
			})
		})
	}
}

// TestRuleIsMadeTwiceAndOneIsRefused: of two requests for one rule at once, one loses its answer and the other one is refused; the rule
// goes with the mailbox all the same.
func TestRuleIsMadeTwiceAndOneIsRefused(t *testing.T) {
	forEach(t, routed, func(t *testing.T, s *server) {
		i := s.interrupt()
		l := &answerLoser{DNS: s.dns}
		i.DNS = l
		at := "/api/domains/" + s.bind()
		s.catchMailbox(at, unknownBox)
		i.before = func() {
			l.lose.Store(true)
			s.want(502, "", s.admin, "POST", at+"/retry", nil)
			s.dns.Fail("CreateRule", fake.DNSError(409, 0))
		}
		ensureUnknown(s, at, 409)
		s.wantRules("rules=[" + unknownBox + "]")
		s.deleteUnknown()
		s.wantRules("rules=[]")
	})
}

// TestRuleIsMadeTwiceAndMailboxIsDeleted: of two requests one is answered, the mailbox is deleted with this rule, and the other request
// makes a rule again, of which nobody hears.
func TestRuleIsMadeTwiceAndMailboxIsDeleted(t *testing.T) {
	forEach(t, routed, func(t *testing.T, s *server) {
		i := s.interrupt()
		l := &answerLoser{DNS: s.dns}
		i.DNS = l
		at := "/api/domains/" + s.bind()
		s.catchMailbox(at, unknownBox)
		var id string
		i.before = func() {
			s.want(200, "", s.admin, "POST", at+"/retry", nil)
			id = s.deleteUnknown()
			l.lose.Store(true)
		}
		ensureUnknown(s, at, 502)
		s.wantRules("rules=[" + unknownBox + "]")
		s.wantGone(id)
	})
}

// TestRuleComesAfterReservation: a request that seemed to have failed, and comes to the provider late, leaves no rule.
func TestRuleComesAfterReservation(t *testing.T) {
	forEach(t, routed, func(t *testing.T, s *server) {
		at := "/api/domains/" + s.bind()
		s.dns.Fail("CreateRule", fake.DNSError(500, 0))
		ruleRequests["create"].request(s, at, 502)
		_, err := s.dns.CreateRule(t.Context(), "zone-example.com", unknownBox)
		must(t, err)
		s.clock.advance(time.Hour)
		s.cleanUp()
		s.wantRules("rules=[]")
		ensureUnknown(s, at, 201)
	})
}

// TestDeclinedRuleLeavesNothing: where the provider answers that it does not make the rule, nothing is looked for.
func TestDeclinedRuleLeavesNothing(t *testing.T) {
	forEach(t, routed, func(t *testing.T, s *server) {
		at := "/api/domains/" + s.bind()
		for upstream, status := range map[int]int{401: 502, 403: 502, 404: 409, 409: 409, 429: 429} {
			s.dns.Fail("CreateRule", fake.DNSError(upstream, 0))
			asked := s.countCalls("CreateRule")
			ruleRequests["create"].request(s, at, status)
			s.clock.advance(time.Hour)
			s.cleanUp()
			if n := s.countCalls("CreateRule") - asked; n != 1 {
				t.Errorf("%d: the provider was asked %d times", upstream, n)
			}
		}
	})
}
