// Package pages holds the pages of the release feed.
package pages

import (
	"github.com/patchbay-dev/patchbay/core/console/ui"
	service "github.com/patchbay-dev/patchbay/core/services/releases"
)

// Section are the pages.
func Section(s *service.Service, base string) (ui.Section, error) {
	return ui.Section{Service: service.ServiceName}, nil
}
