package queue_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/patchbay-dev/patchbay/core/event"
	"github.com/patchbay-dev/patchbay/core/internal/testing/testkit"
	"github.com/patchbay-dev/patchbay/core/queue"
	"github.com/patchbay-dev/patchbay/core/store"
)

// envHelper makes the test binary a core that runs jobs and waits to be killed; it holds where the database is.
const envHelper = "PATCHBAY_QUEUE_HELPER"

// place is where a helper process finds the database.
type place struct {
	Dialect   store.Dialect
	Path, URL string
}

// helperProcess says "ready" when both jobs run, and then waits for its end.
func helperProcess() {
	if err := helper(); err != nil {
		fmt.Println("error:", err)
		os.Exit(1)
	}
	time.Sleep(time.Minute)
}

func helper() error {
	var at place
	if err := json.Unmarshal([]byte(os.Getenv(envHelper)), &at); err != nil {
		return err
	}
	ctx := context.Background()
	st, err := store.Open(ctx, store.Config{Dialect: at.Dialect, Path: at.Path, URL: at.URL, Exclusive: true})
	if err != nil {
		return err
	}
	begun := make(chan struct{}, 2)
	handlers := []queue.Handler{blocking("safe", true), blocking("unsafe", false)}
	for i := range handlers {
		inner := handlers[i].Run
		handlers[i].Run = func(ctx context.Context, job *queue.Job, p queue.Progress) (any, error) {
			p.Step(ctx, "in the middle")
			begun <- struct{}{}
			return inner(ctx, job, p)
		}
	}
	q, err := queue.New(queue.Config{Store: st, Bus: event.NewBus(), Handlers: handlers})
	if err != nil {
		return err
	}
	if err := q.Start(ctx); err != nil {
		return err
	}
	<-begun
	<-begun
	fmt.Println("ready")
	return nil
}

// kill runs a helper until it is in the middle of the jobs and kills it with a signal that cannot be caught.
func kill(t *testing.T, cfg store.Config) {
	t.Helper()
	text, err := json.Marshal(place{cfg.Dialect, cfg.Path, cfg.URL})
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), envHelper+"="+string(text))
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if killErr := cmd.Process.Kill(); killErr != nil {
		t.Fatal(killErr)
	}
	_ = cmd.Wait()
	if err != nil || strings.TrimSpace(line) != "ready" {
		t.Fatalf("helper: %q %v", line, err)
	}
}

func TestKilledProcess(t *testing.T) {
	testkit.ForEachDialect(t, func(t *testing.T, cfg store.Config) {
		beside := cfg
		beside.Exclusive = false
		front := build(t, config(testkit.OpenStore(t, beside, queue.Migrations())))
		safe := submit(t, front, queue.Submission{Type: "safe", Locks: []string{"safe"}}).ID
		unsafe := submit(t, front, queue.Submission{Type: "unsafe", Locks: []string{"unsafe"}}).ID
		kill(t, cfg)
		for _, id := range []string{safe, unsafe} {
			if job, err := front.Get(t.Context(), id); err != nil || job.State != queue.Running || job.Step != "in the middle" {
				t.Fatalf("%+v %v", job, err)
			}
		}

		var st *store.Store
		testkit.Eventually(t, patience, func() bool {
			opened, err := store.Open(context.Background(), cfg)
			st = opened
			return err == nil
		}, "the lock of the killed process is free")
		t.Cleanup(func() { _ = st.Close() })
		done := func(context.Context) (any, error) { return "done", nil }
		safeHandler := handler("safe", done)
		safeHandler.Safe = true
		q := start(t, st, safeHandler, handler("unsafe", done))
		if job := awaitEnd(t, q, safe); job.State != queue.Success || job.Attempt != 1 {
			t.Errorf("safe: %+v", job)
		}
		if diff := cmp.Diff([]string{"queued", "running", "step", "requeued", "running", "finished"}, eventTypes(t, q, safe)); diff != "" {
			t.Error(diff)
		}
		if job := awaitEnd(t, q, unsafe); job.State != queue.Failed || job.Failure.Reason != queue.ReasonInterrupted {
			t.Errorf("unsafe: %+v", job)
		}
		if diff := cmp.Diff([]string{"queued", "running", "step", "finished"}, eventTypes(t, q, unsafe)); diff != "" {
			t.Error(diff)
		}
		if n := locksHeld(t, st); n != 0 {
			t.Errorf("%d locks are left", n)
		}
	})
}

