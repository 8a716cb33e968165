package queue_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/queue"
	"github.com/patchbay-dev/patchbay/core/store"
)

func existingJob(err error) any {
	if e := fault.As(err); e != nil && e.Code == fault.Conflict {
		return e.Ext["existingJobId"]
	}
	return nil
}

func count(t *testing.T, st *store.Store, table string) (n int64) {
	t.Helper()
	if err := st.DB(t.Context()).Raw("SELECT count(*) FROM " + table).Scan(&n).Error; err != nil {
		t.Fatal(err)
	}
	return n
}

func TestDedup(t *testing.T) {
	forEachDialect(t, func(t *testing.T, st *store.Store) {
		q := build(t, config(st))
		first := submit(t, q, queue.Submission{Type: "x", DedupKey: "k", Locks: []string{"r"}})
		again, reused, err := q.Submit(t.Context(), queue.Submission{Type: "x", DedupKey: "k", Locks: []string{"r"}})
		if err != nil || !reused || again.ID != first.ID {
			t.Fatalf("%+v %v %v", again, reused, err)
		}
		if other := submit(t, q, queue.Submission{Type: "y", DedupKey: "k"}); other.ID == first.ID {
			t.Error("another type is another job")
		}
		if a, b := submit(t, q, queue.Submission{Type: "x"}), submit(t, q, queue.Submission{Type: "x"}); a.ID == b.ID {
			t.Error("no key, no dedup")
		}
		if _, err := q.Cancel(t.Context(), first.ID); err != nil {
			t.Fatal(err)
		}
		if fresh := submit(t, q, queue.Submission{Type: "x", DedupKey: "k", Locks: []string{"r"}}); fresh.ID == first.ID {
			t.Error("a finished job is not reused")
		}
	})
}

func TestLocks(t *testing.T) {
	forEachDialect(t, func(t *testing.T, st *store.Store) {
		q := build(t, config(st))
		holder := submit(t, q, queue.Submission{Type: "x", Locks: []string{"svc/1", "svc/2"}})
		before := count(t, st, "jobs")
		_, _, err := q.Submit(t.Context(), queue.Submission{Type: "y", Locks: []string{"svc/0", "svc/2"}})
		if existingJob(err) != holder.ID {
			t.Fatalf("got %v", err)
		}
		if count(t, st, "jobs") != before || locksHeld(t, st) != 2 {
			t.Error("a refused submission left something")
		}
		jobs, _, err := q.List(t.Context(), queue.Filter{Lock: "svc/1"}, "", 0)
		if err != nil || len(jobs) != 1 || jobs[0].ID != holder.ID {
			t.Errorf("%+v %v", jobs, err)
		}
	})
}

func TestSubmitJoinsTheTransaction(t *testing.T) {
	forEachDialect(t, func(t *testing.T, st *store.Store) {
		q := build(t, config(st))
		stop := errors.New("stop")
		err := st.Tx(t.Context(), "undone", func(ctx context.Context) error {
			if _, _, err := q.Submit(ctx, queue.Submission{Type: "x", Locks: []string{"r"}}); err != nil {
				return err
			}
			return stop
		})
		if !errors.Is(err, stop) || count(t, st, "jobs") != 0 || locksHeld(t, st) != 0 || count(t, st, "job_events") != 0 {
			t.Fatalf("%v: something was left", err)
		}
		holder := submit(t, q, queue.Submission{Type: "x", Locks: []string{"r"}})
		err = st.Tx(t.Context(), "goes on after a conflict", func(ctx context.Context) error {
			if _, _, err := q.Submit(ctx, queue.Submission{Type: "y", Locks: []string{"a", "r"}}); existingJob(err) != holder.ID {
				return fmt.Errorf("want a conflict: %w", err)
			}
			_, _, err := q.Submit(ctx, queue.Submission{Type: "z", Locks: []string{"a"}})
			return err
		})
		if err != nil || count(t, st, "jobs") != 2 {
			t.Fatalf("%v, %d jobs", err, count(t, st, "jobs"))
		}
	})
}

