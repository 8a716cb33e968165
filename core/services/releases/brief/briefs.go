package brief

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
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

// Reader reads the feed.
type Reader interface {
	// CountReleases returns how many releases of a user there are from a time on and before another.
	CountReleases(ctx context.Context, userID string, from, until time.Time) (int, error)
	// Between returns the items of a user from a time on and before another, at most limit, the newest first.
	Between(ctx context.Context, userID string, types feed.Types, from, until time.Time, limit int) ([]feed.Item, error)
}

// Summarizer returns the summaries in a language that there are of releases, as Markdown lists by the ids of the releases, and has the
// others made. It reports whether some are on their way.
type Summarizer func(ctx context.Context, language string, ids []int64) (found map[int64]string, waiting bool, err error)

// LanguageOf returns the language in which a user reads, such as zh-CN.
type LanguageOf func(ctx context.Context, userID string) (string, error)

// Briefs writes and keeps briefs.
type Briefs struct {
	store      *store.Store
	reader     Reader
	languageOf LanguageOf
	summarize  Summarizer
	now        func() time.Time
}

// New returns the briefs in a database. The migrations of the service have run.
func New(s *store.Store, reader Reader, languageOf LanguageOf, summarize Summarizer, now func() time.Time) *Briefs {
	return &Briefs{s, reader, languageOf, summarize, now}
}

// maxSocial is how many stars and followers are counted for a brief.
const maxSocial = 1000

// Generate writes the brief of a user for a window, in the place of the one that there is. One that was begun later stays, and is
// returned: a brief that was begun before it may lack a release. The feed is read before the transaction that stores the brief, so that
// nobody waits.
func (b *Briefs) Generate(ctx context.Context, userID string, w Window, zone *time.Location) (written Brief, err error) {
	row, err := b.composeBrief(ctx, userID, w, zone)
	if err != nil {
		return Brief{}, err
	}
	err = b.store.Tx(ctx, "write brief", func(ctx context.Context) error {
		written, err = b.saveBrief(ctx, row)
		return err
	})
	return written, err
}

// composeBrief returns the brief of a user for a window, which is not stored yet.
func (b *Briefs) composeBrief(ctx context.Context, userID string, w Window, zone *time.Location) (Brief, error) {
	language, err := b.languageOf(ctx, userID)
	if err != nil {
		return Brief{}, fmt.Errorf("find the language of a brief: %w", err)
	}
	c := content{zone: zone, language: language}
	begun := store.Millis(b.now())
	read := func(types feed.Types, limit int) (items []feed.Item, err error) {
		return b.reader.Between(ctx, userID, types, w.Start, w.End, limit)
	}
	// One more tells that there are more.
	releases, err := read(feed.Types{Releases: true}, MaxReleases+1)
	if err != nil {
		return Brief{}, fmt.Errorf("read the releases of a brief: %w", err)
	}
	c.releases = releases[:min(len(releases), MaxReleases)]
	if len(releases) > MaxReleases {
		count, err := b.reader.CountReleases(ctx, userID, w.Start, w.End)
		if err != nil {
			return Brief{}, fmt.Errorf("count the releases of a brief: %w", err)
		}
		c.more = max(1, count-MaxReleases)
	}
	if c.stars, err = read(feed.Types{Stars: true}, maxSocial); err != nil {
		return Brief{}, err
	}
	if c.others, err = read(feed.Types{Followers: true}, maxSocial); err != nil {
		return Brief{}, err
	}
	var waiting bool
	if c.summaries, waiting, err = b.summarize(ctx, language, idsOf(c.releases)); err != nil {
		return Brief{}, fmt.Errorf("summarise the releases of a brief: %w", err)
	}
	ids := make([]string, 0, len(c.releases))
	for _, group := range groupByRepo(c.releases) {
		for i := range group {
			ids = append(ids, group[i].ID())
		}
	}
	raw, err := json.Marshal(ids)
	if err != nil {
		return Brief{}, err
	}
	return Brief{
		ID: store.NewID("brf"), UserID: userID, Date: w.Date, WindowStart: store.Millis(w.Start), WindowEnd: store.Millis(w.End),
		TimeZone: zone.String(), Boundary: w.Boundary,
		ReleaseIDs: string(raw), More: c.more, Content: c.write(), CoversStars: len(c.stars) > 0, CoversFollowers: len(c.others) > 0,
		AwaitsSummaries: waiting, CreatedAt: begun, UpdatedAt: begun,
	}, nil
}

