package queue_test

import (
	"context"
	"testing"

	"github.com/patchbay-dev/patchbay/core/internal/testing/testkit"
	"github.com/patchbay-dev/patchbay/core/queue"
	"github.com/patchbay-dev/patchbay/core/store"
)

// holdTx is where a transaction of these tests stops.
const holdTx = "SELECT pg_advisory_xact_lock(1)"

// meeting is a queue on PostgreSQL with one queued job, which transactions meet at.
type meeting struct {
	*queue.Queue
	db    store.Config
	store *store.Store
	sub   queue.Submission
	job   queue.Job
}

// meetJob submits the job of a meeting.
func meetJob(t *testing.T) meeting {
	t.Helper()
	m := meeting{db: testkit.PostgresConfig(t), sub: queue.Submission{Type: "work", DedupKey: "k"}}
	m.store = testkit.OpenStore(t, m.db, queue.Migrations())
	cfg := config(m.store)
	cfg.Handlers = []queue.Handler{blocking("work", true)}
	m.Queue = build(t, cfg)
	m.job = submit(t, m.Queue, m.sub)
	return m
}

// TestJobThatIsSubmittedAgainBeginsAfterTheCommit: a queued job that a transaction counts on sees what the transaction has written. A
// ticket of it waits meanwhile, and is not lost.
func TestJobThatIsSubmittedAgainBeginsAfterTheCommit(t *testing.T) {
	m := meetJob(t)
	first, second := testkit.Overlap(t, m.db, holdTx,
		func() error {
			return m.store.Tx(t.Context(), "count on a job", func(ctx context.Context) error {
				job, reused, err := m.Submit(ctx, m.sub)
				if err != nil || !reused || job.ID != m.job.ID {
					t.Errorf("got %+v, %v, %v", job, reused, err)
				}
				return m.store.Writer(ctx).Exec(holdTx).Error
			})
		},
		func() error {
			begun, locked, err := m.BeginFirst(m.job.ID)
			if begun || !locked {
				t.Errorf("before the commit the job has begun: %v, or can never begin: %v", begun, !locked)
			}
			return err
		})
	testkit.Must(t, first)
	testkit.Must(t, second)
	if begun, _, err := m.BeginFirst(m.job.ID); !begun || err != nil {
		t.Errorf("after the commit the job has begun: %v, %v", begun, err)
	}
}

// TestJobBeginsWhileItIsSubmittedAgain: a transaction that has written events does not wait for the job that begins just now, which waits
// to write one.
func TestJobBeginsWhileItIsSubmittedAgain(t *testing.T) {
	m := meetJob(t)
	var again queue.Job
	var begun bool
	first, second := testkit.Overlap(t, m.db, holdTx,
		func() error {
			return m.store.Tx(t.Context(), "submit two jobs", func(ctx context.Context) (err error) {
				if _, _, err := m.Submit(ctx, queue.Submission{Type: "work"}); err != nil {
					return err
				}
				if err := m.store.Writer(ctx).Exec(holdTx).Error; err != nil {
					return err
				}
				again, _, err = m.Submit(ctx, m.sub)
				return err
			})
		},
		func() (err error) { begun, _, err = m.BeginFirst(m.job.ID); return err })
	testkit.Must(t, first)
	testkit.Must(t, second)
	if again.ID != m.job.ID || again.State != queue.Running || !begun {
		t.Errorf("got %s, which is %s, and has begun: %v; want %s, which is running", again.ID, again.State, begun, m.job.ID)
	}
}
