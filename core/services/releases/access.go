package releases

import (
	"net/http"

	"github.com/patchbay-dev/patchbay/core/auth"
)

// Recognise returns who makes a request of a route that needs nobody; nil for nobody.
func (s *Service) Recognise(r *http.Request) *auth.Principal {
	p, err := s.cfg.Users.Recognise(s.state.Load().access, r)
	if err != nil {
		return nil
	}
	return p
}

// Origin returns the origin under which a browser has come.
func (s *Service) Origin(r *http.Request) string { return s.state.Load().access.OriginOf(r) }

// IsSecure reports whether a browser has come by https.
func (s *Service) IsSecure(r *http.Request) bool { return s.state.Load().access.Secure(r) }
