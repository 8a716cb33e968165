package testplugin

import (
	"context"
	"errors"
	"os"
)

// EnvUnwell names a file whose content is what all instances of the plugin complain of while it is there.
const EnvUnwell = "PATCHBAY_TESTPLUGIN_UNWELL"

// wellbeing implements framework.Healther for instances of every kind.
type wellbeing struct{}

// Health implements framework.Healther.
func (wellbeing) Health(context.Context) error {
	complaint, err := os.ReadFile(os.Getenv(EnvUnwell))
	if err != nil {
		return nil
	}
	return errors.New(string(complaint))
}
