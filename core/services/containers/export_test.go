package containers

import "github.com/patchbay-dev/patchbay/core/httpd"

// mountAPI returns the API of a service. Its package needs this one, so that the tests outside of this package set it.
var mountAPI func(s *Service, base string) httpd.Mount

// SetMountAPI sets how the API is mounted.
func SetMountAPI(mount func(s *Service, base string) httpd.Mount) { mountAPI = mount }
