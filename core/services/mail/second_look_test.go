package mail_test

import (
	"context"
	"testing"
	"time"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/internal/testing/fake"
	"github.com/patchbay-dev/patchbay/core/internal/testing/testkit"
	"github.com/patchbay-dev/patchbay/core/plugin/client"
)

// ruleInterrupter is a provider in front of another one. before, beforeDeletion and afterDeletion, unless they are nil, run once, before
// the next call of CreateRule, and before and after that of DeleteRule.
type ruleInterrupter struct {
	client.DNS
	before, beforeDeletion, afterDeletion func()
}

func (i *ruleInterrupter) Pin() (client.DNS, string) {
	_, plugin := i.DNS.Pin()
	return i, plugin
}

func (i *ruleInterrupter) CreateRule(ctx context.Context, zoneID, address string) (string, error) {
	runOnce(&i.before)
	return i.DNS.CreateRule(ctx, zoneID, address)
}

func (i *ruleInterrupter) DeleteRule(ctx context.Context, zoneID, ruleID string) error {
	runOnce(&i.beforeDeletion)
	err := i.DNS.DeleteRule(ctx, zoneID, ruleID)
	runOnce(&i.afterDeletion)
	return err
}

// TestMailboxIsDeletedTwiceAtOnce: the rule of a mailbox is looked for once more also if two requests have deleted the mailbox at the
// same time.
func TestMailboxIsDeletedTwiceAtOnce(t *testing.T) {
	forEach(t, routed, func(t *testing.T, s *server) {
		i := &ruleInterrupter{DNS: s.dns}
		s.provider = i
		s.restart()
		at := "/api/domains/" + s.bind()
		s.catchMailbox(at, unknownBox)
		s.dns.Fail("CreateRule", fake.DNSError(500, 0))
		ensureUnknown(s, at, 502)
		i.before = func() { s.deleteUnknown() }
		id := s.deleteUnknown()
		_, err := s.dns.CreateRule(t.Context(), "zone-example.com", unknownBox)
		must(t, err)
		s.wantGone(id)
	})
}

// TestSecondLookIsRefused: an address is free while the provider refuses to be asked once more for the rule that a destroyed mailbox may
// have. The rule goes with the mailbox that takes the address, or when the provider answers again.
func TestSecondLookIsRefused(t *testing.T) {
	for name, taken := range map[string]bool{"taken": true, "not taken": false} {
		t.Run(name, func(t *testing.T) {
			forEach(t, routed, func(t *testing.T, s *server) {
				c := ruleRequests["ensure"]
				at, id := s.loseAnswerAfterDeletion(c.prepare, c.request)
				for _, upstream := range []int{403, 429} {
					s.dns.Fail("CreateRule", fake.DNSError(upstream, 0))
					asked := s.countCalls("CreateRule")
					s.clock.advance(time.Hour)
					s.cleanUp()
					s.cleanUp()
					if n := s.countCalls("CreateRule") - asked; n != 1 {
						t.Errorf("%d: the provider was asked %d times", upstream, n)
					}
				}
				if taken {
					ensureUnknown(s, at, 201)
					s.clock.advance(time.Hour)
					s.cleanUp()
					s.wantRules("rules=[" + unknownBox + "]")
					s.deleteUnknown()
				}
				s.wantGone(id)
			})
		})
	}
}

// TestSecondLookMeetsReservation: a rule that a destroyed mailbox may have is not forgotten with a mailbox of the same address that could
// not be made.
func TestSecondLookMeetsReservation(t *testing.T) {
	forEach(t, routed, func(t *testing.T, s *server) {
		c := ruleRequests["ensure"]
		at, id := s.loseAnswerAfterDeletion(c.prepare, c.request)
		s.clock.advance(time.Hour)
		i := &ruleInterrupter{DNS: s.dns}
		s.useProvider("dns.main", i)
		i.before = func() {
			s.cleanUp()
			s.dns.Fail("CreateRule", fake.DNSError(409, 0))
		}
		ruleRequests["create"].request(s, at, 409)
		s.wantGone(id)
	})
}

