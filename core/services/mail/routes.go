package mail

import (
	"fmt"

	"github.com/patchbay-dev/patchbay/core/httpd"
)

// MountAt returns the routes of the API below a base URL.
func (s *Service) MountAt(baseURL string) (httpd.Mount, error) {
	routes, err := s.newAPI(baseURL).Routes()
	if err != nil {
		return httpd.Mount{}, fmt.Errorf("declare the API of the mail service: %w", err)
	}
	return httpd.Mount{Service: ServiceName, BaseURL: baseURL, Routes: routes}, nil
}
