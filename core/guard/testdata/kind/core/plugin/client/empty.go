package client

import "github.com/patchbay-dev/patchbay/core/plugin/catalog"

// Empty is the kind as services see it.
type Empty interface{}

// NewEmpty makes the facade for a handle.
func NewEmpty(h *catalog.Handle) Empty { return h }
