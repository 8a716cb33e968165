package domain

import (
	"errors"

	"github.com/patchbay-dev/patchbay/core/fault"
)

// ErrOtherProvider is in the chain of errors which say that another provider is in use than a domain was provisioned with. Their messages
// are for administrators.
var ErrOtherProvider = errors.New("another DNS provider is in use")

// sameProvider fails with ErrOtherProvider if another provider is in use than the one that a domain was provisioned with: another
// instance, or another plugin behind the same reference.
func sameProvider(c Connection, row Domain) error {
	if c.DNS == nil || c.Ref != row.Provider {
		return fault.Wrap(ErrOtherProvider, fault.Conflict, "%s was provisioned with %s, which the service does not use now. "+
			"\"Check again\" with another provider gives up what the former one had been given.", row.Name, row.Provider)
	}
	if hasOtherProvider(c, row) {
		return fault.Wrap(ErrOtherProvider, fault.Conflict, "%s was provisioned with the plugin %s, and %s is %s now. "+
			"\"Check again\" gives up what the former one had been given.", row.Name, row.Plugin, c.Ref, c.Plugin)
	}
	return nil
}

// hasOtherProvider reports whether there is a provider in use, and it is another one than a domain has something at: another instance or,
// as far as both are known, another plugin. The ids of one provider may name something else at another.
func hasOtherProvider(c Connection, row Domain) bool {
	if c.DNS == nil || row.Provider == "" && row.ZoneID == "" {
		return false
	}
	return c.Ref != row.Provider || row.Plugin != "" && c.Plugin != "" && row.Plugin != c.Plugin
}
