package queue_test

import (
	"context"
	"fmt"
	"os"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/patchbay-dev/patchbay/core/event"
	"github.com/patchbay-dev/patchbay/core/internal/testing/testkit"
	"github.com/patchbay-dev/patchbay/core/queue"
	"github.com/patchbay-dev/patchbay/core/store"
)

func TestMain(m *testing.M) {
	if os.Getenv(envHelper) != "" {
		helperProcess()
		return
	}
	if os.Getenv(envWorker) != "" {
		workerProcess()
		return
	}
	goleak.VerifyTestMain(m)
}

// patience is how long the tests wait for what should come soon.
const patience = 20 * time.Second

func forEachDialect(t *testing.T, test func(t *testing.T, st *store.Store)) {
	testkit.ForEachDialect(t, func(t *testing.T, cfg store.Config) {
		test(t, testkit.OpenStore(t, cfg, queue.Migrations()))
	})
}

// config has short intervals, and no handlers.
func config(st *store.Store) queue.Config {
	return queue.Config{
		Store: st, Bus: event.NewBus(), Workers: 3,
		Heartbeat: 50 * time.Millisecond, Poll: 50 * time.Millisecond, Grace: 200 * time.Millisecond,
	}
}

func build(t *testing.T, cfg queue.Config) *queue.Queue {
	t.Helper()
	q, err := queue.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return q
}

// start builds a queue with handlers, starts it, and stops it when the test ends.
func start(t *testing.T, st *store.Store, handlers ...queue.Handler) *queue.Queue {
	t.Helper()
	cfg := config(st)
	cfg.Handlers = handlers
	return run(t, build(t, cfg))
}

func run(t *testing.T, q *queue.Queue) *queue.Queue {
	t.Helper()
	if err := q.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		if err := q.Stop(ctx); err != nil {
			t.Error(err)
		}
	})
	return q
}

func submit(t *testing.T, q *queue.Queue, sub queue.Submission) queue.Job {
	t.Helper()
	job, _, err := q.Submit(t.Context(), sub)
	if err != nil {
		t.Fatal(err)
	}
	return job
}

func await(t *testing.T, q *queue.Queue, id string, done func(queue.Job) bool, what string) (job queue.Job) {
	t.Helper()
	testkit.Eventually(t, patience, func() bool {
		var err error
		if job, err = q.Get(context.Background(), id); err != nil {
			t.Fatal(err)
		}
		return done(job)
	}, fmt.Sprintf("%s becomes %s", id, what))
	return job
}

func awaitEnd(t *testing.T, q *queue.Queue, id string) queue.Job {
	t.Helper()
	return await(t, q, id, func(j queue.Job) bool { return j.State.Final() }, "final")
}

func awaitRunning(t *testing.T, q *queue.Queue, id string) queue.Job {
	t.Helper()
	return await(t, q, id, func(j queue.Job) bool { return j.State == queue.Running }, "running")
}

func eventTypes(t *testing.T, q *queue.Queue, id string) (types []string) {
	t.Helper()
	events, err := q.Events(t.Context(), id, 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	for i, ev := range events {
		if ev.Seq != int64(i+1) || ev.JobID != id || ev.At.IsZero() {
			t.Errorf("event %d is %+v", i, ev)
		}
		types = append(types, ev.Type)
	}
	return types
}

func locksHeld(t *testing.T, st *store.Store) (n int64) {
	t.Helper()
	if err := st.DB(t.Context()).Raw("SELECT count(*) FROM job_locks").Scan(&n).Error; err != nil {
		t.Fatal(err)
	}
	return n
}

// handler makes a handler of a function without progress.
func handler(kind string, f func(ctx context.Context) (any, error)) queue.Handler {
	return queue.Handler{Type: kind, Run: func(ctx context.Context, _ *queue.Job, _ queue.Progress) (any, error) { return f(ctx) }}
}

// blocking runs until its context ends.
func blocking(kind string, safe bool) queue.Handler {
	h := handler(kind, func(ctx context.Context) (any, error) {
		<-ctx.Done()
		return nil, context.Cause(ctx)
	})
	h.Safe = safe
	return h
}
