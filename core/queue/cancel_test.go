package queue_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/internal/testing/testkit"
	"github.com/patchbay-dev/patchbay/core/queue"
	"github.com/patchbay-dev/patchbay/core/store"
)

func TestCancelQueued(t *testing.T) {
	forEachDialect(t, func(t *testing.T, st *store.Store) {
		q := build(t, config(st))
		job := submit(t, q, queue.Submission{Type: "x", Locks: []string{"r"}})
		job, err := q.Cancel(t.Context(), job.ID)
		if err != nil || job.State != queue.Canceled || job.Failure.Reason != queue.ReasonCanceled || locksHeld(t, st) != 0 {
			t.Fatalf("%+v %v", job, err)
		}
		if diff := cmp.Diff([]string{"queued", "finished"}, eventTypes(t, q, job.ID)); diff != "" {
			t.Error(diff)
		}
		if _, err := q.Cancel(t.Context(), job.ID); fault.CodeOf(err) != fault.Conflict || fault.As(err).Ext["state"] != queue.Canceled {
			t.Errorf("a finished job: %v", err)
		}
		if _, err := q.Cancel(t.Context(), "job_none"); fault.CodeOf(err) != fault.NotFound {
			t.Errorf("an unknown job: %v", err)
		}
	})
}

func TestCancelRunning(t *testing.T) {
	forEachDialect(t, func(t *testing.T, st *store.Store) {
		undo := handler("undo", func(ctx context.Context) (any, error) {
			<-ctx.Done()
			return nil, queue.EndRolledBack(fault.New("undone", "Put back as it was."))
		})
		late := handler("late", func(ctx context.Context) (any, error) { <-ctx.Done(); return "done", nil })
		report := queue.Handler{Type: "report", Run: func(ctx context.Context, _ *queue.Job, p queue.Progress) (any, error) {
			<-ctx.Done()
			p.Log(ctx, "cleaning up")
			return nil, context.Cause(ctx)
		}}
		q := start(t, st, blocking("plain", true), undo, late, report)
		tests := []struct {
			kind   string
			state  queue.State
			events []string
		}{
			{"plain", queue.Canceled, []string{"queued", "running", "cancel_requested", "finished"}},
			{"undo", queue.RolledBack, []string{"queued", "running", "cancel_requested", "finished"}},
			{"late", queue.Success, []string{"queued", "running", "cancel_requested", "finished"}},
			{"report", queue.Canceled, []string{"queued", "running", "cancel_requested", "log", "finished"}},
		}
		for _, tt := range tests {
			t.Run(tt.kind, func(t *testing.T) {
				id := submit(t, q, queue.Submission{Type: tt.kind, Locks: []string{"r"}}).ID
				awaitRunning(t, q, id)
				for range 2 {
					if job, err := q.Cancel(t.Context(), id); err == nil && !job.CancelRequested && !job.State.Final() {
						t.Errorf("%+v", job)
					} else if err != nil && fault.CodeOf(err) != fault.Conflict {
						t.Error(err)
					}
				}
				if job := awaitEnd(t, q, id); job.State != tt.state {
					t.Errorf("state %s, want %s", job.State, tt.state)
				}
				if diff := cmp.Diff(tt.events, eventTypes(t, q, id)); diff != "" {
					t.Error(diff)
				}
				if locksHeld(t, st) != 0 {
					t.Error("the lock is left")
				}
			})
		}
	})
}

func TestCancelUndoneWithItsTransaction(t *testing.T) {
	forEachDialect(t, func(t *testing.T, st *store.Store) {
		q := start(t, st, blocking("x", true))
		id := submit(t, q, queue.Submission{Type: "x"}).ID
		awaitRunning(t, q, id)
		stop := errors.New("stop")
		err := st.Tx(t.Context(), "undone", func(ctx context.Context) error {
			if _, err := q.Cancel(ctx, id); err != nil {
				return err
			}
			return stop
		})
		if job, getErr := q.Get(t.Context(), id); !errors.Is(err, stop) || getErr != nil || job.CancelRequested || job.State != queue.Running {
			t.Fatalf("%+v %v %v", job, err, getErr)
		}
	})
}

