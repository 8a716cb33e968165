package queue_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/internal/testing/testkit"
	"github.com/patchbay-dev/patchbay/core/queue"
	"github.com/patchbay-dev/patchbay/core/store"
)

func TestRunToSuccess(t *testing.T) {
	forEachDialect(t, func(t *testing.T, st *store.Store) {
		type payload struct{ Name string }
		q := start(t, st, queue.Handler{Type: "greet", Run: func(ctx context.Context, job *queue.Job, p queue.Progress) (any, error) {
			var in payload
			if err := job.Decode(&in); err != nil {
				return nil, err
			}
			p.Step(ctx, "greeting\x00")
			p.Percent(ctx, 150)
			p.Log(ctx, "hello %s\x00\xff", in.Name)
			p.Emit(ctx, "custom", map[string]int{"n": 1})
			p.Emit(ctx, queue.EventFinished, nil)
			return map[string]string{"said": in.Name}, nil
		}})
		submitted := submit(t, q, queue.Submission{Type: "greet", Payload: payload{"Ada"}, Actor: "usr_1", Locks: []string{"b", "a", "b"}})
		if submitted.State != queue.Queued || submitted.LastSeq != 1 {
			t.Errorf("submitted: %+v", submitted)
		}
		job := awaitEnd(t, q, submitted.ID)
		if job.State != queue.Success || string(job.Result) != `{"said":"Ada"}` || job.Failure != nil || job.Percent != 100 ||
			job.Step != "greeting" || job.Attempt != 1 || job.Actor != "usr_1" || job.StartedAt.IsZero() || job.FinishedAt.Before(job.CreatedAt) {
			t.Errorf("got %+v", job)
		}
		want := []string{"queued", "running", "step", "progress", "log", "custom", "finished_", "finished"}
		if diff := cmp.Diff(want, eventTypes(t, q, job.ID)); diff != "" {
			t.Error(diff)
		}
		if n := locksHeld(t, st); n != 0 {
			t.Errorf("%d locks are left", n)
		}
	})
}

func TestEndings(t *testing.T) {
	base := func(f func(context.Context) (any, error)) queue.Handler { return handler("x", f) }
	tests := []struct {
		name    string
		handler queue.Handler
		state   queue.State
		failure queue.Failure
	}{
		{"error", base(func(context.Context) (any, error) { return nil, errors.New("disk /x is full") }),
			queue.Failed, queue.Failure{Code: fault.Internal, Message: "Something went wrong on our side."}},
		{"fault", base(func(context.Context) (any, error) { return nil, fault.New("unhealthy", "It did not start.\x00") }),
			queue.Failed, queue.Failure{Code: "unhealthy", Message: "It did not start."}},
		{"rolled back", base(func(context.Context) (any, error) {
			return nil, queue.EndRolledBack(fault.New("unhealthy", "It did not start."))
		}), queue.RolledBack, queue.Failure{Code: "unhealthy", Message: "It did not start."}},
		{"panic", base(func(context.Context) (any, error) { panic("boom") }),
			queue.Failed, queue.Failure{Code: fault.Internal, Message: "Something went wrong on our side.", Reason: queue.ReasonPanic}},
		{"bad result", base(func(context.Context) (any, error) { return make(chan int), nil }),
			queue.Failed, queue.Failure{Code: fault.Internal, Message: "Something went wrong on our side."}},
		{"timeout", func() queue.Handler { h := blocking("x", false); h.Timeout = 10 * time.Millisecond; return h }(),
			queue.Failed, queue.Failure{Code: fault.Timeout, Message: "The job took too long.", Reason: queue.ReasonTimeout}},
	}
	forEachDialect(t, func(t *testing.T, st *store.Store) {
		for _, tt := range tests {
			t.Run(tt.name, func(t *testing.T) {
				q := start(t, st, tt.handler)
				job := awaitEnd(t, q, submit(t, q, queue.Submission{Type: "x", Locks: []string{"r"}}).ID)
				if job.State != tt.state || job.Result != nil {
					t.Errorf("state %s, result %s", job.State, job.Result)
				}
				if diff := cmp.Diff(&tt.failure, job.Failure); diff != "" {
					t.Error(diff)
				}
				if locksHeld(t, st) != 0 {
					t.Error("the lock is left")
				}
			})
		}
	})
}

