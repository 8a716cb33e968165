package search

import (
	"time"

	"github.com/patchbay-dev/patchbay/core/secret"
	"github.com/patchbay-dev/patchbay/core/services/search/access"
	"github.com/patchbay-dev/patchbay/core/services/search/keys"
	"github.com/patchbay-dev/patchbay/core/store"
)

// Admin changes access tokens and upstream keys. It needs no running service: a core that runs on the same database
// notices what was changed.
type Admin struct {
	*access.TokenAdmin
	*keys.KeyAdmin
}

// NewAdmin makes an Admin on a database whose migrations have run; now nil means time.Now.
func NewAdmin(st *store.Store, keyring *secret.Keyring, now func() time.Time) *Admin {
	return &Admin{access.NewTokenAdmin(st, keyring, now), keys.NewKeyAdmin(st, keyring, now)}
}
