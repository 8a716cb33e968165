package mail_test

import (
	"testing"
	"time"

	"github.com/patchbay-dev/patchbay/core/internal/testing/fake"
)

// TestAddressIsTakenBeforeUnusedRuleIsDeleted: a rule that was made for a mailbox which was destroyed meanwhile is not deleted once
// another mailbox has taken the address, and the rule with it.
func TestAddressIsTakenBeforeUnusedRuleIsDeleted(t *testing.T) {
	for name, status := range map[string]int{"create": 409, "ensure": 201, "end of the catch-all": 200} {
		t.Run(name, func(t *testing.T) {
			forEach(t, routed, func(t *testing.T, s *server) {
				i, r, c := s.interrupt(), &ruleInterrupter{DNS: s.dns}, ruleRequests[name]
				i.DNS = r
				at := "/api/domains/" + s.bind()
				c.prepare(s, at)
				i.before = func() {
					s.deleteUnknown()
					r.beforeDeletion = func() { s.call(s.admin, "POST", "/api/mailboxes/ensure", dict{"address": unknownBox}) }
				}
				c.request(s, at, status)
				runOnce(&r.beforeDeletion)
				s.wantRules("rules=[" + unknownBox + "]")
				s.clock.advance(time.Hour)
				s.cleanUp()
				s.wantRules("rules=[" + unknownBox + "]")
				s.wantGone(s.deleteUnknown())
			})
		})
	}
}

// TestUnusedRuleIsDeleted: a rule that was made for a mailbox which was destroyed meanwhile is deleted if nobody takes the address, also
// if that fails at first, or if the provider has answered so late that the rule was looked for before.
func TestUnusedRuleIsDeleted(t *testing.T) {
	for name, late := range map[string]bool{"soon": false, "late": true} {
		t.Run(name, func(t *testing.T) {
			forEach(t, routed, func(t *testing.T, s *server) {
				i, c := s.interrupt(), ruleRequests["end of the catch-all"]
				at := "/api/domains/" + s.bind()
				c.prepare(s, at)
				var id string
				i.before = func() {
					id = s.deleteUnknown()
					if late {
						s.clock.advance(time.Hour)
						s.cleanUp()
					}
					s.dns.Fail("DeleteRule", fake.DNSError(500, 0))
				}
				c.request(s, at, 200)
				s.wantRules("rules=[" + unknownBox + "]")
				s.wantGone(id)
			})
		})
	}
}

// TestUnusedRuleIsMadeDuringSecondLook: a rule that nobody needs is deleted as well if it is made after the second look has asked for it,
// and before the look has ended, as when the host of the core was suspended meanwhile.
func TestUnusedRuleIsMadeDuringSecondLook(t *testing.T) {
	for name, status := range map[string]int{"create": 409, "ensure": 409, "end of the catch-all": 200} {
		t.Run(name, func(t *testing.T) {
			forEach(t, routed, func(t *testing.T, s *server) {
				i, r, c := s.interrupt(), &ruleInterrupter{DNS: s.dns}, ruleRequests[name]
				i.DNS = r
				at := "/api/domains/" + s.bind()
				c.prepare(s, at)
				begun, goOn, ended := make(chan struct{}), make(chan struct{}), make(chan struct{})
				i.before = func() {
					close(begun)
					<-goOn
				}
				go func() {
					defer close(ended)
					c.request(s, at, status)
				}()
				<-begun
				id := s.deleteUnknown()
				r.afterDeletion = func() {
					close(goOn)
					<-ended
				}
				s.clock.advance(time.Hour)
				s.cleanUp()
				s.wantRules("rules=[" + unknownBox + "]")
				s.wantGone(id)
			})
		})
	}
}