func TestConcurrentSubmissions(t *testing.T) {
	forEachDialect(t, func(t *testing.T, st *store.Store) {
		q := build(t, config(st))
		const n = 16
		var mu sync.Mutex
		made, dedup := map[string]int{}, map[string]int{}
		var wg sync.WaitGroup
		for i := range n {
			wg.Go(func() {
				locks := []string{"a", "b", "c"}
				if i%2 == 0 {
					locks = []string{"c", "b", "a"}
				}
				job, _, err := q.Submit(t.Context(), queue.Submission{Type: "lock", Locks: locks})
				same, _, dedupErr := q.Submit(t.Context(), queue.Submission{Type: "dedup", DedupKey: "k"})
				mu.Lock()
				defer mu.Unlock()
				if id, _ := existingJob(err).(string); id != "" {
					job.ID = id
				} else if err != nil {
					t.Error(err)
				}
				if dedupErr != nil {
					t.Error(dedupErr)
				}
				made[job.ID]++
				dedup[same.ID]++
			})
		}
		wg.Wait()
		if len(made) != 1 || len(dedup) != 1 || count(t, st, "jobs") != 2 {
			t.Errorf("%v %v, %d jobs", made, dedup, count(t, st, "jobs"))
		}
	})
}

func TestSubmitRefuses(t *testing.T) {
	forEachDialect(t, func(t *testing.T, st *store.Store) {
		q := build(t, config(st))
		tests := map[string]queue.Submission{
			"no type":     {},
			"unencodable": {Type: "x", Payload: make(chan int)},
			"huge":        {Type: "x", Payload: strings.Repeat("x", 2<<20)},
		}
		for name, sub := range tests {
			if _, _, err := q.Submit(t.Context(), sub); err == nil {
				t.Errorf("%s: accepted", name)
			}
		}
		if count(t, st, "jobs") != 0 {
			t.Error("something was written")
		}
	})
}

func TestList(t *testing.T) {
	forEachDialect(t, func(t *testing.T, st *store.Store) {
		cfg := config(st)
		now := time.UnixMilli(1_700_000_000_000) // all in one millisecond
		cfg.Now = func() time.Time { return now }
		q := build(t, cfg)
		var want []string
		for i := range 25 {
			job := submit(t, q, queue.Submission{Type: fmt.Sprintf("t%d", i%2), Actor: fmt.Sprintf("a%d", i%5)})
			want = append([]string{job.ID}, want...)
		}
		var got []string
		for cursor, pages := "", 0; ; pages++ {
			jobs, next, err := q.List(t.Context(), queue.Filter{}, cursor, 10)
			if err != nil {
				t.Fatal(err)
			}
			for _, j := range jobs {
				got = append(got, j.ID)
			}
			if pages == 0 {
				submit(t, q, queue.Submission{Type: "newer"})
			}
			if cursor = next; next == "" {
				break
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
		filters := []struct {
			f queue.Filter
			n int
		}{
			{queue.Filter{Types: []string{"t0"}}, 13},
			{queue.Filter{Types: []string{"t0", "t1"}, Actor: "a0"}, 5},
			{queue.Filter{States: []queue.State{queue.Queued, queue.Running}}, 26},
			{queue.Filter{States: []queue.State{queue.Failed}}, 0},
		}
		for _, tt := range filters {
			if jobs, next, err := q.List(t.Context(), tt.f, "", 0); err != nil || next != "" || len(jobs) != tt.n {
				t.Errorf("%+v: %d jobs, %q, %v", tt.f, len(jobs), next, err)
			}
		}
		if _, _, err := q.List(t.Context(), queue.Filter{}, "junk", 0); fault.CodeOf(err) != fault.InvalidArgument {
			t.Errorf("bad cursor: %v", err)
		}
		if _, err := q.Get(t.Context(), "job_none"); fault.CodeOf(err) != fault.NotFound {
			t.Errorf("unknown job: %v", err)
		}
	})
}
