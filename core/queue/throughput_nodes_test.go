package queue_test

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivermigrate"

	"github.com/patchbay-dev/patchbay/core/event"
	"github.com/patchbay-dev/patchbay/core/internal/testing/testkit"
	"github.com/patchbay-dev/patchbay/core/queue"
)

// BenchmarkQueueNodes is BenchmarkQueue with one and with three nodes on one database, beside River alone with as many clients: what a
// ticket costs is the difference.
func BenchmarkQueueNodes(b *testing.B) {
	for _, nodes := range []int{1, 3} {
		b.Run(fmt.Sprintf("river-%d", nodes), func(b *testing.B) { benchRiver(b, nodes) })
		b.Run(fmt.Sprintf("queue-%d", nodes), func(b *testing.B) { benchNodes(b, nodes) })
	}
}

// benchNodes submits at all nodes in turn.
func benchNodes(b *testing.B, nodes int) {
	var open sync.WaitGroup
	url := testkit.Postgres(b)
	queues := make([]*queue.Queue, nodes)
	for i := range queues {
		st := testkit.SharedStore(b, url, queue.Migrations())
		q, err := queue.New(queue.Config{Store: st, Bus: event.NewBus(), Cluster: testkit.OpenCluster(b, st, fmt.Sprintf("core-%d", i), true),
			Ended:    func(queue.Job) { open.Done() },
			Handlers: []queue.Handler{handler("nothing", func(context.Context) (any, error) { return nil, nil })}})
		if err == nil {
			err = q.Start(b.Context())
		}
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() {
			if err := q.Stop(context.Background()); err != nil {
				b.Error(err)
			}
		})
		queues[i] = q
	}
	timeJobs(b, &open, func(i int) error {
		_, _, err := queues[i%nodes].Submit(context.Background(), queue.Submission{Type: "nothing", Payload: map[string]int{"i": i}})
		return err
	})
}

// timeJobs does many submissions and waits until as many jobs have ended.
func timeJobs(b *testing.B, open *sync.WaitGroup, submit func(i int) error) {
	b.Helper()
	open.Add(b.N)
	b.ResetTimer()
	begun := time.Now()
	if err := inParallel(b.N, submit); err != nil {
		b.Fatal(err)
	}
	open.Wait()
	b.ReportMetric(float64(b.N)/time.Since(begun).Seconds(), "jobs/s")
}

// riverArgs is a job of River that does nothing.
type riverArgs struct {
	I int `json:"i"`
}

func (riverArgs) Kind() string { return "nothing" }

// benchRiver is benchNodes with River and nothing else.
func benchRiver(b *testing.B, nodes int) {
	var open sync.WaitGroup
	ctx, url := context.Background(), testkit.Postgres(b)
	var all []func(i int) error
	for i := range nodes {
		pool, err := pgxpool.New(ctx, url)
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(pool.Close)
		driver := riverpgxv5.New(pool)
		if i == 0 {
			migrator, err := rivermigrate.New(driver, nil)
			if err == nil {
				_, err = migrator.Migrate(ctx, rivermigrate.DirectionUp, nil)
			}
			if err != nil {
				b.Fatal(err)
			}
		}
		workers := river.NewWorkers()
		river.AddWorker(workers, river.WorkFunc(func(context.Context, *river.Job[riverArgs]) error { open.Done(); return nil }))
		client, err := river.NewClient(driver, &river.Config{Logger: slog.New(slog.DiscardHandler), Workers: workers, MaxAttempts: 1,
			Queues: map[string]river.QueueConfig{river.QueueDefault: {MaxWorkers: 16}}, FetchCooldown: 5 * time.Millisecond})
		if err == nil {
			err = client.Start(ctx)
		}
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() { _ = client.Stop(ctx) })
		all = append(all, func(i int) error { _, err := client.Insert(ctx, riverArgs{i}, nil); return err })
	}
	timeJobs(b, &open, func(i int) error { return all[i%nodes](i) })
}
