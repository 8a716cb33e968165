package mail_test

import (
	"context"
	"sync/atomic"
	"testing"

	"github.com/patchbay-dev/patchbay/core/internal/testing/fake"
	"github.com/patchbay-dev/patchbay/core/plugin/client"
)

// answerLoser is a provider in front of another one, whose next answer about a rule that it has made is lost.
type answerLoser struct {
	client.DNS
	lose atomic.Bool
}

func (l *answerLoser) Pin() (client.DNS, string) {
	_, plugin := l.DNS.Pin()
	return l, plugin
}

func (l *answerLoser) CreateRule(ctx context.Context, zoneID, address string) (string, error) {
	id, err := l.DNS.CreateRule(ctx, zoneID, address)
	if err == nil && l.lose.Swap(false) {
		return "", fake.DNSError(0, 0)
	}
	return id, err
}

// loseAnswers puts an answerLoser in front of the provider, by a start of the core.
func (s *server) loseAnswers() *answerLoser {
	s.t.Helper()
	l := &answerLoser{DNS: s.dns}
	s.provider = l
	s.open()
	s.remount()
	return l
}

// TestRuleWhoseAnswerIsLost: a rule that the provider has made for a mailbox in use, without that we know, is found again, and goes with
// the mailbox.
func TestRuleWhoseAnswerIsLost(t *testing.T) {
	const address = "box@example.com"
	ensure := func(s *server, status int) {
		s.t.Helper()
		s.want(status, "", s.admin, "POST", "/api/mailboxes/ensure", dict{"address": address})
	}
	for name, lose := range map[string]func(s *server, l *answerLoser, at string){
		"ensure": func(s *server, l *answerLoser, at string) {
			_, err := s.service.FindRecipient(s.t.Context(), address)
			must(s.t, err)
			s.want(200, "", s.admin, "POST", at+"/catch-all/disable", nil)
			l.lose.Store(true)
			ensure(s, 502)
		},
		"end of the catch-all": func(s *server, l *answerLoser, at string) {
			ensure(s, 201)
			l.lose.Store(true)
			s.want(502, "", s.admin, "POST", at+"/catch-all/disable", nil)
		},
	} {
		t.Run(name, func(t *testing.T) {
			forEach(t, routed, func(t *testing.T, s *server) {
				l := s.loseAnswers()
				at := "/api/domains/" + s.bind()
				s.want(200, "", s.admin, "POST", at+"/catch-all/enable", nil)
				lose(s, l, at)
				s.wantRules("rules=[" + address + "]")
				s.want(200, "", s.admin, "DELETE", "/api/mailboxes/"+s.findMailboxID(address), nil)
				s.wantRules("rules=[]")
			})
		})
	}
}

// catchMailbox has the catch-all of a domain make a mailbox, which has no rule when the catch-all has ended.
func (s *server) catchMailbox(at, address string) {
	s.t.Helper()
	s.want(200, "", s.admin, "POST", at+"/catch-all/enable", nil)
	_, err := s.service.FindRecipient(s.t.Context(), address)
	must(s.t, err)
	s.want(200, "", s.admin, "POST", at+"/catch-all/disable", nil)
}

// TestRuleIsMadeTwiceAtOnce: the rule that a retry makes for a mailbox, while ensure makes one that the provider refuses then, goes with
// the mailbox.
func TestRuleIsMadeTwiceAtOnce(t *testing.T) {
	const address = "caught@desk.example.com"
	forEach(t, routed, func(t *testing.T, s *server) {
		i := s.interrupt()
		at := "/api/domains/" + s.bind()
		s.catchMailbox(at, address)
		i.before = func() {
			s.want(200, "", s.admin, "POST", at+"/retry", nil)
			s.wantRules("rules=[" + address + "]")
			s.dns.Fail("CreateRule", fake.DNSError(409, 0))
		}
		s.want(409, "", s.admin, "POST", "/api/mailboxes/ensure", dict{"address": address})
		s.want(200, "", s.admin, "DELETE", "/api/mailboxes/"+s.findMailboxID(address), nil)
		s.wantRules("rules=[]")
	})
}

// TestRuleWhoseAnswerIsLostBeforeCatchAll: it goes with the mailbox, although the catch-all has made mail to the mailbox do without a
// rule since.
func TestRuleWhoseAnswerIsLostBeforeCatchAll(t *testing.T) {
	const address = "caught@desk.example.com"
	forEach(t, routed, func(t *testing.T, s *server) {
		l := s.loseAnswers()
		at := "/api/domains/" + s.bind()
		s.catchMailbox(at, address)
		l.lose.Store(true)
		s.want(502, "", s.admin, "POST", "/api/mailboxes/ensure", dict{"address": address})
		s.want(200, "", s.admin, "POST", at+"/catch-all/enable", nil)
		s.want(200, "", s.admin, "POST", "/api/mailboxes/ensure", dict{"address": address})
		s.want(200, "", s.admin, "DELETE", "/api/mailboxes/"+s.findMailboxID(address), nil)
		s.wantRules("rules=[]")
	})
}
