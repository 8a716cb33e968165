package fake

import "github.com/patchbay-dev/patchbay/core/plugin/client"

// Empty is a double of the kind.
type Empty struct{}

var _ client.Empty = Empty{}
