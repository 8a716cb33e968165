package queue_test

import (
	"context"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/patchbay-dev/patchbay/core/internal/testing/testkit"
	"github.com/patchbay-dev/patchbay/core/queue"
	"github.com/patchbay-dev/patchbay/core/store"
)

// counting returns a handler that counts its runs.
func counting(kind string, runs *atomic.Int64) queue.Handler {
	return handler(kind, func(context.Context) (any, error) { runs.Add(1); return nil, nil })
}

// TestLostTickets: a job whose ticket is gone, or was taken by a worker that has died, gets another. One that was submitted by a process
// without the handler gets its first.
func TestLostTickets(t *testing.T) {
	for name, lose := range map[string]string{
		"no table":        "DELETE FROM river_job",
		"worker died":     "UPDATE river_job SET state = 'running', attempted_at = now() - interval '1 minute'",
		"done":            "UPDATE river_job SET state = 'completed', finalized_at = now()",
		"of another job":  `UPDATE river_job SET args = '{"job": "job_x", "claims": 0, "type": "x"}'`,
		"in another line": "UPDATE river_job SET queue = 'limited'",
		"none":            "UPDATE jobs SET ticket = 0",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			st := testkit.OpenStore(t, testkit.PostgresConfig(t), queue.Migrations())
			var runs atomic.Int64
			cfg := config(st)
			cfg.Handlers = []queue.Handler{counting("x", &runs)}
			q := build(t, cfg)
			id := submit(t, q, queue.Submission{Type: "x", RunAt: time.Now().Add(-time.Minute)}).ID
			testkit.Execute(t, st, lose)
			run(t, q)
			awaitEnd(t, q, id)
			if runs.Load() != 1 {
				t.Errorf("it ran %d times", runs.Load())
			}
		})
	}
}

// TestTicketOfProcessBeside: a process without handlers submits a job, and the core finds it.
func TestTicketOfProcessBeside(t *testing.T) {
	cfg := testkit.PostgresConfig(t)
	var runs atomic.Int64
	q := start(t, testkit.OpenStore(t, cfg, queue.Migrations()), counting("x", &runs))
	cfg.Exclusive = false
	beside := build(t, config(testkit.OpenStore(t, cfg, queue.Migrations())))
	awaitEnd(t, q, submit(t, beside, queue.Submission{Type: "x"}).ID)
	other := submit(t, beside, queue.Submission{Type: "unknown"}).ID
	if job, err := q.Get(t.Context(), other); err != nil || job.State != queue.Queued {
		t.Errorf("got %+v, %v", job, err)
	}
}

// TestDoubledTickets: however many tickets a job has, it begins once; and those of an earlier attempt do nothing.
func TestDoubledTickets(t *testing.T) {
	st := testkit.OpenStore(t, testkit.PostgresConfig(t), queue.Migrations())
	var runs atomic.Int64
	h := handler("x", func(context.Context) (any, error) {
		if runs.Add(1) == 1 {
			return nil, queue.Temporary(context.DeadlineExceeded)
		}
		return nil, nil
	})
	h.MaxAttempts, h.Backoff = 2, func(int) time.Duration { return time.Millisecond }
	cfg := config(st)
	cfg.Handlers = []queue.Handler{h, counting("last", new(atomic.Int64))}
	q := build(t, cfg)
	id := submit(t, q, queue.Submission{Type: "x"}).ID
	testkit.Execute(t, st, `INSERT INTO river_job (args, kind, max_attempts) SELECT args, kind, 1 FROM river_job, generate_series(1, 20)`)
	if open, limited, err := queue.CountTickets(t.Context(), q); err != nil || open != 21 || limited != 0 {
		t.Errorf("%d and %d tickets wait, %v", open, limited, err)
	}
	run(t, q)
	awaitEnd(t, q, id)
	awaitEnd(t, q, submit(t, q, queue.Submission{Type: "last"}).ID)
	if job, err := q.Get(t.Context(), id); err != nil || runs.Load() != 2 || job.Attempt != 2 {
		t.Errorf("it ran %d times: %+v, %v", runs.Load(), job, err)
	}
	testkit.Eventually(t, patience, func() bool {
		open, limited, err := queue.CountTickets(t.Context(), q)
		return err == nil && open == 0 && limited == 0 && queue.VoidTickets(q) == 20
	}, "the 20 others are void")
}

// TestTicketsAfterRestore: a copy has no tickets, and the open jobs that it has begin all the same.
func TestTicketsAfterRestore(t *testing.T) {
	cfg := testkit.PostgresConfig(t)
	testkit.Require(t, "postgresql-client", cfg.CheckTools() == nil, "install postgresql-client")
	st, err := store.Open(t.Context(), cfg)
	testkit.Must(t, err)
	testkit.Must(t, st.Migrate(t.Context(), queue.Migrations()))
	var runs atomic.Int64
	with := config(st)
	with.Handlers = []queue.Handler{counting("x", &runs)}
	id := submit(t, build(t, with), queue.Submission{Type: "x", RunAt: time.Now().Add(-time.Minute)}).ID
	copied := filepath.Join(t.TempDir(), "copy")
	testkit.Must(t, st.Backup(t.Context(), copied))
	testkit.Must(t, st.Close())
	other := testkit.PostgresConfig(t)
	for _, into := range []store.Config{cfg, other} {
		runs.Store(0)
		_, err = store.ReplacePostgres(t.Context(), into, copied, true)
		testkit.Must(t, err)
		q := start(t, testkit.OpenStore(t, into, queue.Migrations()), counting("x", &runs))
		awaitEnd(t, q, id)
		if runs.Load() != 1 {
			t.Errorf("it ran %d times", runs.Load())
		}
	}
}
