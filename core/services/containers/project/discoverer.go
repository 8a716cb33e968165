package project

import (
	"context"
	"sync"

	"github.com/patchbay-dev/patchbay/core/services/containers/compose"
	"github.com/patchbay-dev/patchbay/core/services/containers/work"
	"github.com/patchbay-dev/patchbay/core/store"
)

// DiscoveryConfig is what a discovery needs.
type DiscoveryConfig struct {
	Config
	Projects *Projects
	// Locks has the lock of discoveries, which decisions of people take as well.
	Locks *work.KeyedMutex
	// ReadFile reads a compose file; nil means from the file system.
	ReadFile func(string) ([]byte, error)
	// Resume is called after a discovery that the engine has answered.
	Resume func(context.Context) error
}

// Discovery finds the projects of the host, and keeps stacks and services up to date.
type Discovery struct {
	cfg    DiscoveryConfig
	store  *Store
	parses parseCache
	// engineChanged is sent to when the engine tells of a change.
	engineChanged chan struct{}
}

// NewDiscovery returns the discovery.
func NewDiscovery(cfg DiscoveryConfig) *Discovery {
	return &Discovery{cfg: cfg, store: &Store{cfg.Store}, engineChanged: make(chan struct{}, 1)}
}

func (d *Discovery) now() int64 { return store.Millis(d.cfg.Now()) }

// parseCache keeps what the files of projects say for as long as none of them changes.
type parseCache struct {
	mu   sync.Mutex
	kept map[string]parsedProject
}

type parsedProject struct {
	signature string
	project   *compose.Project
}