// TestSecondLookMeetsDestruction: nor with one that is destroyed in this moment.
func TestSecondLookMeetsDestruction(t *testing.T) {
	cfg := testkit.PostgresConfig(t)
	s := startServer(t, cfg, routed)
	c := ruleRequests["ensure"]
	at, id := s.loseAnswerAfterDeletion(c.prepare, c.request)
	ensureUnknown(s, at, 201)
	other := s.findMailboxID(unknownBox)
	s.clock.advance(time.Hour)
	destroy := func() error {
		return s.store.Tx(t.Context(), "destroy the other mailbox", func(ctx context.Context) error {
			return s.store.Writer(ctx).Exec("UPDATE mail_mailboxes SET status = 'destroyed', destroyed_at = 1 WHERE id = ?", other).Error
		})
	}
	look := func() error { return s.runCleanUp(t.Context()) }
	first, second := testkit.Overlap(t, cfg, "SELECT 1 FROM mail_mailboxes WHERE id = '"+other+"' FOR UPDATE", destroy, look)
	must(t, first)
	must(t, second)
	s.wantGone(id)
}

// TestMailboxIsDeletedDuringSecondLook: who deletes a mailbox meanwhile does not have the look delete the rule of the next mailbox.
func TestMailboxIsDeletedDuringSecondLook(t *testing.T) {
	forEach(t, routed, func(t *testing.T, s *server) {
		c := ruleRequests["ensure"]
		_, id := s.loseAnswerAfterDeletion(c.prepare, c.request)
		i := &ruleInterrupter{DNS: s.dns}
		s.useProvider("dns.main", i)
		status := 0
		i.before = func() {
			s.want(200, "", s.admin, "DELETE", "/api/mailboxes/"+id, nil)
			status, _ = s.call(s.admin, "POST", "/api/mailboxes/ensure", dict{"address": unknownBox})
		}
		s.clock.advance(time.Hour)
		s.cleanUp()
		if status != 409 {
			t.Errorf("the address could be taken during the look: %d", status)
		}
		s.wantGone(id)
	})
}

// TestAddressIsTakenBeforeCancelledRuleIsLookedFor: nor does who has made a mailbox that was deleted meanwhile, and whose answer is lost.
func TestAddressIsTakenBeforeCancelledRuleIsLookedFor(t *testing.T) {
	forEach(t, routed, func(t *testing.T, s *server) {
		l := &answerLoser{DNS: s.dns}
		i := &ruleInterrupter{DNS: l}
		s.provider = i
		s.restart()
		at := "/api/domains/" + s.bind()
		i.before = func() {
			s.deleteUnknown()
			l.lose.Store(true)
			i.before = func() { ensureUnknown(s, at, 201) }
		}
		ruleRequests["create"].request(s, at, 502)
		runOnce(&i.before)
		s.wantRules("rules=[" + unknownBox + "]")
	})
}

// TestMailComesDuringSecondLook: mail to the address is to come again if the catch-all takes it, and refused if not.
func TestMailComesDuringSecondLook(t *testing.T) {
	for name, caught := range map[string]bool{"catch-all": true, "no catch-all": false} {
		t.Run(name, func(t *testing.T) {
			forEach(t, routed, func(t *testing.T, s *server) {
				c := ruleRequests["ensure"]
				at, _ := s.loseAnswerAfterDeletion(c.prepare, c.request)
				if caught {
					s.want(200, "", s.admin, "POST", at+"/catch-all/enable", nil)
				}
				i := &ruleInterrupter{DNS: s.dns}
				s.useProvider("dns.main", i)
				status := 0
				i.before = func() {
					_, err := s.service.FindRecipient(s.t.Context(), unknownBox)
					status = fault.StatusOf(err)
				}
				s.clock.advance(time.Hour)
				s.cleanUp()
				if want := map[bool]int{true: 503, false: 404}[caught]; status != want {
					t.Errorf("got %d, want %d", status, want)
				}
				if _, err := s.service.FindRecipient(t.Context(), unknownBox); (err == nil) != caught {
					t.Errorf("after the look: %v", err)
				}
			})
		})
	}
}
