package queue_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/internal/testing/testkit"
	"github.com/patchbay-dev/patchbay/core/queue"
	"github.com/patchbay-dev/patchbay/core/store"
)

// Followers that begin before, during and after a job, at any number, some of them slow, see each event once and in
// order, to the last.
func TestFollowWithoutGapOrRepeat(t *testing.T) {
	const reports = 150
	forEachDialect(t, func(t *testing.T, st *store.Store) {
		q := start(t, st, queue.Handler{Type: "talk", Run: func(ctx context.Context, _ *queue.Job, p queue.Progress) (any, error) {
			for i := range reports {
				p.Log(ctx, "line %d", i)
			}
			return nil, nil
		}})
		id := submit(t, q, queue.Submission{Type: "talk"}).ID
		last := int64(reports + 3) // queued, running, the lines, finished
		var wg sync.WaitGroup
		for f := range 12 {
			wg.Go(func() {
				after := int64(f * 13 % 60)
				testkit.Eventually(t, patience, func() bool {
					job, err := q.Get(context.Background(), id)
					return err != nil || job.LastSeq >= int64(f*10) || job.State.Final()
				}, "the job gets on")
				if err := follow(q, id, after, last, f%3 == 0); err != nil {
					t.Errorf("follower %d: %v", f, err)
				}
			})
		}
		wg.Wait()
	})
}

func follow(q *queue.Queue, id string, after, last int64, slow bool) error {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	events, err := q.Follow(ctx, id, after)
	if err != nil {
		return err
	}
	next := after + 1
	for ev := range events {
		if ev.Seq != next {
			return fmt.Errorf("got %d, want %d", ev.Seq, next)
		}
		if (ev.Type == queue.EventFinished) != (ev.Seq == last) {
			return fmt.Errorf("%d is %s", ev.Seq, ev.Type)
		}
		next++
		if slow && next%40 == 0 {
			time.Sleep(30 * time.Millisecond) // falls behind, so that the bus drops events
		}
	}
	if next != last+1 {
		return fmt.Errorf("ended before %d of %d: %v", next, last, ctx.Err())
	}
	return nil
}

func TestFollowEnds(t *testing.T) {
	forEachDialect(t, func(t *testing.T, st *store.Store) {
		q := build(t, config(st))
		if _, err := q.Follow(t.Context(), "job_none", 0); fault.CodeOf(err) != fault.NotFound {
			t.Errorf("unknown job: %v", err)
		}
		id := submit(t, q, queue.Submission{Type: "x"}).ID
		ctx, cancel := context.WithCancel(t.Context())
		left, err := q.Follow(ctx, id, 0)
		if err != nil {
			t.Fatal(err)
		}
		<-left
		cancel()
		if _, more := <-left; more {
			t.Error("an ended context ends the channel")
		}
		if _, err := q.Cancel(t.Context(), id); err != nil {
			t.Fatal(err)
		}
		for after := range int64(5) {
			events, err := q.Follow(t.Context(), id, after)
			if err != nil {
				t.Fatal(err)
			}
			n := int64(0)
			for range events {
				n++
			}
			if n != max(0, 2-after) {
				t.Errorf("after %d: %d events", after, n)
			}
		}
	})
}

// Events of another process come without the bus.
func TestFollowSeesOtherProcesses(t *testing.T) {
	testkit.ForEachDialect(t, func(t *testing.T, cfg store.Config) {
		q := build(t, config(testkit.OpenStore(t, cfg, queue.Migrations())))
		id := submit(t, q, queue.Submission{Type: "x"}).ID
		events, err := q.Follow(t.Context(), id, 1)
		if err != nil {
			t.Fatal(err)
		}
		cfg.Exclusive = false
		other := build(t, config(testkit.OpenStore(t, cfg, queue.Migrations())))
		if _, err := other.Cancel(t.Context(), id); err != nil {
			t.Fatal(err)
		}
		select {
		case ev := <-events:
			if ev.Type != queue.EventFinished {
				t.Errorf("got %+v", ev)
			}
		case <-time.After(patience):
			t.Fatal("nothing came")
		}
	})
}
