package project

import (
	"context"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/services/containers/compose"
)

// ComposeText is a compose file of a stack for reading, without secrets.
type ComposeText = compose.FileText

// ComposeTexts returns the compose files of a stack as they are written, without secrets.
func (p *Projects) ComposeTexts(ctx context.Context, stackID string) ([]ComposeText, error) {
	inv, err := p.LoadInventory(ctx)
	if err != nil {
		return nil, err
	}
	st := inv.Stacks[stackID]
	if st == nil {
		return nil, fault.New(fault.NotFound, "There is no such stack.")
	}
	return compose.ReadTexts(p.cfg.Host.ComposeSource(st)), nil
}
