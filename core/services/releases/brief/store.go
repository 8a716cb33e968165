package brief

import (
	"context"
	"encoding/json"
	"errors"
	"strconv"
	"time"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/services/releases/feed"
	"github.com/patchbay-dev/patchbay/core/store"
)

// Brief is a brief as it is stored. Times are Unix milliseconds.
type Brief struct {
	ID          string `gorm:"primaryKey"`
	UserID      string
	Date        string
	WindowStart int64
	WindowEnd   int64
	TimeZone    string
	Boundary    string
	// ReleaseIDs are the ids of the releases in their order, as a JSON array of texts.
	ReleaseIDs string `gorm:"column:release_ids"`
	// More is how many releases there were besides.
	More            int
	Content         string
	CoversStars     bool
	CoversFollowers bool
	// AwaitsSummaries says that summaries of its releases are on their way.
	AwaitsSummaries bool
	CreatedAt       int64 `gorm:"autoCreateTime:false"`
	// UpdatedAt is when the brief was begun: what it lacks has come since.
	UpdatedAt int64 `gorm:"autoUpdateTime:false"`
}

// TableName implements gorm's Tabler.
func (Brief) TableName() string { return "release_briefs" }

// Releases returns the ids of the releases, in their order.
func (b Brief) Releases() (ids []string) {
	ids = []string{}
	// Only this package writes the column.
	_ = json.Unmarshal([]byte(b.ReleaseIDs), &ids)
	return ids
}

// Count returns how many releases there were, also those that are not listed.
func (b Brief) Count() int { return len(b.Releases()) + b.More }

// Store keeps briefs.
type Store struct{ store *store.Store }

// NewStore returns the briefs in a database. The migrations of the service have run.
func NewStore(s *store.Store) *Store { return &Store{s} }

// ListAwaiting returns briefs that await summaries and whose windows have ended since a time, at most limit, the oldest first.
func (b *Store) ListAwaiting(ctx context.Context, since int64, limit int) (found []Brief, err error) {
	err = b.store.DB(ctx).Where("awaits_summaries AND window_end >= ?", since).Order("window_end, id").Limit(limit).Find(&found).Error
	return found, err
}

// saveBrief stores a brief in the running transaction, unless there is one of the same window that was begun later, and returns the one
// that is stored then. One of the same window keeps its id.
func (b *Store) saveBrief(ctx context.Context, row Brief) (saved Brief, err error) {
	w := b.store.Writer(ctx)
	err = w.Clauses(clause.OnConflict{
		Columns: []clause.Column{{Name: "user_id"}, {Name: "window_start"}, {Name: "window_end"}},
		DoUpdates: clause.AssignmentColumns([]string{"date", "time_zone", "boundary", "release_ids", "more", "content", "covers_stars",
			"covers_followers", "awaits_summaries", "updated_at"}),
		Where: clause.Where{Exprs: []clause.Expression{clause.Expr{SQL: "release_briefs.updated_at <= excluded.updated_at"}}},
	}).Create(&row).Error
	if err != nil {
		return saved, err
	}
	err = w.Where("user_id = ? AND window_start = ? AND window_end = ?", row.UserID, row.WindowStart, row.WindowEnd).Take(&saved).Error
	return saved, err
}

// lastDate returns the date of the latest brief of a user, "" without one.
func (b *Store) lastDate(ctx context.Context, userID string) (string, error) {
	var dates []string
	err := b.store.DB(ctx).Model(&Brief{}).Where("user_id = ?", userID).Order("date DESC").Limit(1).Pluck("date", &dates).Error
	if len(dates) == 0 {
		return "", err
	}
	return dates[0], err
}

// recentDays is how many days back LatestDates looks: more than any clock in the world is behind.
const recentDays = 3

// LatestDates returns the date of the latest brief of each user who has one of the last days.
func (b *Store) LatestDates(ctx context.Context, now time.Time) (map[string]string, error) {
	var found []struct{ UserID, Date string }
	// Grouped by users, SQLite looks through the briefs of all days.
	err := b.store.DB(ctx).Model(&Brief{}).Select("user_id, date").Where("date >= ?",
		now.AddDate(0, 0, -recentDays).Format(time.DateOnly)).Order("date").Find(&found).Error
	dates := make(map[string]string, len(found))
	for _, f := range found {
		dates[f.UserID] = f.Date
	}
	return dates, err
}

// List returns the briefs of a user, the latest first.
func (b *Store) List(ctx context.Context, userID string) (found []Brief, err error) {
	err = b.store.DB(ctx).Where("user_id = ?", userID).Order("window_end DESC, created_at DESC, id DESC").Find(&found).Error
	return found, err
}

// Find returns a brief of a user.
func (b *Store) Find(ctx context.Context, userID, id string) (found Brief, err error) {
	err = b.store.DB(ctx).Where("user_id = ? AND id = ?", userID, id).Take(&found).Error
	if errors.Is(err, gorm.ErrRecordNotFound) {
		err = fault.New(fault.NotFound, "There is no such brief.")
	}
	return found, err
}

// Names reports whether a brief of a user names a release.
func (b *Store) Names(ctx context.Context, userID string, releaseID int64) (bool, error) {
	var n int64
	q := b.store.DB(ctx).Model(&Brief{}).Where("user_id = ?", userID)
	err := store.WhereContains(q, `"`+strconv.FormatInt(releaseID, 10)+`"`, "release_ids").Limit(1).Count(&n).Error
	return n > 0, err
}

// MarkQuery returns the query for the marks of the latest briefs of a user.
func MarkQuery(userID string, limit int) feed.MarkQuery {
	const order = "window_end DESC, created_at DESC, id DESC"
	column := feed.MarkColumn("updated_at", "'brief:' || id")
	rows := "SELECT " + column + ", window_end, created_at, id FROM release_briefs WHERE user_id = ? ORDER BY " + order + store.Limit(limit)
	return feed.MarkQuery{Parts: []feed.MarkPart{{Rows: rows, Order: order, Values: []any{userID}}}, Limit: limit}
}
