package brief

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	"github.com/patchbay-dev/patchbay/core/lists"
	"github.com/patchbay-dev/patchbay/core/services/releases/feed"
	"github.com/patchbay-dev/patchbay/core/store"
)

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
	*Store
	reader     Reader
	languageOf LanguageOf
	summarize  Summarizer
	now        func() time.Time
}

// New returns what writes the briefs of a store.
func New(s *Store, reader Reader, languageOf LanguageOf, summarize Summarizer, now func() time.Time) *Briefs {
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
	if c.summaries, waiting, err = b.summarize(ctx, language, listIDs(c.releases)); err != nil {
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

// listIDs returns the ids of releases.
func listIDs(items []feed.Item) []int64 {
	return lists.ConvertAll(items, func(i feed.Item) int64 { return i.Seq })
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

// maxMissed is how many days are made up for after a pause of the core.
const maxMissed = 7

// Missing returns the windows for which a user has no brief yet, the oldest first: that which ended last and, for a user with
// briefs, those of the days since the last one.
func (b *Briefs) Missing(ctx context.Context, userID string, hour int, zone *time.Location) (out []Window, err error) {
	now := b.now()
	latest := LatestWindow(now, hour, zone)
	last, err := b.lastDate(ctx, userID)
	if err != nil {
		return nil, err
	}
	if last == "" {
		return []Window{latest}, nil
	}
	for date := nextDate(last); date <= latest.Date; date = nextDate(date) {
		w, err := WindowOn(date, now, hour, zone)
		if err != nil {
			return nil, err
		}
		out = append(out, w)
	}
	return out[max(0, len(out)-maxMissed):], nil
}
