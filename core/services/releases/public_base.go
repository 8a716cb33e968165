package releases

import "strings"

// publicBase returns the address of the service as browsers see it; its path alone if that is not known.
func (s *Service) publicBase() string {
	st := s.state.Load()
	base := strings.TrimSuffix(st.settings.BaseURL, "/")
	if strings.HasPrefix(base, "/") || base == "" {
		base = strings.TrimSuffix(st.access.PublicURL, "/") + base
	}
	return base
}
