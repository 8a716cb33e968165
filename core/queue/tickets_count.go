package queue

import (
	"context"
	"fmt"

	"github.com/patchbay-dev/patchbay/core/queue/tickets"
	"github.com/patchbay-dev/patchbay/core/store"
)

// sqlCountTickets counts the tickets that are due and wait, without a limit of their type and with one.
const sqlCountTickets = `SELECT count(*) FILTER (WHERE queue = '` + tickets.Open + `'),
	count(*) FILTER (WHERE queue = '` + tickets.Limited + `') FROM river_job WHERE state = 'available' AND scheduled_at <= now()`

// CountTickets returns how many tickets of the database are due and wait for a core: those of types without a limit and those with one. A
// SQLite database has none.
func CountTickets(ctx context.Context, q *Queue) (open, limited int64, err error) {
	if _, ok := q.dispatch.(*ticketDispatcher); !ok {
		return 0, 0, nil
	}
	if err := store.Pool(q.store).QueryRow(ctx, sqlCountTickets).Scan(&open, &limited); err != nil {
		return 0, 0, fmt.Errorf("count the tickets: %w", err)
	}
	return open, limited, nil
}

// VoidTickets returns how many tickets this core has taken whose jobs it could not begin: they had begun by another ticket, or another core
// has taken over from this one.
func VoidTickets(q *Queue) int64 {
	d, ok := q.dispatch.(*ticketDispatcher)
	if !ok {
		return 0
	}
	return d.void.Load()
}
