package queue

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/store"
)

// maxPayload is the largest payload and result, in bytes of JSON.
const maxPayload = 1 << 20

// maxTries bounds the repetitions when another transaction got in between.
const maxTries = 5

// Submission describes a job to submit.
type Submission struct {
	Type string
	// DedupKey, if set, is the same for jobs of one type that are the same work.
	DedupKey string
	// Locks are the resources that the job needs for itself until it ends.
	Locks []string
	// Tags are words by which Filter finds the job: at most 4096, each 1 to 200 bytes.
	Tags []string
	// Payload is kept as JSON, at most 1 MiB.
	Payload any
	// Actor is who asks for it.
	Actor string
	// RunAt is when it may start, by the clock of Config.Now; the zero time is now.
	RunAt time.Time
}

// errRaced says that a conflicting row was added or removed meanwhile.
var errRaced = errors.New("another transaction got in between")

// Submit queues a job, joining the transaction in ctx if there is one. If a job with the same type and DedupKey is
// queued or running, that one is returned and reused is true. One that is queued does not begin before the transaction
// in ctx has ended, so that it sees what that has written; one that begins or is canceled just now is returned as
// running. If a lock is held, the error is a fault.Conflict with the extension member existingJobId, and nothing was
// written.
//
// On PostgreSQL one of two transactions that wait for each other's rows fails.
func (q *Queue) Submit(ctx context.Context, sub Submission) (job Job, reused bool, err error) {
	if sub.Type == "" {
		return Job{}, false, fault.New(fault.InvalidArgument, "A job needs a type.")
	}
	if err := checkTags(sub.Tags); err != nil {
		return Job{}, false, err
	}
	payload, err := json.Marshal(sub.Payload)
	if err != nil {
		return Job{}, false, fmt.Errorf("encode the payload of a %s job: %w", sub.Type, err)
	}
	if len(payload) > maxPayload {
		return Job{}, false, fault.New(fault.PayloadTooLarge, "The job's payload is too large.")
	}
	if q.store.Dialect() == store.Postgres && len(sub.Locks) == 0 && len(sub.Tags) == 0 && !q.store.InTx(ctx) {
		// One statement, unless there is one with the same dedup key.
		r := q.newRow(sub, string(payload))
		if ok, err := q.dispatch.insert(ctx, r); ok || err != nil {
			return r.toJob(), false, err
		}
	}
	for range maxTries {
		err = q.store.QueueTx(ctx, "submit job", func(ctx context.Context) error {
			job, reused, err = q.submitOnce(ctx, sub, string(payload))
			return err
		})
		if !errors.Is(err, errRaced) {
			break
		}
	}
	if err != nil {
		return Job{}, false, fmt.Errorf("submit a %s job: %w", sub.Type, err)
	}
	return job, reused, nil
}

// submitOnce submits a job in the transaction of ctx. It returns errRaced if another transaction interfered.
func (q *Queue) submitOnce(ctx context.Context, sub Submission, payload string) (Job, bool, error) {
	if existing, err := q.holdDuplicate(ctx, sub); err != nil || existing != nil {
		if err != nil {
			return Job{}, false, err
		}
		return existing.toJob(), true, nil
	}
	r := q.newRow(sub, payload)
	if ok, err := q.dispatch.insert(ctx, r); err != nil || !ok {
		return Job{}, false, cmp.Or(err, errRaced)
	}
	if err := q.takeLocks(ctx, r.ID, sub.Locks); err != nil {
		return Job{}, false, err
	}
	if err := q.addTags(ctx, r, sub.Tags); err != nil {
		return Job{}, false, err
	}
	return r.toJob(), false, nil
}

