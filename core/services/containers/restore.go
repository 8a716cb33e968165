package containers

import (
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"gorm.io/gorm"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/httpd/api"
	"github.com/patchbay-dev/patchbay/core/queue"
	"github.com/patchbay-dev/patchbay/sdk/engine"
)

// backupKeep is for how long backups are kept: as long as a stack needs to prove stable. The newest of each mount is kept
// for good.
const backupKeep = time.Hour

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

func (b *backupRecord) toBackup() Backup {
	return Backup{
		BackupResult: b.toResult(), StackID: b.StackID, JobID: b.JobID, Destination: b.Destination, CreatedAt: api.TimeOfMillis(b.CreatedAt), FinishedAt: api.TimeOfMillis(b.FinishedAt),
		Path: b.Path, DeletedAt: api.TimeOfMillis(b.DeletedAt), Restorable: b.Status == backupSuccess && b.DeletedAt == 0,
	}
}

// Backups are the newest copies of a service's mounts.
func (s *Service) Backups(ctx context.Context, serviceID string) ([]Backup, error) {
	if _, err := s.repo.serviceByID(ctx, serviceID); err != nil {
		return nil, err
	}
	rows, err := s.repo.backupsOf(ctx, serviceID, 100)
	if err != nil {
		return nil, err
	}
	out := make([]Backup, len(rows))
	for i := range rows {
		out[i] = rows[i].toBackup()
	}
	return out, nil
}

// Restore queues the restore of a backup: what uses the mount is stopped, the contents are replaced, and it is started again.
func (s *Service) Restore(ctx context.Context, backupID string) (string, error) {
	b, err := s.repo.backupByID(ctx, backupID)
	if err != nil {
		return "", err
	}
	if b.Status != backupSuccess || b.DeletedAt != 0 {
		return "", fault.New(fault.Conflict, "The backup holds nothing to restore.").With("reason", "not_restorable")
	}
	inv, err := s.loadInventory(ctx)
	if err != nil {
		return "", err
	}
	svc := inv.services[b.ServiceID]
	switch {
	case svc == nil:
		return "", fault.New(fault.NotFound, noService)
	case inv.isArchived(svc):
		return "", errArchived(svc.Name)
	case inv.holdsSelf(b.StackID):
		return "", protectedError(svc.Name)
	}
	sub := submission{kind: JobRestore, stacks: []string{b.StackID}, spec: jobSpec{
		Scope: ScopeService, StackID: b.StackID, ServiceID: svc.ID, Reason: ReasonUI, BackupIDs: []string{b.ID},
	}}
	for _, m := range inv.membersOf(b.StackID) {
		sub.locks, sub.services = append(sub.locks, serviceLock(m.ID)), append(sub.services, m.ID)
	}
	return s.submitNew(ctx, sub)
}

// RestoreSummary is the summary of a restore.
type RestoreSummary struct {
	Backup   BackupResult `json:"backup"`
	Services []string     `json:"services" doc:"What was stopped for it."`
}

// runRestore replaces the contents of a mount. It may be repeated from the start: what is there is replaced whole.
func (s *Service) runRestore(ctx context.Context, job *queue.Job, spec jobSpec, r *report) (any, error) {
	if len(spec.BackupIDs) != 1 {
		return nil, errors.New("a restore has one backup")
	}
	b, err := s.repo.backupByID(ctx, spec.BackupIDs[0])
	if err != nil {
		return nil, err
	}
	st, err := s.repo.stackByID(ctx, spec.StackID)
	if err != nil {
		return nil, err
	}
	unlock, err := s.applying.lockKey(ctx, st.ID)
	if err != nil {
		return nil, err
	}
	defer unlock()
	r.updateProgress(ctx, func(p *ProgressState) { p.Phase, p.Message = "prepare", "reading the backup" })
	file, err := openArchive(&b)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }()
	if err := s.refuseSharedMount(ctx, &st, &b); err != nil {
		return nil, err
	}
	users, err := s.usersOf(ctx, job, r, &st, &b)
	if err != nil {
		return nil, err
	}
	out := RestoreSummary{Backup: b.toResult(), Services: users}
	list, err := s.containersOf(ctx, st.Project, s.serviceName(ctx, b.ServiceID))
	if err != nil {
		return out, err
	}
	if len(list) == 0 {
		return out, fault.New(fault.Conflict, "The service has no container through which its mount can be reached: start it once.")
	}
	if err := sameMount(&list[0], &b); err != nil {
		return out, err
	}
	scale, err := s.scaleOf(ctx, &st, users...)
	if err != nil {
		return out, err
	}
	start := composeCall{action: engine.ActionStart, services: users, scale: scale}
	if len(users) > 0 {
		if _, err := s.runCompose(ctx, r, &st, composeCall{action: engine.ActionStop, services: users}); err != nil {
			return out, s.restartUntouched(ctx, r, &st, start, err)
		}
	}
	r.updateProgress(ctx, func(p *ProgressState) { p.Phase, p.Message, p.Percent = "apply", "restoring "+b.Target, 30 })
	if err := s.readArchive(ctx, list[0].ID, &b, file); err != nil {
		if ctx.Err() == nil && isDenied(err) {
			return out, s.restartUntouched(ctx, r, &st, start, err)
		}
		return out, fault.Wrap(err, fault.Conflict, "The restore of %s failed in the middle, and the services that use it stay stopped: restore again. %s", b.Target, failureReason(err))
	}
	r.info(ctx, "restored %s from %s", b.Target, b.ID)
	if len(users) > 0 {
		if _, err := s.runCompose(ctx, r, &st, start); err != nil {
			return out, err
		}
	}
	s.refreshServices(withoutEnd(ctx), []string{b.ServiceID})
	return out, nil
}

