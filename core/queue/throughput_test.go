package queue_test

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"github.com/patchbay-dev/patchbay/core/event"
	"github.com/patchbay-dev/patchbay/core/queue"
	"github.com/patchbay-dev/patchbay/core/store"
)

// submitters is how many goroutines of BenchmarkQueue submit at once.
const submitters = 8

// BenchmarkQueue is the time from the begin of many submissions, by several goroutines, until all jobs have ended. The handler does
// nothing: what is measured is the queue and the database.
func BenchmarkQueue(b *testing.B) {
	benchStores(b, func(b *testing.B, st *store.Store) {
		var open sync.WaitGroup
		q, err := queue.New(queue.Config{Store: st, Bus: event.NewBus(), Ended: func(queue.Job) { open.Done() },
			Handlers: []queue.Handler{handler("nothing", func(context.Context) (any, error) { return nil, nil })}})
		if err != nil {
			b.Fatal(err)
		}
		if err := q.Start(b.Context()); err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() {
			if err := q.Stop(context.Background()); err != nil {
				b.Error(err)
			}
		})
		timeJobs(b, &open, func(i int) error {
			_, _, err := q.Submit(context.Background(), queue.Submission{Type: "nothing", Payload: map[string]int{"i": i}})
			return err
		})
	})
}

// inParallel calls do with each number below n, from as many goroutines as there are submitters.
func inParallel(n int, do func(i int) error) error {
	var all sync.WaitGroup
	failed := make(chan error, submitters)
	for s := range submitters {
		all.Go(func() {
			for i := s; i < n; i += submitters {
				if err := do(i); err != nil {
					failed <- fmt.Errorf("submit job %d: %w", i, err)
					return
				}
			}
		})
	}
	all.Wait()
	close(failed)
	return <-failed
}
