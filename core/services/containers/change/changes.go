// Package change updates services, rolls them back, starts and stops them, and goes on with what was interrupted.
package change

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/patchbay-dev/patchbay/core/services/containers/backup"
	"github.com/patchbay-dev/patchbay/core/services/containers/drift"
	"github.com/patchbay-dev/patchbay/core/services/containers/health"
	"github.com/patchbay-dev/patchbay/core/services/containers/host"
	"github.com/patchbay-dev/patchbay/core/services/containers/project"
	"github.com/patchbay-dev/patchbay/core/services/containers/record"
	"github.com/patchbay-dev/patchbay/core/services/containers/work"
	"github.com/patchbay-dev/patchbay/core/store"
)

// Settings are those of the service that are about changes.
type Settings struct {
	ComposeBin, DockerConfig string
	Health                   health.Settings
}

// Config is what changes need.
type Config struct {
	Store    *record.Store
	Host     *host.Host
	Projects *project.Projects
	Jobs     *work.Queue
	// Locks has a lock for each stack and each name of an image: what changes them runs one after the other.
	Locks  *work.KeyedMutex
	Logger hclog.Logger
	Now    func() time.Time
	// Settings returns those in use.
	Settings func() Settings
	Drift    *drift.Comparer
	Backups  backups
	// NoteEngineChange has the engine looked at soon.
	NoteEngineChange func()
}

// backups is what changes need of backups.
type backups interface {
	// PlanBackup returns the mounts of a service that are copied before an update in a mode.
	PlanBackup(ctx context.Context, svc *record.Service, mode string) ([]backup.BackupPlan, error)
	// BackupMount copies one mount.
	BackupMount(ctx context.Context, of backup.Subject, container string, p backup.BackupPlan) (backup.BackupResult, error)
	// FailOpenBackups ends what an attempt of a job before a crash has left open.
	FailOpenBackups(ctx context.Context, jobID, serviceID string) error
}

// Changes updates services and rolls them back.
type Changes struct {
	cfg    Config
	store  *Store
	health *health.Checker
	// waiting tells that there may be changes that wait for the engine.
	waiting atomic.Bool
}

// New returns the changes. Some of an earlier process may wait for the engine.
func New(cfg Config) *Changes {
	x := &Changes{cfg: cfg, store: &Store{cfg.Store}, health: health.New(cfg.Host, func() health.Settings { return cfg.Settings().Health })}
	x.waiting.Store(true)
	return x
}

func (x *Changes) now() int64 { return store.Millis(x.cfg.Now()) }

// ChangesOfJob returns the changes of a job, by service.
func (x *Changes) ChangesOfJob(ctx context.Context, jobID string) (map[string]record.Change, error) {
	return x.store.changesOfJob(ctx, jobID)
}