func (s *Service) serviceName(ctx context.Context, id string) string {
	svc, err := s.repo.serviceByID(ctx, id)
	if err != nil {
		return ""
	}
	return svc.Name
}

// usersOf are the services that use a mount and ran when the job began; after a crash they are those that did so then.
func (s *Service) usersOf(ctx context.Context, job *queue.Job, r *report, st *stackRecord, b *backupRecord) ([]string, error) {
	users := []string{}
	if len(job.Checkpoint) > 0 {
		return users, decodeInto(job.Checkpoint, &users)
	}
	services, err := s.repo.servicesOf(ctx, st.ID)
	if err != nil {
		return nil, err
	}
	list, err := s.containersOf(ctx, st.Project, "")
	if err != nil {
		return nil, err
	}
	for _, svc := range services {
		uses := svc.ID == b.ServiceID || slices.ContainsFunc(svc.Mounts, func(m Mount) bool { return m.Kind == b.Kind && m.Name == b.Target })
		runs := slices.ContainsFunc(list, func(c engine.Container) bool { return c.Labels[labelService] == svc.Name && c.State == "running" })
		if uses && runs {
			users = append(users, svc.Name)
		}
	}
	return users, r.p.Checkpoint(ctx, users)
}

// openArchive opens the file of a backup, and makes sure before anything is replaced that it is what was written. It stays
// open from then on: nobody can put another one in its place.
func openArchive(b *backupRecord) (*os.File, error) {
	f, err := os.Open(b.Path)
	if err != nil {
		return nil, fault.Wrap(err, fault.Conflict, "The file of the backup cannot be read: %s", b.Path)
	}
	sum := sha256.New()
	if _, err = io.Copy(sum, f); err == nil {
		_, err = f.Seek(0, io.SeekStart)
	}
	switch {
	case err != nil:
		err = fmt.Errorf("read the backup: %w", err)
	case hex.EncodeToString(sum.Sum(nil)) != b.Digest:
		err = fault.New(fault.Conflict, "The file of the backup was changed: its digest is another one. Nothing was restored.")
	default:
		return f, nil
	}
	_ = f.Close()
	return nil, err
}

func (s *Service) readArchive(ctx context.Context, container string, b *backupRecord, f io.Reader) error {
	plain, err := gzip.NewReader(f)
	if err != nil {
		return fmt.Errorf("unpack the backup: %w", err)
	}
	return s.engine().Restore(ctx, container, b.Destination, plain)
}

// restartUntouched starts what was stopped for a restore that failed before it changed anything, and returns err. If the core
// is ending nothing is started, since the job goes on later.
func (s *Service) restartUntouched(ctx context.Context, r *report, st *stackRecord, start composeCall, err error) error {
	if goesOn(ctx) || len(start.services) == 0 {
		return err
	}
	ctx, cancel := context.WithTimeout(withoutEnd(ctx), 5*time.Minute)
	defer cancel()
	if _, failed := s.runCompose(ctx, r, st, start); failed != nil {
		r.fail(ctx, "%s could not be started again: %s", strings.Join(start.services, ", "), failureReason(failed))
	}
	return err
}

// refuseSharedMount returns an error if a running service of another stack uses the mount. It would not be stopped.
func (s *Service) refuseSharedMount(ctx context.Context, st *stackRecord, b *backupRecord) error {
	inv, err := s.loadInventory(ctx)
	if err != nil {
		return err
	}
	for _, svc := range inv.services {
		other := inv.stacks[svc.StackID]
		if other == nil || other.ID == st.ID || svc.State != StateRunning && svc.State != StatePartial {
			continue
		}
		if slices.ContainsFunc(svc.Mounts, func(m Mount) bool { return m.Kind == b.Kind && m.Name == b.Target }) {
			return fault.New(fault.Conflict, "%s is used by %s / %s too, which runs: stop that first.", b.Target, other.Project, svc.Name).With("reason", "mount_in_use")
		}
	}
	return nil
}

// sameMount refuses a restore into something else than what was backed up: the project may mount another volume there now.
func sameMount(c *engine.Container, b *backupRecord) error {
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
			return fault.New(fault.Conflict, "At %s there is %s now, and the backup is of %s. Nothing was restored.", b.Destination, now, b.Target).With("reason", "other_mount")
		}
	}
	return nil
}

func (r *repository) saveBackup(ctx context.Context, rec *backupRecord) error {
	return r.tx(ctx, "write a backup", func(_ context.Context, w *gorm.DB) error { return w.Save(rec).Error })
}

func (r *repository) backupByID(ctx context.Context, id string) (backupRecord, error) {
	return takeOne[backupRecord](r.db(ctx).Where("id = ?", id), "There is no such backup.")
}

func (r *repository) backupsOf(ctx context.Context, serviceID string, limit int) (out []backupRecord, err error) {
	err = r.db(ctx).Where("service_id = ?", serviceID).Order("created_at DESC, id DESC").Limit(limit).Find(&out).Error
	return out, err
}

// failOpenBackups ends what an attempt before a crash left open, and removes its files: one that is whole was not recorded so, and nobody
// would find it again.
func (r *repository) failOpenBackups(ctx context.Context, jobID, serviceID string, now int64) error {
	var open []backupRecord
	if err := r.db(ctx).Where("job_id = ? AND service_id = ? AND status = ?", jobID, serviceID, backupRunning).Find(&open).Error; err != nil {
		return err
	}
	for i := range open {
		_, _ = os.Remove(open[i].Path+".part"), os.Remove(open[i].Path)
		open[i].Status, open[i].Error, open[i].FinishedAt, open[i].Path = backupFailed, "the core ended", now, ""
		if err := r.saveBackup(ctx, &open[i]); err != nil {
			return err
		}
	}
	return nil
}
