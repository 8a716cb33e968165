package store

// ClockSQL returns the SQL expression for the database's own time, in Unix milliseconds. On PostgreSQL it goes on within a transaction.
// What several cores compare uses it: their own clocks may differ.
func ClockSQL(s *Store) string {
	if s.cfg.Dialect == Postgres {
		return "(extract(epoch FROM clock_timestamp()) * 1000)::bigint"
	}
	return "CAST(unixepoch('subsec') * 1000 AS INTEGER)"
}
