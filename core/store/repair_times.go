package store

import (
	"context"
	"fmt"
	"time"
)

// StoredTime is a column of times that something waits for or is measured from, in Unix milliseconds. After a moment with a wrong clock
// such a time may lie years ahead, and what waits for it would wait as long.
type StoredTime struct {
	Table, Column string
	// Where narrows the rows to those for which the time counts, as an SQL condition; "" for all.
	Where string
	// Longest is how far from now the time may lie. Zero is for times of what has happened.
	Longest time.Duration
}

// earliestClock is before any moment at which this program runs: a clock that shows less is behind, and says nothing of stored times.
var earliestClock = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// RepairTimes sets times of the migrated modules that lie further ahead than they can to the latest that is possible, with a warning for
// each column, and returns how many it has set.
func (s *Store) RepairTimes(ctx context.Context, now time.Time) (repaired int64, err error) {
	if now.Before(earliestClock) {
		s.log.Warn("clock is behind the stored times", "now", now)
		return 0, nil
	}
	for _, c := range s.times {
		limit := Millis(now.Add(c.Longest))
		where := c.Column + " > ?"
		if c.Where != "" {
			where += " AND " + c.Where
		}
		var found []int64
		if err := s.DB(ctx).Raw("SELECT 1 FROM "+c.Table+" WHERE "+where+" LIMIT 1", limit).Scan(&found).Error; err != nil {
			return repaired, fmt.Errorf("look for times of %s that lie too far ahead: %w", c.Table, err)
		}
		if len(found) == 0 {
			continue
		}
		err := s.Tx(ctx, "repair times", func(ctx context.Context) error {
			res := s.Writer(ctx).Exec("UPDATE "+c.Table+" SET "+c.Column+" = ? WHERE "+where, limit, limit)
			if res.Error == nil {
				repaired += res.RowsAffected
				s.log.Warn("stored times corrected, the clock was wrong", "table", c.Table, "column",
					c.Column, "rows", res.RowsAffected, "longest", c.Longest)
			}
			return res.Error
		})
		if err != nil {
			return repaired, fmt.Errorf("set back times of %s: %w", c.Table, err)
		}
	}
	return repaired, nil
}
