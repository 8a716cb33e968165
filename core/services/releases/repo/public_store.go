package repo

import (
	"context"
	"errors"
	"time"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"github.com/patchbay-dev/patchbay/core/store"
)

// publicRepo says that everybody may read the releases of a repository.
type publicRepo struct {
	RepoID      int64 `gorm:"primaryKey"`
	PublishedBy string
	// PublishedAt is in Unix milliseconds.
	PublishedAt int64
}

// TableName implements gorm's Tabler.
func (publicRepo) TableName() string { return "release_public_repos" }

// isPublished holds for a repository that is published and not private.
const isPublished = "NOT private AND id IN (SELECT repo_id FROM release_public_repos)"

// Publish lets everybody read the releases of a repository.
func (s *publications) Publish(ctx context.Context, repoID int64, by string, now time.Time) error {
	return s.store.Tx(ctx, "publish repository", func(ctx context.Context) error {
		row := publicRepo{RepoID: repoID, PublishedBy: by, PublishedAt: store.Millis(now)}
		return s.store.Writer(ctx).Clauses(clause.OnConflict{DoNothing: true}).Create(&row).Error
	})
}

// Unpublish ends what Publish began.
func (s *publications) Unpublish(ctx context.Context, repoID int64) error {
	return s.store.Tx(ctx, "unpublish repository", func(ctx context.Context) error {
		return s.store.Writer(ctx).Where("repo_id = ?", repoID).Delete(&publicRepo{}).Error
	})
}

// ListPublished returns the repositories that are published, by name.
func (s *publications) ListPublished(ctx context.Context) (found []Repo, err error) {
	err = s.store.DB(ctx).Where(isPublished).Order("name_key, id").Find(&found).Error
	return found, err
}

// FindPublished returns the published repository with a name, in any case.
func (s *publications) FindPublished(ctx context.Context, fullName string) (r Repo, err error) {
	err = s.store.DB(ctx).Where("name_key = ? AND "+isPublished, KeyOf(fullName)).Order("id").Take(&r).Error
	if errors.Is(err, gorm.ErrRecordNotFound) {
		err = ErrNoRepo
	}
	return r, err
}

// Position is where a page of releases begins.
type Position struct {
	TS int64 `json:"t"`
	ID int64 `json:"i"`
}

// ListAfter returns releases of a repository after a position, the newest first; nil for those from the newest on. Their texts are those
// of lists.
func (s *publications) ListAfter(ctx context.Context, repoID int64, after *Position, limit int) (found []Release, err error) {
	q := s.store.DB(ctx).Where("repo_id = ?", repoID)
	if after != nil {
		q = q.Where("(ts, id) < (?, ?)", after.TS, after.ID)
	}
	err = q.Order("ts DESC, id DESC").Limit(limit).Find(&found).Error
	return found, err
}
