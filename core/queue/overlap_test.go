package queue_test

import (
	"context"
	"testing"
	"time"

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
	// poll is the longest time between two looks of the queue.
	poll time.Duration
	sub  queue.Submission
	job  queue.Job
}

// meetJob submits the job of a meeting.
func meetJob(t *testing.T) meeting {
	t.Helper()
	m := meeting{db: testkit.PostgresConfig(t), sub: queue.Submission{Type: "work", DedupKey: "k"}}
	m.store = testkit.OpenStore(t, m.db, queue.Migrations())
	cfg := config(m.store)
	cfg.Handlers = []queue.Handler{blocking("work", true)}
	m.Queue, m.poll = build(t, cfg), cfg.Poll
	m.job = submit(t, m.Queue, m.sub)
	return m
}

// TestJobThatIsSubmittedAgainBeginsAfterTheCommit: a queued job that a transaction counts on sees what the transaction has written. Who
// claims jobs meanwhile looks again soon, but not at once.
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
			id, wait, err := m.ClaimDue()
			if id != "" || wait <= 0 || wait > m.poll {
				t.Errorf("got the job %q before the commit, or else is to wait for %s", id, wait)
			}
			return err
		})
	testkit.Must(t, first)
	testkit.Must(t, second)
	if id, _, err := m.ClaimDue(); id != m.job.ID || err != nil {
		t.Errorf("got the job %q after the commit, %v", id, err)
	}
}

// TestJobBeginsWhileItIsSubmittedAgain: a transaction that has written events does not wait for the job that begins just now, which waits
// to write one.
func TestJobBeginsWhileItIsSubmittedAgain(t *testing.T) {
	m := meetJob(t)
	var again queue.Job
	var claimed string
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
		func() (err error) { claimed, _, err = m.ClaimDue(); return err })
	testkit.Must(t, first)
	testkit.Must(t, second)
	if again.ID != m.job.ID || again.State != queue.Running || claimed != m.job.ID {
		t.Errorf("got %s, which is %s, and claimed %s; want %s, which is running", again.ID, again.State, claimed, m.job.ID)
	}
}