// idsOf returns the ids of releases.
func idsOf(items []feed.Item) []int64 {
	ids := make([]int64, len(items))
	for i := range items {
		ids[i] = items[i].Seq
	}
	return ids
}

// ListAwaiting returns briefs that await summaries and whose windows have ended since a time, at most limit, the oldest first.
func (b *Briefs) ListAwaiting(ctx context.Context, since int64, limit int) (found []Brief, err error) {
	err = b.store.DB(ctx).Where("awaits_summaries AND window_end >= ?", since).Order("window_end, id").Limit(limit).Find(&found).Error
	return found, err
}

// Refresh writes a brief that awaits summaries again once none is on its way any more. It reports whether it has.
func (b *Briefs) Refresh(ctx context.Context, row Brief) (written bool, err error) {
	var ids []int64
	for _, text := range row.Releases() {
		id, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			return false, fmt.Errorf("read the releases of brief %s: %w", row.ID, err)
		}
		ids = append(ids, id)
	}
	language, err := b.languageOf(ctx, row.UserID)
	if err != nil {
		return false, err
	}
	if _, waiting, err := b.summarize(ctx, language, ids); err != nil || waiting {
		return false, err
	}
	zone, err := time.LoadLocation(row.TimeZone)
	if err != nil {
		return false, err
	}
	w := Window{Date: row.Date, Start: store.FromMillis(row.WindowStart), End: store.FromMillis(row.WindowEnd), Boundary: row.Boundary}
	_, err = b.Generate(ctx, row.UserID, w, zone)
	return err == nil, err
}

// saveBrief stores a brief in the running transaction, unless there is one of the same window that was begun later, and returns the one
// that is stored then. One of the same window keeps its id.
func (b *Briefs) saveBrief(ctx context.Context, row Brief) (saved Brief, err error) {
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

// maxMissed is how many days are made up for after a pause of the core.
const maxMissed = 7

// Missing returns the windows for which a user has no brief yet, the oldest first: that which ended last and, for a user with
// briefs, those of the days since the last one.
func (b *Briefs) Missing(ctx context.Context, userID string, hour int, zone *time.Location) (out []Window, err error) {
	now := b.now()
	latest := LatestWindow(now, hour, zone)
	var dates []string
	if err := b.store.DB(ctx).Model(&Brief{}).Where("user_id = ?", userID).Order("date DESC").Limit(1).Pluck("date",
		&dates).Error; err != nil {
		return nil, err
	}
	if len(dates) == 0 {
		return []Window{latest}, nil
	}
	for date := nextDate(dates[0]); date <= latest.Date; date = nextDate(date) {
		w, err := WindowOn(date, now, hour, zone)
		if err != nil {
			return nil, err
		}
		out = append(out, w)
	}
	return out[max(0, len(out)-maxMissed):], nil
}

// recentDays is how many days back LatestDates looks: more than any clock in the world is behind.
const recentDays = 3

// LatestDates returns the date of the latest brief of each user who has one of the last days.
func (b *Briefs) LatestDates(ctx context.Context) (map[string]string, error) {
	var found []struct{ UserID, Date string }
	// Grouped by users, SQLite looks through the briefs of all days.
	err := b.store.DB(ctx).Model(&Brief{}).Select("user_id, date").Where("date >= ?",
		b.now().AddDate(0, 0, -recentDays).Format(time.DateOnly)).Order("date").Find(&found).Error
	dates := make(map[string]string, len(found))
	for _, f := range found {
		dates[f.UserID] = f.Date
	}
	return dates, err
}

// List returns the briefs of a user, the latest first.
func (b *Briefs) List(ctx context.Context, userID string) (found []Brief, err error) {
	err = b.store.DB(ctx).Where("user_id = ?", userID).Order("window_end DESC, created_at DESC, id DESC").Find(&found).Error
	return found, err
}

// Find returns a brief of a user.
func (b *Briefs) Find(ctx context.Context, userID, id string) (found Brief, err error) {
	err = b.store.DB(ctx).Where("user_id = ? AND id = ?", userID, id).Take(&found).Error
	if errors.Is(err, gorm.ErrRecordNotFound) {
		err = fault.New(fault.NotFound, "There is no such brief.")
	}
	return found, err
}

// Names reports whether a brief of a user names a release.
func (b *Briefs) Names(ctx context.Context, userID string, releaseID int64) (bool, error) {
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
