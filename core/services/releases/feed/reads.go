package feed

import (
	"context"

	"github.com/patchbay-dev/patchbay/core/store"
)

// SetRead notes whether a user has read a release.
func (s *Store) SetRead(ctx context.Context, userID string, releaseID int64, read bool) error {
	return s.store.Tx(ctx, "mark release", func(ctx context.Context) error {
		if !read {
			return s.store.Writer(ctx).Exec("DELETE FROM release_reads WHERE user_id = ? AND release_id = ?", userID, releaseID).Error
		}
		return s.store.Writer(ctx).Exec("INSERT INTO release_reads (user_id, release_id) VALUES (?, ?) ON CONFLICT DO NOTHING", userID,
			releaseID).Error
	})
}

// MarkRead sets Item.Read of the releases among items.
func (s *Store) MarkRead(ctx context.Context, userID string, items []Item) error {
	var ids []int64
	at := map[int64]*Item{}
	for i := range items {
		if items[i].Kind == Release {
			ids, at[items[i].Seq] = append(ids, items[i].Seq), &items[i]
		}
	}
	if len(ids) == 0 {
		return nil
	}
	var read []int64
	q := s.store.DB(ctx).Table("release_reads").Where("user_id = ?", userID)
	if err := store.WhereInNumbers(q, "release_id", ids).Pluck("release_id", &read).Error; err != nil {
		return err
	}
	for _, id := range read {
		at[id].Read = true
	}
	return nil
}
