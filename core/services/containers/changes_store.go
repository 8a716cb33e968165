package containers

import (
	"github.com/patchbay-dev/patchbay/core/services/containers/record"
)

// repository holds the queries. It decides nothing.
type repository struct{ *record.Store }
