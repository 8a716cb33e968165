package webhook

import (
	"context"
	"fmt"
	"strings"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"github.com/patchbay-dev/patchbay/core/services/containers/record"
	"github.com/patchbay-dev/patchbay/core/store"
)

// hookLock is the number of the lock of the webhooks' tables on PostgreSQL.
const hookLock int64 = 0x70625f686f6f6b73

// hookStore holds the queries about webhooks, tracked repositories and deliveries. It decides nothing.
type hookStore struct{ *record.Store }

// lockHooks has the transactions that change webhooks' settings or take deliveries run one after the other, so that events
// get their ids in the order of commits. It is the first thing that they do. SQLite has one writer anyway.
func (r *hookStore) lockHooks(ctx context.Context) error {
	if r.Dialect() != store.Postgres {
		return nil
	}
	return r.Writer(ctx).Exec("SELECT pg_advisory_xact_lock(?)", hookLock).Error
}

func (r *hookStore) hookTargets(ctx context.Context) (out []targetRecord, err error) {
	err = r.DB(ctx).Order("created_at, input").Find(&out).Error
	return out, err
}

func (r *hookStore) countRepos(ctx context.Context) (total, selected int64, err error) {
	var n struct{ Total, Selected int64 }
	err = r.DB(ctx).Raw("SELECT count(*) AS total, COALESCE(sum(CASE WHEN selected THEN 1 ELSE 0 END), 0) AS selected FROM containers_repos").Scan(&n).Error
	return n.Total, n.Selected, err
}

// trackedRepo reads a repository; nil without one.
func (r *hookStore) trackedRepo(ctx context.Context, name string) (*repoRecord, error) {
	var rows []repoRecord
	err := r.DB(ctx).Where("name = ?", name).Limit(1).Find(&rows).Error
	if err != nil || len(rows) == 0 {
		return nil, err
	}
	return &rows[0], nil
}

func (r *hookStore) trackedRepos(ctx context.Context) (out []repoRecord, err error) {
	err = r.DB(ctx).Order("name").Find(&out).Error
	return out, err
}

func (r *hookStore) selectedRepos(ctx context.Context) (out []repoRecord, err error) {
	err = r.DB(ctx).Where("selected = ?", true).Order("name").Find(&out).Error
	return out, err
}

// reposOfJob are the repositories that a job is to work on.
func (r *hookStore) reposOfJob(ctx context.Context, jobID string) (out []repoRecord, err error) {
	err = r.DB(ctx).Where("job_id = ?", jobID).Order("name").Find(&out).Error
	return out, err
}

// RepoFilter selects tracked repositories; zero members select all.
type RepoFilter struct {
	// Query is looked for in names.
	Query string
	// Selected is "all", "selected" or "unselected".
	Selected string
}

func (f RepoFilter) applyFilter(db *gorm.DB) *gorm.DB {
	if q := strings.TrimSpace(f.Query); q != "" {
		db = store.WhereContains(db, q, "name")
	}
	switch f.Selected {
	case "selected":
		db = db.Where("selected = ?", true)
	case "unselected":
		db = db.Where("selected = ?", false)
	}
	return db
}

// pageRepos reads a page, and how many there are in all of them.
func (r *hookStore) pageRepos(ctx context.Context, f RepoFilter, offset, limit int) (out []repoRecord, filtered int64, err error) {
	if err = f.applyFilter(r.DB(ctx).Model(&repoRecord{})).Count(&filtered).Error; err != nil {
		return nil, 0, err
	}
	err = f.applyFilter(r.DB(ctx)).Order("name").Offset(offset).Limit(limit).Find(&out).Error
	return out, filtered, err
}

// addRepos tracks repositories; of those that are tracked already it renews what the code host says of them.
func (r *hookStore) addRepos(ctx context.Context, rows []repoRecord) error {
	if len(rows) == 0 {
		return nil
	}
	return r.Writer(ctx).Clauses(clause.OnConflict{
		Columns: []clause.Column{{Name: "name"}}, DoUpdates: clause.AssignmentColumns([]string{"full_name", "visibility", "last_activity"}),
	}).CreateInBatches(&rows, 500).Error
}

func (r *hookStore) addTarget(ctx context.Context, t *targetRecord) error {
	return r.Writer(ctx).Clauses(clause.OnConflict{UpdateAll: true}).Create(t).Error
}

// updateRepo changes columns of a repository.
func (r *hookStore) updateRepo(ctx context.Context, name string, columns map[string]any) error {
	return r.Write(ctx, "change a tracked repository", func(_ context.Context, w *gorm.DB) error {
		return w.Model(&repoRecord{}).Where("name = ?", name).Updates(columns).Error
	})
}

// updateRepos changes columns of many.
func (r *hookStore) updateRepos(ctx context.Context, names []string, columns map[string]any) error {
	for len(names) > 0 {
		n := min(len(names), 500)
		if err := r.Writer(ctx).Model(&repoRecord{}).Where("name IN ?", names[:n]).Updates(columns).Error; err != nil {
			return err
		}
		names = names[n:]
	}
	return nil
}

// forgetRepo ends the tracking of a repository that is being removed; false if it is not.
func (r *hookStore) forgetRepo(ctx context.Context, name string) (gone bool, err error) {
	err = r.Write(ctx, "forget a repository", func(_ context.Context, w *gorm.DB) error {
		done := w.Where("name = ? AND removing = ?", name, true).Delete(&repoRecord{})
		gone = done.RowsAffected > 0
		return done.Error
	})
	return gone, err
}

// change runs f in a transaction that has the webhooks' tables for itself.
func (r *hookStore) change(ctx context.Context, name string, f func(ctx context.Context) error) error {
	return r.Tx(ctx, name, func(ctx context.Context) error {
		if err := r.lockHooks(ctx); err != nil {
			return fmt.Errorf("lock the webhooks: %w", err)
		}
		return f(ctx)
	})
}

// unlikeRepos returns the repositories of a filter that are to change when selected is what they are to be.
func (r *hookStore) unlikeRepos(ctx context.Context, f RepoFilter, selected bool) (out []repoRecord, err error) {
	err = f.applyFilter(r.DB(ctx)).Where("selected <> ? AND removing = ?", selected, false).Order("name").Find(&out).Error
	return out, err
}

// deleteTarget deletes a target. The caller has a transaction.
func (r *hookStore) deleteTarget(ctx context.Context, input string) error {
	return r.Writer(ctx).Delete(&targetRecord{Input: input}).Error
}

// deleteRepo ends the tracking of a repository. The caller has a transaction.
func (r *hookStore) deleteRepo(ctx context.Context, name string) error {
	return r.Writer(ctx).Delete(&repoRecord{Name: name}).Error
}

// limitLockWait makes a transaction on PostgreSQL fail soon if it has to wait for a lock. A delivery submits several jobs and
// can deadlock with transactions that submit or end one: it fails before the server ends the other.
func (r *hookStore) limitLockWait(ctx context.Context) error {
	if r.Dialect() != store.Postgres {
		return nil
	}
	return r.Writer(ctx).Exec("SET LOCAL lock_timeout = '300ms'").Error
}
