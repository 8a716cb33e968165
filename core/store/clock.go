package store

import (
	"context"
	"fmt"
	"time"
)

// ClockSQL returns the SQL expression for the database's own time, in Unix milliseconds. On PostgreSQL it goes on within a transaction.
// What several cores compare uses it: their own clocks may differ.
func ClockSQL(s *Store) string {
	if s.cfg.Dialect == Postgres {
		return "(extract(epoch FROM clock_timestamp()) * 1000)::bigint"
	}
	return "CAST(unixepoch('subsec') * 1000 AS INTEGER)"
}

// ReadClock returns the time of the database.
func ReadClock(ctx context.Context, s *Store) (time.Time, error) {
	var now int64
	if err := s.DB(ctx).Raw("SELECT " + ClockSQL(s)).Scan(&now).Error; err != nil {
		return time.Time{}, fmt.Errorf("read the clock of the database: %w", err)
	}
	return FromMillis(now), nil
}
