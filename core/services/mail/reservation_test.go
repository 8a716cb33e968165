package mail_test

import (
	"testing"
	"time"

	"github.com/patchbay-dev/patchbay/core/internal/testing/fake"
)

// TestReservationIsDeletedWhileItsRuleIsMade: a mailbox that is deleted before it is in use stays so, and leaves no rule; one that has
// taken the address meanwhile keeps its own.
func TestReservationIsDeletedWhileItsRuleIsMade(t *testing.T) {
	forEach(t, routed, func(t *testing.T, s *server) {
		i := s.interrupt()
		s.bind()
		body := dict{"localPart": "box", "subdomain": "desk", "mailDomain": "example.com"}
		var reserved string
		deleteReserved := func() {
			reserved = s.findMailboxID("box@desk.example.com")
			s.want(200, "", s.ada, "DELETE", "/api/mailboxes/"+reserved, nil)
		}
		i.before = deleteReserved
		s.want(409, "conflict", s.ada, "POST", "/api/mailboxes", body)
		s.wantGone(reserved)
		i.before = func() {
			deleteReserved()
			s.want(201, "", s.ada, "POST", "/api/mailboxes", body)
		}
		s.want(409, "conflict", s.ada, "POST", "/api/mailboxes", body)
		s.wantRules("rules=[box@desk.example.com]")
	})
}

// TestMailboxIsDeletedWhileItsRuleIsMade: a mailbox that is deleted while ensure makes its rule leaves none; ensure makes another one.
func TestMailboxIsDeletedWhileItsRuleIsMade(t *testing.T) {
	forEach(t, routed, func(t *testing.T, s *server) {
		i := s.interrupt()
		at := "/api/domains/" + s.bind()
		s.want(200, "", s.admin, "POST", at+"/catch-all/enable", nil)
		caught, err := s.service.FindRecipient(t.Context(), "caught@desk.example.com")
		must(t, err)
		s.want(200, "", s.admin, "POST", at+"/catch-all/disable", nil)
		i.before = func() { s.want(200, "", s.admin, "DELETE", "/api/mailboxes/"+caught.MailboxID, nil) }
		got := s.want(201, "", s.admin, "POST", "/api/mailboxes/ensure", dict{"address": "caught@desk.example.com"})
		s.wantRules("rules=[caught@desk.example.com]")
		s.want(200, "", s.admin, "DELETE", "/api/mailboxes/"+text(t, got, "id"), nil)
		s.wantRules("rules=[]")
	})
}

// TestProviderChangesWhileRuleIsMade: a rule that is made while its domain is given to another provider is not noted as one of the
// latter, where the mailbox gets a rule of its own.
func TestProviderChangesWhileRuleIsMade(t *testing.T) {
	ways := map[string]func(s *server, begin func()){
		"create": func(s *server, begin func()) {
			begin()
			s.want(201, "", s.ada, "POST", "/api/mailboxes", dict{"localPart": "box", "subdomain": "desk", "mailDomain": "example.com"})
		},
		"ensure": func(s *server, begin func()) {
			at := "/api/domains/" + text(s.t, s.domain("example.com"), "id")
			s.want(200, "", s.admin, "POST", at+"/catch-all/enable", nil)
			_, err := s.service.FindRecipient(s.t.Context(), "box@desk.example.com")
			must(s.t, err)
			s.want(200, "", s.admin, "POST", at+"/catch-all/disable", nil)
			begin()
			s.want(200, "", s.admin, "POST", "/api/mailboxes/ensure", dict{"address": "box@desk.example.com"})
		},
	}
	for name, run := range ways {
		t.Run(name, func(t *testing.T) {
			forEach(t, routed, func(t *testing.T, s *server) {
				i := s.interrupt()
				at := "/api/domains/" + s.bind()
				// The two providers give other ids to the rules of one address.
				s.want(201, "", s.ada, "POST", "/api/mailboxes", dict{"localPart": "first", "mailDomain": "example.com"})
				s.want(200, "", s.ada, "DELETE", "/api/mailboxes/"+s.findMailboxID("first@example.com"), nil)
				run(s, func() {
					i.before = func() {
						s.swapPlugin("other", routed)
						s.dns.AddZone("example.com", "kept")
						s.want(200, "", s.admin, "POST", at+"/retry", nil)
					}
				})
				s.wantRules("rules=[box@desk.example.com]")
				s.want(200, "", s.admin, "DELETE", "/api/mailboxes/"+s.findMailboxID("box@desk.example.com"), nil)
				s.wantRules("rules=[]")
			})
		})
	}
}

// TestProviderChangesBeforeAnswerIsLost: a rule that a reservation may have at the provider to which its domain is given meanwhile goes
// with it.
func TestProviderChangesBeforeAnswerIsLost(t *testing.T) {
	forEach(t, routed, func(t *testing.T, s *server) {
		i := s.interrupt()
		at := "/api/domains/" + s.bind()
		i.before = func() {
			s.swapPlugin("other", routed)
			s.dns.AddZone("example.com", "kept")
			s.want(200, "", s.admin, "POST", at+"/retry", nil)
			l := &answerLoser{DNS: s.dns}
			l.lose.Store(true)
			s.useProvider("dns.main", l)
			s.dns.Fail("CreateRule", nil, fake.DNSError(500, 0))
		}
		s.want(502, "", s.ada, "POST", "/api/mailboxes", dict{"localPart": "box", "subdomain": "desk", "mailDomain": "example.com"})
		s.wantRules("rules=[box@desk.example.com]")
		s.clock.advance(time.Hour)
		s.cleanUp()
		s.wantRules("rules=[]")
	})
}

// findMailboxID returns the id of the mailbox that has an address, in whatever state but destroyed.
func (s *server) findMailboxID(address string) string {
	s.t.Helper()
	for _, box := range s.want(200, "", s.admin, "GET", "/api/mailboxes?status=active&status=expired&status=destroying",
		nil)["mailboxes"].([]any) {
		if box.(dict)["address"] == address {
			return box.(dict)["id"].(string)
		}
	}
	s.t.Fatalf("there is no mailbox %s", address)
	return ""
}
