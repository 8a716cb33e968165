package releases

import (
	"net/url"
	"strings"

	"github.com/patchbay-dev/patchbay/core/services/releases/signin"
)

// redirectURL returns the address to which the code host sends people back, "" if the public address of the core is unknown.
func (s *Service) redirectURL() string {
	st := s.state.Load()
	origin := allowedOrigin(st.settings.BaseURL, st.access.PublicURL)
	base, err := url.Parse(st.settings.BaseURL)
	if origin == "" || err != nil {
		return ""
	}
	return origin + strings.TrimSuffix(base.Path, "/") + signin.SignInCallbackPath
}
