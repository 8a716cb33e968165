package queue_test

import (
	"context"
	"errors"
	"testing"

	"github.com/patchbay-dev/patchbay/core/queue"
	"github.com/patchbay-dev/patchbay/core/store"
)

// A job that has begun and is cancelled while nobody runs it is given to its handler once more, with a context that has
// ended; one that has not begun is cancelled at once.
func TestCancelSettles(t *testing.T) {
	forEachDialect(t, func(t *testing.T, st *store.Store) {
		cause := make(chan error, 1)
		h := queue.Handler{Type: "settles", Safe: true, Settles: true,
			Run: func(ctx context.Context, _ *queue.Job, _ queue.Progress) (any, error) {
				<-ctx.Done()
				cause <- context.Cause(ctx)
				return nil, queue.EndRolledBack(context.Cause(ctx))
			}}
		cfg := config(st)
		cfg.Handlers = []queue.Handler{h}
		q := build(t, cfg)
		begun := submit(t, q, queue.Submission{Type: "settles", Locks: []string{"a"}}).ID
		fresh := submit(t, q, queue.Submission{Type: "settles", Locks: []string{"b"}}).ID
		err := st.Tx(t.Context(), "put back", func(ctx context.Context) error {
			return st.Writer(ctx).Exec(`UPDATE jobs SET claims = 1, run_at = run_at + 3600000 WHERE id = ?`, begun).Error
		})
		if err != nil {
			t.Fatal(err)
		}
		for id, want := range map[string]queue.State{begun: queue.Queued, fresh: queue.Canceled} {
			if job, err := q.Cancel(t.Context(), id); err != nil || job.State != want {
				t.Fatalf("%+v: %v", job, err)
			}
		}
		if n := locksHeld(t, st); n != 1 {
			t.Errorf("%d locks are held before it is settled", n)
		}
		run := start(t, st, h)
		if job := awaitEnd(t, run, begun); job.State != queue.RolledBack || !errors.Is(<-cause, queue.ErrCanceled) {
			t.Errorf("%+v", job)
		}
		if n := locksHeld(t, st); n != 0 {
			t.Errorf("%d locks are left", n)
		}
	})
}

// The same holds for a job whose process died; one that kills the process each time is cancelled in the end.
func TestRecoverySettles(t *testing.T) {
	forEachDialect(t, func(t *testing.T, st *store.Store) {
		h := queue.Handler{Type: "settles", Safe: true, Settles: true,
			Run: func(ctx context.Context, _ *queue.Job, _ queue.Progress) (any, error) {
				<-ctx.Done()
				return nil, queue.EndRolledBack(context.Cause(ctx))
			}}
		cfg := config(st)
		cfg.Handlers = []queue.Handler{h}
		q := build(t, cfg)
		want := map[string]queue.State{}
		for recoveries, state := range map[int]queue.State{0: queue.RolledBack, 3: queue.Canceled} {
			id := submit(t, q, queue.Submission{Type: "settles"}).ID
			orphan(t, st, id, recoveries, 1)
			want[id] = state
		}
		run := start(t, st, h)
		for id, state := range want {
			if job := awaitEnd(t, run, id); job.State != state {
				t.Errorf("%+v, want %s", job, state)
			}
		}
	})
}
