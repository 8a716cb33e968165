package client

import (
	"context"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/plugin/catalog"
)

// ErrOtherPlugin is the error of a call that was meant for one plugin, after a reload has given the instance to another one. Nothing was
// sent.
var ErrOtherPlugin = fault.New(fault.Conflict, "A reload replaced the provider during the call: try again.")

// pinnedHandle is a handle that gives its instance as long as one plugin serves it.
type pinnedHandle struct {
	*catalog.Handle
	plugin string
}

// Acquire returns the instance for one call, or ErrOtherPlugin.
func (h pinnedHandle) Acquire(ctx context.Context) (*catalog.Instance, func(), error) {
	in, release, err := h.Handle.Acquire(ctx)
	if err == nil && in.Plugin != h.plugin {
		release()
		return nil, nil, ErrOtherPlugin
	}
	return in, release, err
}