func (q *Queue) newRow(sub Submission, payload string) *row {
	now := q.nowMillis()
	r := &row{
		ID: q.ids.New("job"), Type: sub.Type, State: Queued, DedupKey: sub.DedupKey, Actor: sub.Actor,
		Payload: payload, LastSeq: 1, CreatedAt: now,
	}
	switch {
	case !sub.RunAt.IsZero() && sharesDatabase(q): // the clock of this machine may be wrong
		r.RunAt = now + sub.RunAt.Sub(q.cfg.Now()).Milliseconds()
	case !sub.RunAt.IsZero():
		r.RunAt = store.Millis(sub.RunAt)
	case q.store.Dialect() != store.Postgres: // whose own clock decides
		r.RunAt = now
	}
	return r
}

const sqlDuplicate = `SELECT ` + rowColumns + ` FROM jobs WHERE type = ? AND dedup_key = ? AND dedup_key <> ''
	AND state IN ('queued', 'running')`

// sqlHoldQueued locks a job, so that it is not claimed, as long as it is queued and nobody else is changing it.
const sqlHoldQueued = `SELECT ` + rowColumns + ` FROM jobs WHERE id = ? AND state = 'queued' FOR SHARE SKIP LOCKED`

// holdDuplicate returns the unfinished job with the type and the dedup key of sub, or nil. One that is queued does not begin before the
// running transaction has ended. One that another transaction is changing is returned as running, without waiting: that one may wait for
// the events of this one. SQLite has one writer anyway.
func (q *Queue) holdDuplicate(ctx context.Context, sub Submission) (*row, error) {
	if sub.DedupKey == "" {
		return nil, nil
	}
	found, err := q.queryOne(ctx, sqlDuplicate, sub.Type, sub.DedupKey)
	if err != nil || found == nil || found.State != Queued || q.store.Dialect() != store.Postgres {
		return found, err
	}
	held, err := q.queryOne(ctx, sqlHoldQueued, found.ID)
	if err != nil {
		return nil, err
	}
	if held != nil {
		q.store.AfterCommit(ctx, q.dispatch.wake)
		return held, nil
	}
	// It may also have ended since it was found.
	if found, err = q.queryOne(ctx, sqlDuplicate, sub.Type, sub.DedupKey); found != nil {
		found.State = Running
	}
	return found, err
}

// takeLocks inserts the locks in a fixed order, so that two submissions never wait for each other.
func (q *Queue) takeLocks(ctx context.Context, id string, locks []string) error {
	sorted := slices.Compact(slices.Sorted(slices.Values(locks)))
	for _, resource := range sorted {
		done := q.store.Writer(ctx).Exec(`INSERT INTO job_locks (resource, job_id) VALUES (?, ?) ON CONFLICT DO NOTHING`, resource, id)
		if done.Error != nil {
			return done.Error
		}
		if done.RowsAffected == 0 {
			return q.lockConflict(ctx, resource)
		}
	}
	return nil
}

// lockConflict returns the fault that names the job which holds a lock.
func (q *Queue) lockConflict(ctx context.Context, resource string) error {
	var holders []string
	err := q.store.DB(ctx).Raw(`SELECT job_id FROM job_locks WHERE resource = ?`, resource).Scan(&holders).Error
	if err != nil {
		return err
	}
	if len(holders) == 0 {
		return errRaced
	}
	return fault.New(fault.Conflict, "Another job is working on this.").With("existingJobId", holders[0])
}

// queryOne returns the row of a statement that reads at most one job, or nil.
func (q *Queue) queryOne(ctx context.Context, sql string, args ...any) (*row, error) {
	var rows []row
	if err := q.store.DB(ctx).Raw(sql, args...).Scan(&rows).Error; err != nil {
		return nil, err
	}
	if len(rows) == 0 {
		return nil, nil
	}
	return &rows[0], nil
}

// updateOne executes an UPDATE … RETURNING of at most one job and returns the row, or nil.
func (q *Queue) updateOne(ctx context.Context, sql string, args ...any) (*row, error) {
	var rows []row
	if err := q.store.Writer(ctx).Raw(sql, args...).Scan(&rows).Error; err != nil {
		return nil, err
	}
	if len(rows) == 0 {
		return nil, nil
	}
	return &rows[0], nil
}
