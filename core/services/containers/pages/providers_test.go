package pages

import (
	"time"

	"github.com/patchbay-dev/patchbay/core/console"
)

// noProviders are no plugins.
type noProviders struct{ console.Providers }

func (noProviders) Instances() []console.Instance { return nil }

func (noProviders) Rejected() (string, time.Time) { return "", time.Time{} }
