package app

import (
	"github.com/patchbay-dev/patchbay/core/module"

	// The services that this core has, a line each.
	_ "github.com/patchbay-dev/patchbay/core/services/containers/module"
	_ "github.com/patchbay-dev/patchbay/core/services/mail/module"
	_ "github.com/patchbay-dev/patchbay/core/services/releases/module"
	_ "github.com/patchbay-dev/patchbay/core/services/search/module"
)

// Modules returns the services that this core has, in their order.
func Modules() []module.Definition { return module.Registered() }