// orphan makes a job look as if a process had it that died some time ago.
func orphan(t *testing.T, st *store.Store, id string, recoveries, cancel int) {
	t.Helper()
	err := st.Tx(t.Context(), "orphan", func(ctx context.Context) error {
		return st.Writer(ctx).Exec(`UPDATE jobs SET state = 'running', owner = 'dead', heartbeat_at = 1, attempt = 1, claims = 1,
			recoveries = ?, cancel_requested = ? WHERE id = ?`, recoveries, cancel, id).Error
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestRecovery(t *testing.T) {
	tests := []struct {
		name               string
		kind               string
		recoveries, cancel int
		state              queue.State
	}{
		{"safe", "safe", 0, 0, queue.Queued},
		{"safe but kills the process", "safe", 3, 0, queue.Failed},
		{"unsafe", "unsafe", 0, 0, queue.Failed},
		{"no handler", "unknown", 0, 0, queue.Failed},
		{"canceled meanwhile", "safe", 0, 1, queue.Canceled},
	}
	forEachDialect(t, func(t *testing.T, st *store.Store) {
		cfg := config(st)
		cfg.Handlers = []queue.Handler{blocking("safe", true), blocking("unsafe", false)}
		q := build(t, cfg)
		for _, sole := range []bool{true, false} {
			for _, tt := range tests {
				t.Run(fmt.Sprintf("%s sole %v", tt.name, sole), func(t *testing.T) {
					id := submit(t, q, queue.Submission{Type: tt.kind, Locks: []string{tt.name}}).ID
					orphan(t, st, id, tt.recoveries, tt.cancel)
					if err := q.Recover(t.Context(), sole); err != nil {
						t.Fatal(err)
					}
					job, err := q.Get(t.Context(), id)
					if tt.kind == "unknown" && !sole { // left to a process that has the handler
						if err != nil || job.State != queue.Running {
							t.Errorf("%+v %v", job, err)
						}
						testkit.Must(t, q.Recover(t.Context(), true))
						return
					}
					if err != nil || job.State != tt.state {
						t.Errorf("%+v %v", job, err)
					}
					if job.State == queue.Failed && job.Failure.Reason != queue.ReasonInterrupted {
						t.Errorf("%+v", job.Failure)
					}
					if told := slices.Contains(eventTypes(t, q, id), queue.EventLog); told != (tt.recoveries == 3) {
						t.Errorf("that it is given up is told: %v", told)
					}
					if !job.State.Final() {
						if _, err := q.Cancel(t.Context(), id); err != nil {
							t.Error(err)
						}
					}
					if locksHeld(t, st) != 0 {
						t.Error("the lock is left")
					}
				})
			}
		}
	})
}

// While the queue runs, it finds what another process left, and leaves alone what another one still confirms.
func TestRecoveryWhileRunning(t *testing.T) {
	testkit.ForEachDialect(t, func(t *testing.T, cfg store.Config) {
		cfg.Exclusive = false
		st := testkit.OpenStore(t, cfg, queue.Migrations())
		q := start(t, st, blocking("long", true), handler("short", func(context.Context) (any, error) { return nil, nil }))
		long := submit(t, q, queue.Submission{Type: "long"}).ID
		awaitRunning(t, q, long)
		other := start(t, st, blocking("long", true), blocking("unsafe", false))
		late := submit(t, other, queue.Submission{Type: "unsafe", RunAt: time.Now().Add(time.Hour)}).ID
		orphan(t, st, late, 0, 0)
		if job := awaitEnd(t, other, late); job.Failure.Reason != queue.ReasonInterrupted {
			t.Errorf("got %+v", job)
		}
		if job, err := q.Get(t.Context(), long); err != nil || job.State != queue.Running || job.Attempt != 1 {
			t.Errorf("%+v %v", job, err)
		}
	})
}

// A worker whose job was given away is told so, and what it says afterwards is not heard.
func TestLostJob(t *testing.T) {
	forEachDialect(t, func(t *testing.T, st *store.Store) {
		causes := make(chan error, 1)
		q := start(t, st, queue.Handler{Type: "x", Run: func(ctx context.Context, _ *queue.Job, p queue.Progress) (any, error) {
			<-ctx.Done()
			causes <- context.Cause(ctx)
			p.Log(ctx, "I am still here")
			return "mine", nil
		}})
		id := submit(t, q, queue.Submission{Type: "x"}).ID
		awaitRunning(t, q, id)
		err := st.Tx(t.Context(), "take away", func(ctx context.Context) error {
			return st.Writer(ctx).Exec(`UPDATE jobs SET owner = 'other', claims = claims + 1, heartbeat_at = 9000000000000 WHERE id = ?`, id).Error
		})
		if err != nil {
			t.Fatal(err)
		}
		if cause := <-causes; cause != queue.ErrLost {
			t.Errorf("got %v", cause)
		}
		if err := q.Stop(t.Context()); err != nil {
			t.Fatal(err)
		}
		if job, err := q.Get(t.Context(), id); err != nil || job.State != queue.Running || job.Result != nil {
			t.Errorf("%+v %v", job, err)
		}
		if diff := cmp.Diff([]string{"queued", "running"}, eventTypes(t, q, id)); diff != "" {
			t.Error(diff)
		}
	})
}

// A process whose own clock is wrong takes no job from one that confirms it.
func TestRecoveryByTheDatabasesClock(t *testing.T) {
	testkit.ForEachDialect(t, func(t *testing.T, cfg store.Config) {
		cfg.Exclusive = false
		st := testkit.OpenStore(t, cfg, queue.Migrations())
		q := start(t, st, blocking("long", true))
		id := submit(t, q, queue.Submission{Type: "long"}).ID
		awaitRunning(t, q, id)
		for _, wrong := range []time.Duration{time.Hour, -time.Hour} {
			other := config(st)
			other.Handlers = []queue.Handler{blocking("long", true)}
			other.Now = func() time.Time { return time.Now().Add(wrong) }
			other.Heartbeat = 15 * time.Second
			if err := build(t, other).Recover(t.Context(), false); err != nil {
				t.Fatal(err)
			}
			if job, err := q.Get(t.Context(), id); err != nil || job.State != queue.Running || job.Attempt != 1 {
				t.Errorf("wrong by %s: %+v %v", wrong, job, err)
			}
		}
	})
}
