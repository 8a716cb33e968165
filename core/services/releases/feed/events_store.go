package feed

import (
	"context"
	"time"

	"gorm.io/gorm/clause"

	"github.com/patchbay-dev/patchbay/core/store"
)

// eventBatch is how many events are stored by one statement.
const eventBatch = 100

// AddEvents stores events of a user, and returns how many of them were not known. One that is known by its key stays as it is.
func (s *Store) AddEvents(ctx context.Context, all []Event) (added int, err error) {
	if len(all) == 0 {
		return 0, nil
	}
	for i := range all {
		all[i].setRepo()
	}
	err = s.store.Tx(ctx, "add feed events", func(ctx context.Context) error {
		added = 0
		for begin := 0; begin < len(all); begin += eventBatch {
			batch := all[begin:min(begin+eventBatch, len(all))]
			res := s.store.Writer(ctx).Clauses(clause.OnConflict{Columns: []clause.Column{{Name: "user_id"}, {Name: "event_key"}},
				DoNothing: true}).Create(&batch)
			if res.Error != nil {
				return res.Error
			}
			added += int(res.RowsAffected)
		}
		return nil
	})
	return added, err
}

// ForgetEvents deletes the events that were read with an account of a user.
func (s *Store) ForgetEvents(ctx context.Context, userID, accountID string) error {
	return s.store.Tx(ctx, "forget feed events", func(ctx context.Context) error {
		return s.store.Writer(ctx).Where("user_id = ? AND account_id = ?", userID, accountID).Delete(&Event{}).Error
	})
}

// CountReleases returns how many releases of a user there are from a time on and before another.
func (s *Store) CountReleases(ctx context.Context, userID string, from, until time.Time) (count int, err error) {
	text := "SELECT COUNT(*) FROM release_entries e WHERE " + visibleRelease + " AND e.ts >= ? AND e.ts < ?"
	err = s.store.DB(ctx).Raw(text, userID, userID, store.Millis(from), store.Millis(until)).Scan(&count).Error
	return count, err
}

// Between returns the items of a user from a time on and before another, at most limit, the newest first.
func (s *Store) Between(ctx context.Context, userID string, types Types, from, until time.Time, limit int) (items []Item, err error) {
	q := Query{UserID: userID, Types: types, Limit: min(limit, MaxLimit)}
	// The page begins below the last place before until.
	after := place{TS: store.Millis(until), Rank: 0}
	for len(items) < limit {
		page, err := s.listAfter(ctx, q, &after)
		if err != nil {
			return nil, err
		}
		for i := range page {
			if page[i].TS < store.Millis(from) {
				return items, nil
			}
			if items = append(items, page[i]); len(items) == limit {
				return items, nil
			}
		}
		if len(page) <= q.Limit {
			return items, nil
		}
		after = newPlace(&page[len(page)-1])
	}
	return items, nil
}
