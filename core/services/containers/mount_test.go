package containers_test

import (
	"github.com/patchbay-dev/patchbay/core/services/containers"
)

func init() { containers.SetMountAPI(containers.MountAPI) }
