// Package backup copies mounts of services before updates, and restores them.
package backup

import (
	"context"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/patchbay-dev/patchbay/core/services/containers/host"
	"github.com/patchbay-dev/patchbay/core/services/containers/project"
	"github.com/patchbay-dev/patchbay/core/services/containers/record"
	"github.com/patchbay-dev/patchbay/core/services/containers/work"
	"github.com/patchbay-dev/patchbay/core/store"
)

// Config is what backups need.
type Config struct {
	Store    *record.Store
	Host     *host.Host
	Projects *project.Projects
	Jobs     *work.Queue
	// Locks has a lock for each stack.
	Locks  *work.KeyedMutex
	Logger hclog.Logger
	Now    func() time.Time
	// Settings returns those in use.
	Settings func(ctx context.Context) (BackupSettings, error)
}

// Backups copies mounts before updates, and restores them.
type Backups struct {
	cfg   Config
	Store *Store
}

// New returns the backups.
func New(cfg Config) *Backups { return &Backups{cfg: cfg, Store: &Store{cfg.Store}} }

func (k *Backups) now() int64 { return store.Millis(k.cfg.Now()) }

// lockTime bounds how long a canceled restore waits for the lock of its stack.
const lockTime = 15 * time.Minute

// Subject is the service whose mount is copied, and the job that does it.
type Subject struct {
	StackID, ServiceID, JobID string
	// Name is that of stack and service.
	Name string
	Log  *work.Reporter
}

// FailOpenBackups ends what an attempt of a job before a crash has left open.
func (k *Backups) FailOpenBackups(ctx context.Context, jobID, serviceID string) error {
	return k.Store.FailOpen(ctx, jobID, serviceID, k.now())
}

// BackupSettings say what is copied before an update.
type BackupSettings struct {
	Enabled        bool   `json:"enabled" doc:"Whether mounts are backed up before an update."`
	RequireSuccess bool   `json:"requireSuccess" doc:"Whether an update stops when a backup fails, or a mount is too large for one."`
	BaseDir        string `json:"baseDir" maxLength:"1024" doc:"Absolute path below which backups are kept." example:"/data/backups"`
	SkipOverBytes  int64  `json:"skipTargetsOverBytes" minimum:"0" doc:"The most bytes of a mount that is not forced; 0 for no limit. A larger one is left out, or stops the update where requireSuccess is true." example:"104857600"`
}