func TestRetry(t *testing.T) {
	forEachDialect(t, func(t *testing.T, st *store.Store) {
		var runs atomic.Int32
		h := handler("flaky", func(context.Context) (any, error) {
			switch runs.Add(1) {
			case 1:
				return nil, fault.New(fault.UpstreamUnavailable, "Down.")
			case 2:
				return nil, queue.Temporary(errors.New("again"))
			}
			return "done", nil
		})
		h.MaxAttempts = 3
		h.Backoff = func(int) time.Duration { return 5 * time.Millisecond }
		final := handler("hopeless", func(context.Context) (any, error) { return nil, queue.Temporary(fault.New(fault.NotReady, "Not yet.")) })
		final.MaxAttempts, final.Backoff = 2, h.Backoff
		q := start(t, st, h, final)
		job := awaitEnd(t, q, submit(t, q, queue.Submission{Type: "flaky"}).ID)
		if job.State != queue.Success || job.Attempt != 3 {
			t.Errorf("got %+v", job)
		}
		want := []string{"queued", "running", "retry", "running", "retry", "running", "finished"}
		if diff := cmp.Diff(want, eventTypes(t, q, job.ID)); diff != "" {
			t.Error(diff)
		}
		job = awaitEnd(t, q, submit(t, q, queue.Submission{Type: "hopeless"}).ID)
		if job.State != queue.Failed || job.Attempt != 2 || job.Failure.Code != fault.NotReady {
			t.Errorf("got %+v", job)
		}
	})
}

func TestRunAtIsKept(t *testing.T) {
	forEachDialect(t, func(t *testing.T, st *store.Store) {
		q := start(t, st, handler("x", func(context.Context) (any, error) { return nil, nil }))
		at := time.Now().Add(300 * time.Millisecond)
		job := awaitEnd(t, q, submit(t, q, queue.Submission{Type: "x", RunAt: at}).ID)
		if job.StartedAt.Before(at.Truncate(time.Millisecond)) {
			t.Errorf("started %s, should not before %s", job.StartedAt, at)
		}
	})
}

func TestEachJobRunsOnceOnTwoQueues(t *testing.T) {
	testkit.ForEachDialect(t, func(t *testing.T, cfg store.Config) {
		cfg.Exclusive = false
		st := testkit.OpenStore(t, cfg, queue.Migrations())
		var runs sync.Map
		h := queue.Handler{Type: "x", Run: func(_ context.Context, job *queue.Job, _ queue.Progress) (any, error) {
			n, _ := runs.LoadOrStore(job.ID, new(atomic.Int32))
			n.(*atomic.Int32).Add(1)
			return nil, nil
		}}
		first, second := start(t, st, h), start(t, st, h)
		var ids []string
		for i := range 60 {
			ids = append(ids, submit(t, []*queue.Queue{first, second}[i%2], queue.Submission{Type: "x"}).ID)
		}
		for _, id := range ids {
			awaitEnd(t, first, id)
			if n, ok := runs.Load(id); !ok || n.(*atomic.Int32).Load() != 1 {
				t.Errorf("%s ran %v times", id, n)
			}
		}
	})
}

func TestLimitLeavesWorkersToOthers(t *testing.T) {
	forEachDialect(t, func(t *testing.T, st *store.Store) {
		var now, most atomic.Int32
		long := handler("long", func(context.Context) (any, error) {
			most.Store(max(most.Load(), now.Add(1)))
			time.Sleep(20 * time.Millisecond)
			now.Add(-1)
			return nil, nil
		})
		long.Limit = 1
		q := start(t, st, long, blocking("other", true))
		var ids []string
		for range 5 {
			ids = append(ids, submit(t, q, queue.Submission{Type: "long"}).ID)
		}
		awaitRunning(t, q, submit(t, q, queue.Submission{Type: "other"}).ID)
		for _, id := range ids {
			awaitEnd(t, q, id)
		}
		if most.Load() != 1 {
			t.Errorf("%d ran at once", most.Load())
		}
	})
}

func TestUnknownTypeStaysQueued(t *testing.T) {
	forEachDialect(t, func(t *testing.T, st *store.Store) {
		q := start(t, st, handler("known", func(context.Context) (any, error) { return nil, nil }))
		unknown := submit(t, q, queue.Submission{Type: "unknown"})
		awaitEnd(t, q, submit(t, q, queue.Submission{Type: "known"}).ID)
		if job, err := q.Get(t.Context(), unknown.ID); err != nil || job.State != queue.Queued {
			t.Errorf("%+v %v", job, err)
		}
	})
}

