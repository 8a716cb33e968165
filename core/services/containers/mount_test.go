package containers_test

import (
	"github.com/patchbay-dev/patchbay/core/services/containers"
	"github.com/patchbay-dev/patchbay/core/services/containers/api"
)

func init() { containers.SetMountAPI(api.Mount) }
