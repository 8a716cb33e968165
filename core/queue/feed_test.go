package queue_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/patchbay-dev/patchbay/core/internal/testing/testkit"
	"github.com/patchbay-dev/patchbay/core/queue"
	"github.com/patchbay-dev/patchbay/core/store"
)

// Many writers at once, some of whose transactions are undone, leave ids without a gap, and readers never see an id
// before a smaller one.
func TestEventIDs(t *testing.T) {
	forEachDialect(t, func(t *testing.T, st *store.Store) {
		q := build(t, config(st))
		undone := errors.New("undone")
		done := make(chan struct{})
		var writers sync.WaitGroup
		for w := range 6 {
			writers.Go(func() {
				for i := range 20 {
					err := st.Tx(context.Background(), "submit", func(ctx context.Context) error {
						_, _, err := q.Submit(ctx, queue.Submission{Type: fmt.Sprintf("t%d", w%2)})
						if err == nil && i%4 == 3 {
							return undone
						}
						return err
					})
					if err != nil && !errors.Is(err, undone) {
						t.Error(err)
					}
				}
			})
		}
		go func() { writers.Wait(); close(done) }()
		var last int64
		for end := false; !end; {
			select {
			case <-done:
				end = true
			default:
			}
			events, err := q.EventsAfter(t.Context(), last, 0, queue.EventFilter{})
			if err != nil {
				t.Fatal(err)
			}
			for _, ev := range events {
				if ev.ID != last+1 || ev.JobType == "" {
					t.Fatalf("got %+v after %d", ev, last)
				}
				last = ev.ID
			}
		}
		if newest, err := q.LastEventID(t.Context()); err != nil || newest != 90 || last != 90 {
			t.Errorf("newest %d, last %d, %v", newest, last, err)
		}
		some, err := q.EventsAfter(t.Context(), 10, 20, queue.EventFilter{Types: []string{"t1", "t9"}})
		if err != nil || len(some) != 20 {
			t.Fatalf("%d events, %v", len(some), err)
		}
		for _, ev := range some {
			if ev.JobType != "t1" || ev.ID <= 10 {
				t.Errorf("got %+v", ev)
			}
		}
	})
}

func followAll(ctx context.Context, q *queue.Queue, after, until int64, slow bool) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	events, err := q.FollowAll(ctx, after)
	if err != nil {
		return err
	}
	for next := after + 1; next <= until; next++ {
		ev, ok := <-events
		if !ok || ev.ID != next {
			return fmt.Errorf("got %+v %v, want %d", ev, ok, next)
		}
		if slow && next%50 == 0 {
			time.Sleep(20 * time.Millisecond) // falls behind, so that the bus drops events
		}
	}
	return nil
}

// Followers that begin at any time and number, some of them slow, see each event once and in order.
func TestFollowAll(t *testing.T) {
	const jobs, lines = 6, 40
	last := int64(jobs * (lines + 3))
	forEachDialect(t, func(t *testing.T, st *store.Store) {
		q := start(t, st, queue.Handler{Type: "talk", Run: func(ctx context.Context, _ *queue.Job, p queue.Progress) (any, error) {
			for i := range lines {
				p.Log(ctx, "line %d", i)
			}
			return nil, nil
		}})
		var wg sync.WaitGroup
		for f := range 20 {
			if f%4 == 0 && f/4 < jobs-1 {
				submit(t, q, queue.Submission{Type: "talk"})
			}
			newest, err := q.LastEventID(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			wg.Go(func() {
				if err := followAll(context.Background(), q, newest*int64(f%3)/2%(newest+1), last, f%5 == 0); err != nil {
					t.Errorf("follower %d: %v", f, err)
				}
			})
		}
		submit(t, q, queue.Submission{Type: "talk"})
		wg.Wait()
		if err := followAll(t.Context(), q, last-3, last, false); err != nil { // the feed begins again
			t.Error(err)
		}
	})
}

func TestFollowAllBeyondTheNewest(t *testing.T) {
	forEachDialect(t, func(t *testing.T, st *store.Store) {
		q := build(t, config(st))
		submit(t, q, queue.Submission{Type: "x"})
		ctx, cancel := context.WithCancel(t.Context())
		events, err := q.FollowAll(ctx, 1000)
		if err != nil {
			t.Fatal(err)
		}
		submit(t, q, queue.Submission{Type: "x"})
		if ev := <-events; ev.ID != 2 || ev.Type != queue.EventQueued {
			t.Errorf("got %+v", ev)
		}
		cancel()
		if _, more := <-events; more {
			t.Error("an ended context ends the channel")
		}
		gone, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := q.FollowAll(gone, 0); err == nil {
			t.Error("followed without a context")
		}
	})
}

// Events of another process come without the bus.
func TestFollowAllSeesOtherProcesses(t *testing.T) {
	testkit.ForEachDialect(t, func(t *testing.T, cfg store.Config) {
		q := build(t, config(testkit.OpenStore(t, cfg, queue.Migrations())))
		events, err := q.FollowAll(t.Context(), 0)
		if err != nil {
			t.Fatal(err)
		}
		cfg.Exclusive = false
		other := build(t, config(testkit.OpenStore(t, cfg, queue.Migrations())))
		id := submit(t, other, queue.Submission{Type: "x"}).ID
		select {
		case ev := <-events:
			if ev.JobID != id || ev.ID != 1 {
				t.Errorf("got %+v", ev)
			}
		case <-time.After(patience):
			t.Fatal("nothing came")
		}
	})
}

// On PostgreSQL a transaction that has written events holds up no other writer, and its events come after those that committed before.
func TestWritersOfEventsDoNotWait(t *testing.T) {
	st := testkit.OpenStore(t, testkit.PostgresConfig(t), queue.Migrations())
	q := build(t, config(st))
	var late, early queue.Job
	err := st.Tx(t.Context(), "submit late", func(ctx context.Context) (err error) {
		if late, _, err = q.Submit(ctx, queue.Submission{Type: "x"}); err != nil {
			return err
		}
		beside, cancel := context.WithTimeout(t.Context(), patience)
		defer cancel()
		if early, _, err = q.Submit(beside, queue.Submission{Type: "x"}); err != nil {
			return err
		}
		if newest, err := q.LastEventID(beside); err != nil || newest != 1 {
			t.Errorf("newest %d, %v", newest, err)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	events, err := q.EventsAfter(t.Context(), 0, 0, queue.EventFilter{})
	if err != nil || len(events) != 2 || events[0].JobID != early.ID || events[1].JobID != late.ID || events[1].ID != 2 {
		t.Errorf("got %+v, %v", events, err)
	}
}
