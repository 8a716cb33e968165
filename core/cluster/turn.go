package cluster

import (
	"context"
	"time"

	"github.com/patchbay-dev/patchbay/core/store"
)

// turnKey begins the keys of turns among the values.
const turnKey = "turn/"

// TakeTurn gives a node the turn to do something that one node does at a time, also if it restarts meanwhile, or renews it. It returns ""
// then, and the node that has the turn otherwise. A turn ends with EndTurn, or after keep.
func TakeTurn(ctx context.Context, s *store.Store, name, node string, keep time.Duration) (other string, err error) {
	clock := store.ClockSQL(s)
	err = s.Tx(ctx, "take a turn", func(ctx context.Context) error {
		other = ""
		done := s.Writer(ctx).Exec("INSERT INTO core_values AS v (key, value, until_at) VALUES (?, ?, "+clock+" + ?) ON CONFLICT (key) DO UPDATE"+
			" SET value = excluded.value, until_at = excluded.until_at WHERE v.value = excluded.value OR v.until_at < "+clock,
			turnKey+name, node, keep.Milliseconds())
		if done.Error != nil || done.RowsAffected > 0 {
			return done.Error
		}
		return s.Writer(ctx).Raw("SELECT value FROM core_values WHERE key = ?", turnKey+name).Scan(&other).Error
	})
	return other, err
}

// EndTurn gives the turn of a node to the next.
func EndTurn(ctx context.Context, s *store.Store, name, node string) error {
	return s.Tx(ctx, "end a turn", func(ctx context.Context) error {
		return s.Writer(ctx).Exec("DELETE FROM core_values WHERE key = ? AND value = ?", turnKey+name, node).Error
	})
}
