package mail

import (
	"github.com/patchbay-dev/patchbay/core/httpd"
)

// MountAt returns the routes of the API below a base URL.
func (s *Service) MountAt(baseURL string) (httpd.Mount, error) {
	return httpd.Mount{Service: ServiceName, BaseURL: baseURL, Routes: s.newAPI(baseURL).Routes()}, nil
}
