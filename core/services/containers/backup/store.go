package backup

import (
	"context"
	"os"

	"gorm.io/gorm"

	"github.com/patchbay-dev/patchbay/core/services/containers/record"
	"github.com/patchbay-dev/patchbay/core/store"
)

// Store holds the queries about backups. It decides nothing.
type Store struct{ *record.Store }

// sqlDue gives the backups that are past their time and not the newest of their mount, in the order of their times and ids.
var sqlDue = `SELECT ` + store.Columns(Record{}, "b") + ` FROM containers_backups b WHERE b.deleted_at = 0 AND b.cleanup_after > 0 AND b.cleanup_after <= ? AND b.status = ?
	AND (b.cleanup_after > ? OR b.cleanup_after = ? AND b.id > ?)
	AND EXISTS (SELECT 1 FROM containers_backups n WHERE n.service_id = b.service_id AND n.kind = b.kind AND n.target = b.target AND n.status = b.status
		AND n.deleted_at = 0 AND (n.created_at > b.created_at OR n.created_at = b.created_at AND n.id > b.id))
	ORDER BY b.cleanup_after, b.id LIMIT ?`

// SaveBackup writes a backup.
func (r *Store) SaveBackup(ctx context.Context, rec *Record) error {
	return r.Write(ctx, "write a backup", func(_ context.Context, w *gorm.DB) error { return w.Save(rec).Error })
}

// FindBackup returns a backup by its id.
func (r *Store) FindBackup(ctx context.Context, id string) (Record, error) {
	return record.FindOne[Record](r.DB(ctx).Where("id = ?", id), "There is no such backup.")
}

// ListBackups returns the newest backups of a service's mounts.
func (r *Store) ListBackups(ctx context.Context, serviceID string, limit int) (out []Record, err error) {
	err = r.DB(ctx).Where("service_id = ?", serviceID).Order("created_at DESC, id DESC").Limit(limit).Find(&out).Error
	return out, err
}

// FailOpen ends what an attempt before a crash left open, and removes its files: one that is whole was not recorded so, and nobody
// would find it again.
func (r *Store) FailOpen(ctx context.Context, jobID, serviceID string, now int64) error {
	var open []Record
	if err := r.DB(ctx).Where("job_id = ? AND service_id = ? AND status = ?", jobID, serviceID, StatusRunning).Find(&open).Error; err != nil {
		return err
	}
	for i := range open {
		_, _ = os.Remove(open[i].Path+".part"), os.Remove(open[i].Path)
		open[i].Status, open[i].Error, open[i].FinishedAt, open[i].Path = StatusFailed, "the core ended", now, ""
		if err := r.SaveBackup(ctx, &open[i]); err != nil {
			return err
		}
	}
	return nil
}

// ListDue returns the backups that are past their time and not the newest of their mount, after a given one.
func (r *Store) ListDue(ctx context.Context, now int64, after *Record) (out []Record, err error) {
	err = r.DB(ctx).Raw(sqlDue, now, StatusSuccess, after.CleanupAfter, after.CleanupAfter, after.ID, DueSlice).Scan(&out).Error
	return out, err
}

// DueSlice is how many backups are looked at in one go.
const DueSlice = 1000

// Record is a copy of one mount.
type Record struct {
	ID           string `gorm:"primaryKey"`
	StackID      string
	ServiceID    string
	JobID        string
	Kind         string
	Target       string
	Destination  string
	Status       string
	Path         string
	Size         int64
	Digest       string
	Error        string
	CreatedAt    int64 `gorm:"autoCreateTime:false"`
	FinishedAt   int64
	CleanupAfter int64
	DeletedAt    int64
}

// TableName implements gorm's Tabler.
func (Record) TableName() string { return "containers_backups" }

// What became of the backup of a mount.
const (
	StatusRunning = "running"
	StatusSuccess = "success"
	StatusFailed  = "failed"
	StatusSkipped = "skipped_by_size"
)
