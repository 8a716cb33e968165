package queue_test

import (
	"context"
	"sync/atomic"
	"testing"

	"github.com/patchbay-dev/patchbay/core/internal/testing/testkit"
	"github.com/patchbay-dev/patchbay/core/queue"
	"github.com/patchbay-dev/patchbay/core/store"
)

// TestHeld: no job begins while the queue is held, and those that wait begin afterwards.
func TestHeld(t *testing.T) {
	forEachDialect(t, func(t *testing.T, st *store.Store) {
		var held atomic.Bool
		var asked atomic.Int64
		held.Store(true)
		cfg := config(st)
		cfg.Held = func() bool { asked.Add(1); return held.Load() }
		cfg.Handlers = []queue.Handler{handler("x", func(context.Context) (any, error) { return nil, nil })}
		q := run(t, build(t, cfg))
		id := submit(t, q, queue.Submission{Type: "x"}).ID
		asked.Store(0)
		testkit.Eventually(t, patience, func() bool { return asked.Load() > 3 }, "the queue asks whether it is held")
		job, err := q.Get(t.Context(), id)
		testkit.Must(t, err)
		if job.State != queue.Queued {
			t.Errorf("a job of a queue that is held is %s", job.State)
		}
		held.Store(false)
		awaitEnd(t, q, id)
	})
}
