package queue_test

import (
	"context"
	"testing"
	"time"

	"github.com/patchbay-dev/patchbay/core/queue"
	"github.com/patchbay-dev/patchbay/core/store"
)

// TestCountOpen counts a job that runs, one that waits, and none that has ended.
func TestCountOpen(t *testing.T) {
	forEachDialect(t, func(t *testing.T, st *store.Store) {
		q := start(t, st, blocking("long", true), handler("short", func(context.Context) (any, error) { return nil, nil }))
		awaitEnd(t, q, submit(t, q, queue.Submission{Type: "short"}).ID)
		awaitRunning(t, q, submit(t, q, queue.Submission{Type: "long"}).ID)
		for range 2 {
			submit(t, q, queue.Submission{Type: "short", RunAt: time.Now().Add(time.Hour)})
		}
		running, queued, err := q.CountOpen(t.Context())
		if err != nil || running != 1 || queued != 2 {
			t.Errorf("%d run and %d wait, %v", running, queued, err)
		}
	})
}
