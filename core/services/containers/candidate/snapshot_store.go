package candidate

import (
	"context"
	"time"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"github.com/patchbay-dev/patchbay/core/services/containers/record"
)

// snapshotRecord is which tags stood for a digest when it was looked at.
type snapshotRecord struct {
	Repo      string   `gorm:"primaryKey"`
	Digest    string   `gorm:"primaryKey"`
	Platform  string   `gorm:"primaryKey"`
	Tags      []string `gorm:"serializer:json"`
	Version   string
	Scan      Scan `gorm:"serializer:json"`
	Failed    bool
	CheckedAt int64
}

// TableName implements gorm's Tabler.
func (snapshotRecord) TableName() string { return "containers_snapshots" }

// isFresh reports whether a snapshot has not expired.
func (r *snapshotRecord) isFresh(now int64) bool {
	age := time.Duration(now-r.CheckedAt) * time.Millisecond
	if r.Failed {
		return age < FailedFor
	}
	return age < snapshotFor
}

// storeSnapshot stores a snapshot and gives the services that have its digest the version.
func (r *Store) storeSnapshot(ctx context.Context, snap *snapshotRecord) error {
	return r.Write(ctx, "keep a snapshot of tags", func(_ context.Context, w *gorm.DB) error {
		if err := w.Clauses(clause.OnConflict{UpdateAll: true}).Create(snap).Error; err != nil {
			return err
		}
		if snap.Version == "" {
			return nil
		}
		for _, c := range [][2]string{{"runtime_version", "runtime_digest"}, {"candidate_version", "candidate_digest"}} {
			err := w.Model(&record.Service{}).Where("repo = ? AND "+c[1]+" = ?", snap.Repo, snap.Digest).Update(c[0], snap.Version).Error
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// deleteSnapshots deletes the snapshots and manifests that were not used since a time, and returns the number of the former.
func (r *Store) deleteSnapshots(ctx context.Context, before int64) (deleted int64, err error) {
	err = r.Write(ctx, "remove old snapshots", func(_ context.Context, w *gorm.DB) error {
		done := w.Where("checked_at < ?", before).Delete(&snapshotRecord{})
		deleted = done.RowsAffected
		if done.Error != nil {
			return done.Error
		}
		return w.Exec(`DELETE FROM containers_manifests WHERE created_at < ? AND digest NOT IN (SELECT candidate_digest FROM containers_services)
			AND digest NOT IN (SELECT runtime_digest FROM containers_services) AND digest NOT IN (SELECT tag_digest FROM containers_services)`, before).Error
	})
	return deleted, err
}

// addIgnore adds a rule, unless its service has as many as it may.
func (r *Store) addIgnore(ctx context.Context, rec *record.Ignore) error {
	return r.Write(ctx, "add an ignore rule", func(_ context.Context, w *gorm.DB) error {
		var n int64
		if err := w.Model(&record.Ignore{}).Where("service_id = ?", rec.ServiceID).Count(&n).Error; err != nil {
			return err
		}
		if n >= maxRules {
			return record.InvalidField("scope.serviceId", "A service has at most %d rules.", maxRules)
		}
		return w.Create(rec).Error
	})
}

// deleteIgnore deletes a rule, and reports whether there was one.
func (r *Store) deleteIgnore(ctx context.Context, id string) (deleted bool, err error) {
	err = r.Write(ctx, "delete an ignore rule", func(_ context.Context, w *gorm.DB) error {
		done := w.Where("id = ?", id).Delete(&record.Ignore{})
		deleted = done.RowsAffected > 0
		return done.Error
	})
	return deleted, err
}

// Scan counts what was looked at for a snapshot.
type Scan struct {
	TagsTotal  int `json:"repoTagsTotal"`
	Considered int `json:"repoTagsConsidered"`
	OK         int `json:"manifestsOk"`
	Timeout    int `json:"manifestsTimeout"`
	Error      int `json:"manifestsError"`
}

// maxRules bounds the rules of one service.
const maxRules = 100

// FailedFor is the pause after a snapshot that failed whole.
const FailedFor = 10 * time.Minute

const (
	// snapshotFor is for how long a snapshot holds, snapshotKeep when it is deleted.
	snapshotFor  = 7 * 24 * time.Hour
	snapshotKeep = 30 * 24 * time.Hour
)

// VersionKey is the subject of a task.
type VersionKey struct{ Repo, Digest, Platform string }

// String returns the key of a task.
func (k VersionKey) String() string { return k.Repo + "@" + k.Digest + "#" + k.Platform }
