package queue

import (
	"strings"

	"github.com/patchbay-dev/patchbay/core/store"
)

// The database's time in Unix milliseconds.
const (
	postgresNow = `CAST(extract(epoch FROM clock_timestamp()) * 1000 AS BIGINT)`
	sqliteNow   = `CAST(unixepoch('subsec') * 1000 AS INTEGER)`
)

// withClock returns a statement with the database's time in the place of {now}. Heartbeats are written and compared by that clock alone,
// so that a process whose own clock is wrong takes no job from another one.
func withClock(st *store.Store, sql string) string {
	now := sqliteNow
	if st.Dialect() == store.Postgres {
		now = postgresNow
	}
	return strings.ReplaceAll(sql, "{now}", now)
}
