package api

import (
	"context"
	"time"

	"github.com/patchbay-dev/patchbay/core/cluster"
	"github.com/patchbay-dev/patchbay/core/secret"
	"github.com/patchbay-dev/patchbay/core/services/search/access"
	"github.com/patchbay-dev/patchbay/core/services/search/audit"
	"github.com/patchbay-dev/patchbay/core/services/search/keys"
	"github.com/patchbay-dev/patchbay/core/services/search/proxy"
	"github.com/patchbay-dev/patchbay/core/store"
)

// Config is what the API needs.
type Config struct {
	Store *store.Store
	// Cluster is this core among those of the database; nil for a core alone.
	Cluster *cluster.Cluster
	// Keyring seals the ids of MCP sessions.
	Keyring *secret.Keyring
	Access  *access.Access
	Keys    *keys.Keys
	Log     *audit.Log
	Proxy   *proxy.Proxy
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
