package queue_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"gorm.io/gorm"

	"github.com/patchbay-dev/patchbay/core/internal/testing/testkit"
	"github.com/patchbay-dev/patchbay/core/queue"
	"github.com/patchbay-dev/patchbay/core/store"
)

// clock is a clock that stands until it is moved.
type clock struct{ at time.Time }

func (c *clock) now() time.Time { return c.at }

func scheduled(t *testing.T, st *store.Store, c *clock, spec string) *queue.Queue {
	t.Helper()
	cfg := config(st)
	cfg.Now = c.now
	cfg.Schedules = []queue.Schedule{{Name: "tidy", Cron: spec, Type: "x", Payload: 7, Locks: []string{"r"}}}
	q := build(t, cfg)
	if err := q.InitSchedules(t.Context()); err != nil {
		t.Fatal(err)
	}
	return q
}

func TestSchedule(t *testing.T) {
	forEachDialect(t, func(t *testing.T, st *store.Store) {
		c := &clock{time.Date(2026, 1, 1, 0, 30, 0, 0, time.UTC)}
		q := scheduled(t, st, c, "0 * * * *")
		step := func(to time.Time, want int64, what string) {
			t.Helper()
			c.at = to
			q.FireDue(t.Context())
			if n := count(t, st, "jobs"); n != want {
				t.Fatalf("%s: %d jobs, want %d", what, n, want)
			}
		}
		hour := func(h int) time.Time { return time.Date(2026, 1, 1, h, 0, 0, 0, time.UTC) }
		step(hour(1).Add(-time.Second), 0, "not due")
		step(hour(1), 1, "due")
		step(hour(1), 1, "once only")
		step(hour(2), 1, "the former is unfinished")
		cancelAll(t, q)
		step(hour(2), 1, "the second run was left out")
		step(hour(3), 2, "due again")
		cancelAll(t, q)

		c.at = hour(9).Add(time.Minute) // six runs were missed while no process was there
		q = scheduled(t, st, c, "0 * * * *")
		step(c.at, 3, "missed runs are one")
		step(hour(10).Add(-time.Second), 3, "and the next is in its time")
		cancelAll(t, q)

		holder := submit(t, q, queue.Submission{Type: "y", Locks: []string{"r"}})
		step(hour(10), 4, "left out while a lock is held")
		if _, err := q.Cancel(t.Context(), holder.ID); err != nil {
			t.Fatal(err)
		}
		step(hour(11), 5, "the next run")
		cancelAll(t, q)

		q = scheduled(t, st, c, "30 * * * *") // a changed schedule counts from now
		step(hour(11).Add(29*time.Minute), 5, "changed, not due")
		step(hour(11).Add(30*time.Minute), 6, "changed, due")
	})
}

