package app

import (
	"context"
	"embed"
	"errors"
	"sync"
	"time"

	"github.com/patchbay-dev/patchbay/core/admin"
	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/httpd"
	"github.com/patchbay-dev/patchbay/core/notify"
	"github.com/patchbay-dev/patchbay/core/queue"
	"github.com/patchbay-dev/patchbay/core/settings"
	"github.com/patchbay-dev/patchbay/core/texts/locale"
	sdk "github.com/patchbay-dev/patchbay/sdk/notify"
)

//go:embed locales/*.json
var localeFiles embed.FS

var allTexts = locale.ReadLazily(localeFiles)

const (
	// jobBackup is the type of the jobs that write backups, and the name of their schedule.
	jobBackup = "core.backup"
	// backupTimeout bounds one backup.
	backupTimeout = 12 * time.Hour
)

var backupFailed = notify.RegisterKind(notify.Kind{Service: httpd.CoreService, Name: "backup_failed", Severity: sdk.Error, Texts: allTexts})

// backupOutcome is how the last scheduled backup ended. The zero value is that of a core that has written none.
type backupOutcome struct {
	mu     sync.Mutex
	failed *backupFailure
}

// backupFailure is a scheduled backup that has failed.
type backupFailure struct {
	at     time.Time
	reason string
}

func (o *backupOutcome) record(failed *backupFailure) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.failed = failed
}

// failure returns the last scheduled backup if it has failed, or nil.
func (o *backupOutcome) failure() *backupFailure {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.failed
}

// registerBackups registers the job that writes backups and, if there is a block backup, its schedule. It reads how the last one
// ended.
func (a *App) registerBackups(ctx context.Context) error {
	var schedules []queue.Schedule
	if a.set.Backup != nil {
		schedules = append(schedules, backupSchedule(a.set.Backup))
	}
	if err := a.queue.Register([]queue.Handler{{Type: jobBackup, Safe: true, Limit: 1, Timeout: backupTimeout, Run: a.runBackup}},
		schedules); err != nil {
		return err
	}
	last, _, err := a.queue.List(ctx, queue.Filter{Types: []string{jobBackup}, States: []queue.State{queue.Success, queue.Failed}}, "", 1)
	if err != nil {
		return err
	}
	if len(last) > 0 && last[0].Failure != nil {
		a.backups.record(&backupFailure{last[0].FinishedAt, last[0].Failure.Message})
	}
	return nil
}

func backupSchedule(b *settings.Backup) queue.Schedule {
	return queue.Schedule{Name: jobBackup, Cron: "@every " + b.Every.String(), Type: jobBackup}
}

// rescheduleBackups puts the schedule of new settings into use.
func (a *App) rescheduleBackups(ctx context.Context, set *settings.Settings) {
	var err error
	if set.Backup != nil {
		err = a.queue.SetSchedule(ctx, backupSchedule(set.Backup))
	} else {
		err = a.queue.RemoveSchedule(ctx, jobBackup)
	}
	if err != nil {
		a.log.Error("backup schedule not changed; reload or restart to retry", "error", err)
	}
}

// runBackup writes a backup, and tells the channels if that fails or works again.
func (a *App) runBackup(ctx context.Context, _ *queue.Job, _ queue.Progress) (any, error) {
	set := a.inUse.Load()
	if set.Backup == nil {
		return nil, fault.New(fault.Conflict, "plugin.hcl has no backup block: add one to make backups.")
	}
	done, err := admin.WriteScheduled(ctx, a.store, set, time.Now())
	if cause := context.Cause(ctx); errors.Is(cause, queue.ErrStopping) || errors.Is(cause, queue.ErrLost) ||
		errors.Is(cause, queue.ErrCanceled) {
		return nil, err
	}
	if err != nil {
		a.log.Error("scheduled backup failed", "error", err)
		err = fault.Wrap(err, fault.Internal, "The backup failed: %v.", err)
		a.backups.record(&backupFailure{time.Now(), fault.As(err).Message})
	} else {
		a.backups.record(nil)
	}
	if told := a.updateBackupAlert(context.WithoutCancel(ctx), set.Backup, err); told != nil {
		a.log.Error("cannot notify about a backup", "error", told)
	}
	return done, err
}

// updateBackupAlert raises or ends the alert about failed backups.
func (a *App) updateBackupAlert(ctx context.Context, b *settings.Backup, failure error) (err error) {
	if failure == nil {
		_, err = a.notify.Resolve(ctx, backupFailed.NewAlert(a.notify.Locale(), "backup_failed.over", "To", b.To), b.Notify)
		return err
	}
	alert := backupFailed.NewAlert(a.notify.Locale(), backupFailed.Name, "To", b.To, "Failure", fault.As(failure).Message)
	_, err = a.notify.Raise(ctx, alert, b.Every, b.Notify)
	return err
}
