package queue

import (
	"context"
	"fmt"

	"github.com/patchbay-dev/patchbay/core/fault"
)

const sqlCancel = `UPDATE jobs SET cancel_requested = 1, run_at = ?, last_seq = last_seq + 1 WHERE id = ? RETURNING *`

// Cancel stops a job and returns it as it is then. A queued one is canceled at once, unless it has begun and its handler
// settles (see Handler.Settles). The handler's context of a running
// one ends with the cause ErrCanceled, and the job ends when the handler returns; asking again changes nothing. It joins
// a transaction in ctx. An unknown job is a fault.NotFound, one that has ended a fault.Conflict with the extension member
// state.
func (q *Queue) Cancel(ctx context.Context, id string) (Job, error) {
	var out *row
	err := q.store.QueueTx(ctx, "cancel job", func(ctx context.Context) error {
		r, err := q.one(ctx, `SELECT * FROM jobs WHERE id = ?`+q.forUpdate(), id)
		if err != nil {
			return err
		}
		if r == nil {
			return fault.New(fault.NotFound, "There is no such job.")
		}
		out, err = q.cancel(ctx, r)
		return err
	})
	if err != nil {
		return Job{}, fmt.Errorf("cancel the job: %w", err)
	}
	return out.job(), nil
}

func (q *Queue) cancel(ctx context.Context, r *row) (*row, error) {
	switch {
	case r.State.Final():
		return nil, fault.New(fault.Conflict, "The job has already ended.").With("state", r.State)
	case r.State == Queued && !q.settles(r):
		if err := q.end(ctx, r, canceled()); err != nil {
			return nil, err
		}
		return q.one(ctx, `SELECT * FROM jobs WHERE id = ?`, r.ID)
	case r.CancelRequested != 0:
		return r, nil
	}
	r, err := q.change(ctx, sqlCancel, min(r.RunAt, q.now()), r.ID)
	if err != nil {
		return nil, err
	}
	if r == nil {
		return nil, ErrLost
	}
	q.store.AfterCommit(ctx, func() {
		q.interrupt(r.ID, ErrCanceled)
		q.cfg.Waker.Wake()
	})
	return r, q.addEvent(ctx, r, EventCancel, map[string]any{})
}

// settles tells whether a queued job has begun before and must run once more to end in order.
func (q *Queue) settles(r *row) bool {
	h := q.handlers[r.Type]
	return r.Claims > 0 && h != nil && h.Safe && h.Settles
}