// A command beside the core cancels through the database alone.
func TestCancelByAnotherProcess(t *testing.T) {
	testkit.ForEachDialect(t, func(t *testing.T, cfg store.Config) {
		st := testkit.OpenStore(t, cfg, queue.Migrations())
		q := start(t, st, blocking("x", false))
		id := submit(t, q, queue.Submission{Type: "x"}).ID
		awaitRunning(t, q, id)
		cfg.Exclusive = false
		other := build(t, config(testkit.OpenStore(t, cfg, queue.Migrations())))
		if _, err := other.Cancel(t.Context(), id); err != nil {
			t.Fatal(err)
		}
		if job := awaitEnd(t, q, id); job.State != queue.Canceled {
			t.Errorf("got %+v", job)
		}
	})
}

func TestCanceledJobIsNotRetried(t *testing.T) {
	forEachDialect(t, func(t *testing.T, st *store.Store) {
		h := handler("x", func(ctx context.Context) (any, error) { <-ctx.Done(); return nil, queue.Temporary(ctx.Err()) })
		h.MaxAttempts = 5
		q := start(t, st, h)
		id := submit(t, q, queue.Submission{Type: "x"}).ID
		awaitRunning(t, q, id)
		if _, err := q.Cancel(t.Context(), id); err != nil {
			t.Fatal(err)
		}
		if job := awaitEnd(t, q, id); job.State != queue.Canceled || job.Attempt != 1 {
			t.Errorf("got %+v", job)
		}
	})
}

func TestStop(t *testing.T) {
	forEachDialect(t, func(t *testing.T, st *store.Store) {
		release := make(chan struct{})
		quick := handler("quick", func(context.Context) (any, error) { <-release; return nil, nil })
		cfg := config(st)
		cfg.Grace = 300 * time.Millisecond
		cfg.Handlers = []queue.Handler{blocking("safe", true), blocking("unsafe", false), quick}
		q := build(t, cfg)
		if err := q.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		ids := map[string]string{}
		for _, kind := range []string{"safe", "unsafe", "quick"} {
			ids[kind] = submit(t, q, queue.Submission{Type: kind, Locks: []string{kind}}).ID
			awaitRunning(t, q, ids[kind])
		}
		waiting := submit(t, q, queue.Submission{Type: "quick"}).ID
		time.AfterFunc(50*time.Millisecond, func() { close(release) })
		if err := q.Stop(t.Context()); err != nil {
			t.Fatal(err)
		}
		want := map[string]queue.State{ids["safe"]: queue.Queued, ids["unsafe"]: queue.Failed, ids["quick"]: queue.Success, waiting: queue.Queued}
		for id, state := range want {
			if job, err := q.Get(t.Context(), id); err != nil || job.State != state {
				t.Errorf("%s is %s, want %s (%v)", job.Type, job.State, state, err)
			}
		}
		if job, _ := q.Get(t.Context(), ids["unsafe"]); job.Failure == nil || job.Failure.Reason != queue.ReasonInterrupted {
			t.Errorf("unsafe: %+v", job)
		}
		if job, _ := q.Get(t.Context(), ids["safe"]); job.Attempt != 0 || locksHeld(t, st) != 1 {
			t.Errorf("safe: %+v, %d locks", job, locksHeld(t, st))
		}
		if err := q.Stop(t.Context()); err != nil {
			t.Errorf("stop again: %v", err)
		}
	})
}

func TestStopNamesWhatDoesNotEnd(t *testing.T) {
	st := testkit.OpenStore(t, testkit.SQLiteConfig(t), queue.Migrations())
	release := make(chan struct{})
	cfg := config(st)
	cfg.Handlers = []queue.Handler{handler("deaf", func(context.Context) (any, error) { <-release; return nil, nil })}
	q := build(t, cfg)
	if err := q.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	id := submit(t, q, queue.Submission{Type: "deaf"}).ID
	awaitRunning(t, q, id)
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if err := q.Stop(ctx); err == nil || !strings.Contains(err.Error(), id) {
		t.Errorf("got %v", err)
	}
	close(release)
	awaitEnd(t, q, id)
	if err := q.Stop(t.Context()); err != nil {
		t.Error(err)
	}
}
