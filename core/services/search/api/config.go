package api

import (
	"context"
	"time"

	"github.com/patchbay-dev/patchbay/core/services/search/access"
	"github.com/patchbay-dev/patchbay/core/services/search/audit"
	"github.com/patchbay-dev/patchbay/core/services/search/keys"
	"github.com/patchbay-dev/patchbay/core/services/search/proxy"
)

// Config is what the API needs.
type Config struct {
	Access *access.Access
	Keys   *keys.Keys
	Log    *audit.Log
	Proxy  *proxy.Proxy
	// Catalog returns what requests can be filtered by at present.
	Catalog func() audit.LogCatalog
	// Sessions ends sign-ins; nil where there are none.
	Sessions Sessions
	// Version is the core's own, for the document.
	Version string
	// PublicURL is the absolute URL under which browsers see the core; empty if that is not known.
	PublicURL string
	Now       func() time.Time
}

// Sessions ends sign-ins.
type Sessions interface {
	End(ctx context.Context, id string) error
}
