package backup

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/httpd/api"
	"github.com/patchbay-dev/patchbay/core/lists"
	"github.com/patchbay-dev/patchbay/core/services/containers/record"
	"github.com/patchbay-dev/patchbay/core/services/containers/work"
	"github.com/patchbay-dev/patchbay/sdk/engine"
)

// Backup is a copy of a mount.
type Backup struct {
	BackupResult
	StackID     string   `json:"stackId"`
	JobID       string   `json:"jobId,omitempty" doc:"The job that made it; left out once that is gone."`
	Destination string   `json:"destination" example:"/data"`
	CreatedAt   api.Time `json:"createdAt"`
	FinishedAt  api.Time `json:"finishedAt,omitempty,omitzero"`
	Path        string   `json:"artifactPath,omitempty"`
	DeletedAt   api.Time `json:"deletedAt,omitempty,omitzero"`
	Restorable  bool     `json:"restorable"`
}

func (b *Record) toBackup() Backup {
	return Backup{
		BackupResult: b.toResult(), StackID: b.StackID, JobID: b.JobID, Destination: b.Destination, CreatedAt: api.TimeOfMillis(b.CreatedAt),
		FinishedAt: api.TimeOfMillis(b.FinishedAt),
		Path:       b.Path, DeletedAt: api.TimeOfMillis(b.DeletedAt), Restorable: b.Status == StatusSuccess && b.DeletedAt == 0,
	}
}

// ListBackups returns the newest copies of a service's mounts.
func (k *Backups) ListBackups(ctx context.Context, serviceID string) ([]Backup, error) {
	if _, err := k.Store.FindService(ctx, serviceID); err != nil {
		return nil, err
	}
	rows, err := k.Store.ListBackups(ctx, serviceID, 100)
	if err != nil {
		return nil, err
	}
	return lists.ConvertAll(rows, func(r Record) Backup { return r.toBackup() }), nil
}

// Restore queues the restore of a backup: what uses the mount is stopped, the contents are replaced, and it is started again.
func (k *Backups) Restore(ctx context.Context, backupID string) (string, error) {
	b, err := k.Store.FindBackup(ctx, backupID)
	if err != nil {
		return "", err
	}
	if b.Status != StatusSuccess || b.DeletedAt != 0 {
		return "", fault.New(fault.Conflict, "The backup is empty: there is nothing to restore.").With("reason", "not_restorable")
	}
	inv, err := k.cfg.Projects.LoadInventory(ctx)
	if err != nil {
		return "", err
	}
	svc := inv.Services[b.ServiceID]
	switch {
	case svc == nil:
		return "", fault.New(fault.NotFound, record.NoService)
	case inv.IsArchived(svc):
		return "", record.ArchivedError(svc.Name)
	case inv.ContainsSelf(b.StackID):
		return "", record.ProtectedError(svc.Name)
	}
	sub := work.Submission{Kind: work.JobRestore, Stacks: []string{b.StackID}, Payload: RestoreJob{
		work.Subject{Scope: work.ScopeService, StackID: b.StackID, ServiceID: svc.ID, Reason: work.ReasonUI}, []string{b.ID},
	}}
	for _, m := range inv.MembersOf(b.StackID) {
		sub.Locks, sub.Services = append(sub.Locks, work.ServiceLock(m.ID)), append(sub.Services, m.ID)
	}
	return k.cfg.Jobs.SubmitNew(ctx, sub)
}

// RestoreSummary is the summary of a restore.
type RestoreSummary struct {
	Backup   BackupResult `json:"backup"`
	Services []string     `json:"services" doc:"What was stopped for it."`
}

func (k *Backups) serviceName(ctx context.Context, id string) string {
	svc, err := k.Store.FindService(ctx, id)
	if err != nil {
		return ""
	}
	return svc.Name
}

// openArchive opens the file of a backup, and makes sure before anything is replaced that it is what was written. It stays
// open from then on: nobody can put another one in its place.
func openArchive(b *Record) (*os.File, error) {
	f, err := os.Open(b.Path)
	if err != nil {
		return nil, fault.Wrap(err, fault.Conflict, "The backup file cannot be read: %s", b.Path)
	}
	sum := sha256.New()
	if _, err = io.Copy(sum, f); err == nil {
		_, err = f.Seek(0, io.SeekStart)
	}
	switch {
	case err != nil:
		err = fmt.Errorf("read the backup: %w", err)
	case hex.EncodeToString(sum.Sum(nil)) != b.Digest:
		err = fault.New(fault.Conflict, "The backup file was changed: its digest does not match. Nothing was restored.")
	default:
		return f, nil
	}
	_ = f.Close()
	return nil, err
}

// refuseSharedMount returns an error if a running service of another stack uses the mount. It would not be stopped.
func (k *Backups) refuseSharedMount(ctx context.Context, st *record.Stack, b *Record) error {
	inv, err := k.cfg.Projects.LoadInventory(ctx)
	if err != nil {
		return err
	}
	for _, svc := range inv.Services {
		other := inv.Stacks[svc.StackID]
		if other == nil || other.ID == st.ID || svc.State != record.StateRunning && svc.State != record.StatePartial {
			continue
		}
		if slices.ContainsFunc(svc.Mounts, func(m record.Mount) bool { return m.Kind == b.Kind && m.Name == b.Target }) {
			return fault.New(fault.Conflict, "%s is also used by %s / %s, which is running: stop it first.", b.Target, other.Project,
				svc.Name).With("reason", "mount_in_use")
		}
	}
	return nil
}

// sameMount refuses a restore into something else than what was backed up: the project may mount another volume there now.
func sameMount(c *engine.Container, b *Record) error {
	for _, m := range c.Mounts {
		if path.Clean(m.Destination) != path.Clean(b.Destination) {
			continue
		}
		now := b.Target
		switch m.Type {
		case "volume":
			now = m.Name
		case "bind":
			now = filepath.Clean(m.Source)
		}
		if now != b.Target {
			return fault.New(fault.Conflict, "The mount at %s is now %s, but the backup is of %s. Nothing was restored.", b.Destination, now,
				b.Target).With("reason", "other_mount")
		}
	}
	return nil
}

// RestoreJob is the payload of JobRestore.
type RestoreJob struct {
	work.Subject
	BackupIDs []string `json:"backupIds,omitempty"`
}
