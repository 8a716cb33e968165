package mail_test

import (
	"testing"

	"github.com/patchbay-dev/patchbay/core/internal/testing/fake"
)

// TestCatchAllIsBetweenTwoStates: when the provider fails in the middle of the end of a catch-all, whatever is done next with the domain
// leaves no mailbox without mail.
func TestCatchAllIsBetweenTwoStates(t *testing.T) {
	for name, c := range map[string]struct {
		path, catchAll string
		enabled        bool
	}{
		"retry":  {"/retry", `catch-all=""`, false},
		"enable": {"/catch-all/enable", `catch-all="worker"`, true},
	} {
		t.Run(name, func(t *testing.T) {
			forEach(t, routed, func(t *testing.T, s *server) {
				at := "/api/domains/" + s.bind()
				s.want(200, "", s.admin, "POST", at+"/catch-all/enable", nil)
				s.want(201, "", s.ada, "POST", "/api/mailboxes", dict{"localPart": "box", "mailDomain": "example.com"})
				down := fake.DNSError(500, 0)
				s.dns.Fail("CreateRule", down)
				s.dns.Fail("SetCatchAll", down)
				s.want(502, "", s.admin, "POST", at+"/catch-all/disable", nil)
				// The mail of others goes where it went before; the rule of the mailbox is not made.
				must(t, s.dns.RestoreCatchAll(t.Context(), "zone-example.com", []byte("snapshot:")))

				s.useNoProvider()
				s.want(409, "conflict", s.admin, "POST", at+c.path, nil)
				s.useProvider("dns.main", s.dns)
				s.dns.Fail("CreateRule", down)
				s.dns.Fail("SetCatchAll", down)
				s.want(502, "", s.admin, "POST", at+c.path, nil)
				s.want(200, "", s.admin, "POST", at+c.path, nil)
				if got := s.domain("example.com"); got["status"] != "active" || got["catchAllEnabled"] != c.enabled {
					t.Errorf("got %v", got)
				}
				s.wantRules("rules=[box@example.com]", c.catchAll)
			})
		})
	}
}
