package containers

import "github.com/patchbay-dev/patchbay/core/httpd"

func (p pages) hookRoutes() []httpd.Route { return nil }