func cancelAll(t *testing.T, q *queue.Queue) {
	t.Helper()
	jobs, _, err := q.List(t.Context(), queue.Filter{States: []queue.State{queue.Queued}}, "", 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, j := range jobs {
		if _, err := q.Cancel(t.Context(), j.ID); err != nil {
			t.Fatal(err)
		}
	}
}

// A moment of a wrong clock leaves times years ahead: in the database, and in the process that runs.
func TestScheduleAfterAWrongClock(t *testing.T) {
	forEachDialect(t, func(t *testing.T, st *store.Store) {
		right := time.Date(2026, 1, 1, 0, 30, 0, 0, time.UTC)
		c := &clock{right}
		q := scheduled(t, st, c, "0 * * * *")
		due := func() time.Time {
			t.Helper()
			var next []int64
			if err := st.DB(t.Context()).Raw("SELECT next_at FROM job_schedules").Scan(&next).Error; err != nil || len(next) != 1 {
				t.Fatal(next, err)
			}
			return store.FromMillis(next[0])
		}
		c.at = right.AddDate(10, 0, 0)
		q.FireDue(t.Context())
		if got := due(); got.Year() != 2036 {
			t.Fatalf("due %s: the clock was not wrong", got)
		}
		c.at = right
		q.FireDue(t.Context())
		if got, want := due(), right.Add(30*time.Minute); !got.Equal(want) {
			t.Errorf("the same process: due %s, want %s", got, want)
		}
		cancelAll(t, q)
		if err := st.Tx(t.Context(), "wrong clock", func(ctx context.Context) error {
			return st.Writer(ctx).Exec("UPDATE job_schedules SET next_at = ?", store.Millis(right.AddDate(10, 0, 0))).Error
		}); err != nil {
			t.Fatal(err)
		}
		q = scheduled(t, st, c, "0 * * * *")
		if got, want := due(), right.Add(30*time.Minute); !got.Equal(want) {
			t.Errorf("the next process: due %s, want %s", got, want)
		}
		before := count(t, st, "jobs")
		c.at = right.Add(30 * time.Minute)
		q.FireDue(t.Context())
		if n := count(t, st, "jobs"); n != before+1 {
			t.Errorf("%d jobs, want %d", n, before+1)
		}
	})
}

func TestTwoProcessesFireOnce(t *testing.T) {
	forEachDialect(t, func(t *testing.T, st *store.Store) {
		c := &clock{time.Date(2026, 1, 1, 0, 30, 0, 0, time.UTC)}
		first, second := scheduled(t, st, c, "@hourly"), scheduled(t, st, c, "@hourly")
		c.at = c.at.Add(time.Hour)
		first.FireDue(t.Context())
		cancelAll(t, first)
		second.FireDue(t.Context())
		if n := count(t, st, "jobs"); n != 1 {
			t.Errorf("%d jobs", n)
		}
	})
}

// TestNoSchedules: a queue without schedules keeps one that is overdue, and submits nothing.
func TestNoSchedules(t *testing.T) {
	forEachDialect(t, func(t *testing.T, st *store.Store) {
		cfg := config(st)
		cfg.NoSchedules = true
		cfg.Handlers = []queue.Handler{handler("x", func(context.Context) (any, error) { return nil, nil })}
		cfg.Schedules = []queue.Schedule{{Name: "often", Cron: "@every 1s", Type: "x"}}
		q := build(t, cfg)
		testkit.Must(t, q.InitSchedules(t.Context()))
		testkit.Must(t, st.Tx(t.Context(), "make it overdue", func(ctx context.Context) error {
			return st.Writer(ctx).Exec("UPDATE job_schedules SET next_at = 1").Error
		}))
		run(t, q)
		awaitEnd(t, q, submit(t, q, queue.Submission{Type: "x"}).ID)
		if n := count(t, st, "jobs"); n != 1 {
			t.Errorf("%d jobs, want the one that was submitted", n)
		}
	})
}

func TestScheduleRuns(t *testing.T) {
	forEachDialect(t, func(t *testing.T, st *store.Store) {
		ran := make(chan struct{}, 10)
		cfg := config(st)
		cfg.Handlers = []queue.Handler{handler("x", func(context.Context) (any, error) { ran <- struct{}{}; return nil, nil })}
		cfg.Schedules = []queue.Schedule{{Name: "often", Cron: "@every 1s", Type: "x"}}
		run(t, build(t, cfg))
		for range 2 {
			select {
			case <-ran:
			case <-time.After(patience):
				t.Fatal("it did not run")
			}
		}
	})
}

func TestRetention(t *testing.T) {
	forEachDialect(t, func(t *testing.T, st *store.Store) {
		c := &clock{time.Now()}
		cfg := config(st)
		cfg.Now = c.now
		q := build(t, cfg)
		var old string
		for range 450 { // more than two slices
			old = submit(t, q, queue.Submission{Type: "x"}).ID
		}
		for more := true; more; {
			cancelAll(t, q)
			jobs, _, err := q.List(t.Context(), queue.Filter{States: []queue.State{queue.Queued}}, "", 1)
			more = err == nil && len(jobs) > 0
		}
		waiting := submit(t, q, queue.Submission{Type: "x"}).ID
		c.at = c.at.Add(30*24*time.Hour - time.Minute)
		kept := submit(t, q, queue.Submission{Type: "x"}).ID
		if _, err := q.Cancel(t.Context(), kept); err != nil {
			t.Fatal(err)
		}
		if err := q.Clean(t.Context()); err != nil || count(t, st, "jobs") != 452 {
			t.Fatalf("%v, %d jobs", err, count(t, st, "jobs"))
		}
		c.at = c.at.Add(2 * time.Minute)
		if err := q.Clean(t.Context()); err != nil || count(t, st, "jobs") != 2 || count(t, st, "job_events") != 3 {
			t.Fatalf("%v, %d jobs, %d events", err, count(t, st, "jobs"), count(t, st, "job_events"))
		}
		for id, there := range map[string]bool{old: false, waiting: true, kept: true} {
			if _, err := q.Get(t.Context(), id); (err == nil) != there {
				t.Errorf("%s: %v", id, err)
			}
		}
	})
}

// The statements that run often, or on tables that grow, use an index in both dialects.
func TestPlans(t *testing.T) {
	forEachDialect(t, func(t *testing.T, st *store.Store) {
		q := build(t, config(st))
		for _, s := range q.Statements() {
			// The tables are empty, so that a plan as for many rows must be asked for.
			made := st.DB(t.Context()).Session(&gorm.Session{DryRun: true}).Exec(s.SQL, s.Args...).Statement
			plan := testkit.Explain(t, st, testkit.Statement{SQL: made.SQL.String(), Vars: made.Vars}, "seqscan", "bitmapscan", "sort",
				"incremental_sort")
			bad := []string{"Seq Scan", "SCAN jobs\n", "SCAN job_events", "SCAN job_locks"}
			if !s.Sorts {
				bad = append(bad, "Sort", "TEMP B-TREE FOR ORDER")
			}
			for _, words := range bad {
				if strings.Contains(plan, words) {
					t.Errorf("%s: %q in\n%s", s.Name, words, plan)
				}
			}
			if low := strings.ToLower(plan); !strings.Contains(low, "index") && !strings.Contains(low, "search") {
				t.Errorf("%s uses no index:\n%s", s.Name, plan)
			}
		}
	})
}
