package candidate

import (
	"context"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/patchbay-dev/patchbay/core/event"
	"github.com/patchbay-dev/patchbay/core/plugin/client"
	"github.com/patchbay-dev/patchbay/core/services/containers/project"
	"github.com/patchbay-dev/patchbay/core/services/containers/record"
	"github.com/patchbay-dev/patchbay/core/services/containers/work"
	"github.com/patchbay-dev/patchbay/core/store"
	"github.com/patchbay-dev/patchbay/sdk/engine"
)

// RegistrySettings are those of the service that are about registries and checks.
type RegistrySettings struct {
	DockerConfig string
	// HostPlatform is the platform that images are compared with; "" for the engine's.
	HostPlatform string
	// Parallel is how many services a check asks about at once, PerHost how many requests to one registry run at once.
	Parallel, PerHost int64
	// RetryAttempts is how often a request is made in all. The pauses between begin with RetryBaseMS and are at most RetryMaxMS long.
	RetryAttempts, RetryBaseMS, RetryMaxMS int64
	// Cooldown is for how long a registry that goes on limiting is left alone, in seconds.
	Cooldown int64
}

// projects is what candidates need to know of the projects of the host.
type projects interface {
	// LoadInventory reads everything that is managed, as it stands now.
	LoadInventory(ctx context.Context) (*project.Inventory, error)
	// CheckScope completes a request, and returns an error if what it names does not exist.
	CheckScope(ctx context.Context, req *project.ScanRequest) error
	// ObserveEngine asks the engine for the containers of a project, of all for "".
	ObserveEngine(ctx context.Context, name string) (*project.Observed, []engine.Container, error)
	// ScanRuntime writes what runs of the services for which only holds, of all for nil.
	ScanRuntime(ctx context.Context, o *project.Observed, only func(*record.Service) bool) (project.RuntimeSummary, error)
	// RunsDigest reports whether one of the digests is the wanted one, or that of its manifest for the host's platform.
	RunsDigest(ctx context.Context, have []string, want string) bool
}

// Config is what candidates need.
type Config struct {
	Store    *record.Store
	Projects projects
	Jobs     *work.Queue
	Logger   hclog.Logger
	Now      func() time.Time
	// Events gets what the search for versions does.
	Events *event.Bus
	// Engine, Settings and Registries return those in use. Registries are asked in this order.
	Engine     func() client.Engine
	Settings   func() RegistrySettings
	Registries func() []client.Registry
}

// base is what the parts of Candidates share.
type base struct {
	cfg   Config
	store *Store
}

func (b base) nowMillis() int64 { return store.Millis(b.cfg.Now()) }

// Store holds the queries about checks, snapshots and ignore rules. It decides nothing.
type Store struct{ *record.Store }
