package releases

import (
	"net/http"
	"net/url"
	"strings"

	"github.com/patchbay-dev/patchbay/core/auth"
	"github.com/patchbay-dev/patchbay/core/services/releases/signin"
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

// allowedOrigin returns the origin whose pages may call the API from elsewhere, "" for none: that of an absolute base URL, or
// else that under which browsers see the core.
func allowedOrigin(baseURL, publicURL string) string {
	for _, address := range []string{baseURL, publicURL} {
		if u, err := url.Parse(address); err == nil && u.Host != "" && (u.Scheme == "http" || u.Scheme == "https") {
			return strings.ToLower(u.Scheme + "://" + u.Host)
		}
	}
	return ""
}

// currentSignIn returns what sign-ins need of the state.
func (st *state) currentSignIn() signin.Current {
	cur := signin.Current{Settings: st.settings.SignIn, Hosts: st.hosts}
	origin := allowedOrigin(st.settings.BaseURL, st.access.PublicURL)
	base, err := url.Parse(st.settings.BaseURL)
	if origin != "" && err == nil {
		cur.RedirectURL = origin + strings.TrimSuffix(base.Path, "/") + signin.SignInCallbackPath
	}
	return cur
}

// publicBase returns the address of the service as browsers see it; its path alone if that is not known.
func (s *Service) publicBase() string {
	st := s.state.Load()
	base := strings.TrimSuffix(st.settings.BaseURL, "/")
	if strings.HasPrefix(base, "/") || base == "" {
		base = strings.TrimSuffix(st.access.PublicURL, "/") + base
	}
	return base
}
