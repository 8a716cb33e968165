// Package host is the machine whose containers the service looks after: its engine, the files of its projects and the compose command.
package host

import (
	"sync/atomic"
	"time"

	"github.com/patchbay-dev/patchbay/core/plugin/client"
	"github.com/patchbay-dev/patchbay/core/services/containers/record"
)

// Settings are those of the service that are about the engine and compose.
type Settings struct {
	// ComposeBin is the compose command, DockerConfig the configuration of the Docker client.
	ComposeBin, DockerConfig string
	// StackRoots are folders from which files may be read besides working directories, Override the supervisor's file.
	StackRoots []string
	StatePath  string
	// UpdateRetries is how often a step is tried that is safe to repeat; the pauses between begin with UpdateBaseMS, at most
	// UpdateMaxMS long.
	UpdateRetries, UpdateBaseMS, UpdateMaxMS int64
}

// Config is what a host needs.
type Config struct {
	Store *record.Store
	// Engine and Settings return those in use.
	Engine   func() client.Engine
	Settings func() Settings
	// OutageWait is for how long a step waits for an engine that went away; 0 means two minutes.
	OutageWait time.Duration
}

// Host is the machine whose containers the service looks after: its engine, the files of its projects and the compose command.
type Host struct {
	cfg Config
	// Outages counts how often the engine was seen to go away.
	Outages atomic.Int64
}

// New returns the host.
func New(cfg Config) *Host { return &Host{cfg: cfg} }

// OutageCount returns how often the engine was seen to go away.
func (h *Host) OutageCount() int64 { return h.Outages.Load() }

// Engine returns the container engine in use.
func (h *Host) Engine() client.Engine { return h.cfg.Engine() }
