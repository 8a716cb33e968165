package queue

import (
	"context"
	"fmt"
	"time"

	"github.com/patchbay-dev/patchbay/core/store"
)

const (
	// numberPause is the shortest time between two rounds of numbering by one feed.
	numberPause = 20 * time.Millisecond
	// numberBatch bounds the events that one transaction numbers.
	numberBatch = 5000
)

const (
	sqlUnnumbered = `SELECT EXISTS (SELECT 1 FROM job_events WHERE id IS NULL)`
	sqlHoldFeed   = `SELECT last FROM job_feed FOR UPDATE`
	// sqlNumber numbers the oldest committed events. An event that its job had before has committed before, so it is seen as well.
	sqlNumber = `WITH fresh AS (
			SELECT job_id, seq, row_number() OVER (ORDER BY written) AS n
			FROM (SELECT job_id, seq, written FROM job_events WHERE id IS NULL ORDER BY written LIMIT ?) oldest),
		numbered AS (
			UPDATE job_events e SET id = f.last + fresh.n FROM fresh, job_feed f
			WHERE e.job_id = fresh.job_id AND e.seq = fresh.seq RETURNING e.id)
		UPDATE job_feed SET last = n.last FROM (SELECT max(id) AS last, count(*) AS events FROM numbered) n WHERE n.events > 0 RETURNING n.events`
)

// numberEvents gives ids to the events that have committed without one, on PostgreSQL. Whoever reads the events of all jobs calls it first,
// so that no writer waits for another one: only those who number wait for each other. In a transaction it does nothing, since it would hold
// them up until its end.
func numberEvents(ctx context.Context, st *store.Store) error {
	if st.Dialect() != store.Postgres || st.InTx(ctx) {
		return nil
	}
	ctx = store.Essential(ctx)
	for {
		var waiting bool
		if err := st.DB(ctx).Raw(sqlUnnumbered).Scan(&waiting).Error; err != nil {
			return fmt.Errorf("look for events without a number: %w", err)
		}
		if !waiting {
			return nil
		}
		var numbered int64
		err := st.QueueTx(ctx, "number events", func(ctx context.Context) error {
			// A statement of its own: the next one must see what the former holder of this row has numbered.
			if err := st.Writer(ctx).Exec(sqlHoldFeed).Error; err != nil {
				return err
			}
			return st.Writer(ctx).Raw(sqlNumber, numberBatch).Scan(&numbered).Error
		})
		if err != nil {
			return fmt.Errorf("number the events: %w", err)
		}
		if numbered < numberBatch {
			return nil
		}
	}
}