func TestFinishedIsPartOfTheEnd(t *testing.T) {
	forEachDialect(t, func(t *testing.T, st *store.Store) {
		var q *queue.Queue
		h := handler("x", func(context.Context) (any, error) { return 1, nil })
		h.Finished = func(ctx context.Context, job queue.Job) error {
			if !st.InTx(ctx) || job.State != queue.Success {
				return fmt.Errorf("called in state %s", job.State)
			}
			_, _, err := q.Submit(ctx, queue.Submission{Type: "notify", Payload: job.ID})
			return err
		}
		bad := handler("bad", func(context.Context) (any, error) { return 1, nil })
		bad.Finished = func(ctx context.Context, _ queue.Job) error {
			_, _, _ = q.Submit(ctx, queue.Submission{Type: "never"})
			panic("boom")
		}
		q = start(t, st, h, bad)
		job := submit(t, q, queue.Submission{Type: "x"})
		awaitEnd(t, q, job.ID)
		follow, _, err := q.List(t.Context(), queue.Filter{Types: []string{"notify"}}, "", 0)
		if err != nil || len(follow) != 1 || string(follow[0].Payload) != fmt.Sprintf("%q", job.ID) {
			t.Errorf("%+v %v", follow, err)
		}
		if job := awaitEnd(t, q, submit(t, q, queue.Submission{Type: "bad"}).ID); job.State != queue.Success {
			t.Errorf("got %+v", job)
		}
		if never, _, err := q.List(t.Context(), queue.Filter{Types: []string{"never"}}, "", 0); err != nil || len(never) != 0 {
			t.Errorf("%+v %v", never, err)
		}
	})
}

func TestProgressInsideATransaction(t *testing.T) {
	forEachDialect(t, func(t *testing.T, st *store.Store) {
		stop := errors.New("stop")
		q := start(t, st, queue.Handler{Type: "x", Run: func(ctx context.Context, _ *queue.Job, p queue.Progress) (any, error) {
			_ = st.Tx(ctx, "undone", func(ctx context.Context) error { p.Log(ctx, "undone"); return stop })
			return nil, st.Tx(ctx, "kept", func(ctx context.Context) error { p.Log(ctx, "kept"); return nil })
		}})
		job := awaitEnd(t, q, submit(t, q, queue.Submission{Type: "x"}).ID)
		events, err := q.Events(t.Context(), job.ID, 2, 1)
		if err != nil || len(events) != 1 {
			t.Fatalf("%v %v", events, err)
		}
		var data map[string]string
		if err := json.Unmarshal(events[0].Data, &data); err != nil || data["text"] != "kept" {
			t.Errorf("%s %v", events[0].Data, err)
		}
		if diff := cmp.Diff([]string{"queued", "running", "log", "finished"}, eventTypes(t, q, job.ID)); diff != "" {
			t.Error(diff)
		}
	})
}

func TestNewRefuses(t *testing.T) {
	st := testkit.OpenStore(t, testkit.SQLiteConfig(t), queue.Migrations())
	ok := handler("x", func(context.Context) (any, error) { return nil, nil })
	tests := map[string]func(*queue.Config){
		"no store":        func(c *queue.Config) { c.Store = nil },
		"no bus":          func(c *queue.Config) { c.Bus = nil },
		"no run":          func(c *queue.Config) { c.Handlers = []queue.Handler{{Type: "x"}} },
		"twice":           func(c *queue.Config) { c.Handlers = []queue.Handler{ok, ok} },
		"bad cron":        func(c *queue.Config) { c.Schedules = []queue.Schedule{{Name: "a", Type: "x", Cron: "every day"}} },
		"impossible cron": func(c *queue.Config) { c.Schedules = []queue.Schedule{{Name: "a", Type: "x", Cron: "0 0 30 2 *"}} },
		"nameless":        func(c *queue.Config) { c.Schedules = []queue.Schedule{{Type: "x", Cron: "@daily"}} },
	}
	for name, change := range tests {
		t.Run(name, func(t *testing.T) {
			cfg := config(st)
			change(&cfg)
			if _, err := queue.New(cfg); err == nil {
				t.Error("accepted")
			}
		})
	}
	q := start(t, st, ok)
	if err := q.Start(t.Context()); err == nil {
		t.Error("started twice")
	}
}
