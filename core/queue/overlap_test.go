package queue_test

import (
	"context"
	"testing"

	"github.com/patchbay-dev/patchbay/core/internal/testing/testkit"
	"github.com/patchbay-dev/patchbay/core/queue"
)

// TestJobThatIsSubmittedAgainBeginsAfterTheCommit: a queued job that a transaction counts on sees what the transaction has written. Who claims jobs
// meanwhile looks again soon, but not at once.
func TestJobThatIsSubmittedAgainBeginsAfterTheCommit(t *testing.T) {
	const lock = "SELECT pg_advisory_xact_lock(1)"
	cfg := testkit.PostgresConfig(t)
	st := testkit.OpenStore(t, cfg, queue.Migrations())
	qc := config(st)
	qc.Handlers = []queue.Handler{blocking("work", true)}
	q := build(t, qc)
	sub := queue.Submission{Type: "work", DedupKey: "k"}
	want := submit(t, q, sub)
	first, second := testkit.Overlap(t, cfg, lock,
		func() error {
			return st.Tx(t.Context(), "count on a job", func(ctx context.Context) error {
				job, reused, err := q.Submit(ctx, sub)
				if err != nil || !reused || job.ID != want.ID {
					t.Errorf("got %+v, %v, %v", job, reused, err)
				}
				return st.Writer(ctx).Exec(lock).Error
			})
		},
		func() error {
			id, wait, err := q.ClaimDue()
			if id != "" || wait <= 0 || wait > qc.Poll {
				t.Errorf("got the job %q before the commit, or else is to wait for %s", id, wait)
			}
			return err
		})
	testkit.Must(t, first)
	testkit.Must(t, second)
	if id, _, err := q.ClaimDue(); id != want.ID || err != nil {
		t.Errorf("got the job %q after the commit, %v", id, err)
	}
}

// TestJobBeginsWhileItIsSubmittedAgain: a transaction that has written events does not wait for the job that begins just now, which waits to
// write one.
func TestJobBeginsWhileItIsSubmittedAgain(t *testing.T) {
	const lock = "SELECT pg_advisory_xact_lock(1)"
	cfg := testkit.PostgresConfig(t)
	st := testkit.OpenStore(t, cfg, queue.Migrations())
	qc := config(st)
	qc.Handlers = []queue.Handler{blocking("work", true)}
	q := build(t, qc)
	sub := queue.Submission{Type: "work", DedupKey: "k"}
	want := submit(t, q, sub)
	var again queue.Job
	var claimed string
	first, second := testkit.Overlap(t, cfg, lock,
		func() error {
			return st.Tx(t.Context(), "submit two jobs", func(ctx context.Context) (err error) {
				if _, _, err := q.Submit(ctx, queue.Submission{Type: "work"}); err != nil {
					return err
				}
				if err := st.Writer(ctx).Exec(lock).Error; err != nil {
					return err
				}
				again, _, err = q.Submit(ctx, sub)
				return err
			})
		},
		func() (err error) { claimed, _, err = q.ClaimDue(); return err })
	testkit.Must(t, first)
	testkit.Must(t, second)
	if again.ID != want.ID || again.State != queue.Running || claimed != want.ID {
		t.Errorf("got %s, which is %s, and claimed %s; want %s, which is running", again.ID, again.State, claimed, want.ID)
	}
}
