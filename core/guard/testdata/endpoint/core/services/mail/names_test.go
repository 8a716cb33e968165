package mail_test

import (
	"net/http"
	"testing"

	"github.com/patchbay-dev/patchbay/core/plugin/client"
)

// TestDomainName looks up a domain in use, one that is not, and one as nobody in particular.
func TestDomainName(t *testing.T) {
	forEach(t, client.DNSAbilities{}, func(t *testing.T, s *server) {
		if got := text(t, s.want(http.StatusOK, "", s.ada, http.MethodGet, "/api/domain-names/mail.localhost", nil), "name"); got != "mail.localhost" {
			t.Errorf("got %q", got)
		}
		s.want(http.StatusNotFound, "not_found", s.ada, http.MethodGet, "/api/domain-names/example.com", nil)
		s.want(http.StatusUnauthorized, "", "", http.MethodGet, "/api/domain-names/mail.localhost", nil)
	})
}
