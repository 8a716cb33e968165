package queue

import (
	"context"
	"fmt"

	"github.com/patchbay-dev/patchbay/core/fault"
)

const sqlCancel = `UPDATE jobs SET cancel_requested = 1, run_at = ?, last_seq = last_seq + 1 WHERE id = ? RETURNING ` + rowColumns

// Cancel cancels a job and returns it as it is then. A queued job ends at once, unless it has begun and its handler
// settles (see Handler.Settles). The context of a running job's handler ends with the cause ErrCanceled, and the job
// ends when the handler returns; further calls change nothing. Cancel joins a transaction in ctx. The error for an
// unknown job is a fault.NotFound, for one that has ended a fault.Conflict with the extension member state.
func (q *Queue) Cancel(ctx context.Context, id string) (Job, error) {
	var out *row
	err := q.store.QueueTx(ctx, "cancel job", func(ctx context.Context) error {
		r, err := q.queryOne(ctx, `SELECT `+rowColumns+` FROM jobs WHERE id = ?`+q.forUpdate(), id)
		if err != nil {
			return err
		}
		if r == nil {
			return fault.New(fault.NotFound, "There is no such job.")
		}
		out, err = q.cancelRow(ctx, r)
		return err
	})
	if err != nil {
		return Job{}, fmt.Errorf("cancel the job: %w", err)
	}
	return out.toJob(), nil
}

// cancelRow cancels the job of a row that the caller has locked, and returns its new row.
func (q *Queue) cancelRow(ctx context.Context, r *row) (*row, error) {
	switch {
	case r.State.Final():
		return nil, fault.New(fault.Conflict, "The job has already ended.").With("state", r.State)
	case r.State == Queued && !q.mustSettle(r):
		if err := q.endJob(ctx, r, canceledOutcome()); err != nil {
			return nil, err
		}
		return q.queryOne(ctx, `SELECT `+rowColumns+` FROM jobs WHERE id = ?`, r.ID)
	case r.CancelRequested != 0:
		return r, nil
	}
	r, err := q.updateOne(ctx, sqlCancel, min(r.RunAt, q.nowMillis()), r.ID)
	if err != nil {
		return nil, err
	}
	if r == nil {
		return nil, ErrLost
	}
	if r.State == Queued { // it begins once more, to settle
		if err := q.dispatch.ticket(ctx, r); err != nil {
			return nil, err
		}
	}
	if err := cancelEverywhere(ctx, q, r.ID); err != nil {
		return nil, err
	}
	return r, q.addEvent(ctx, r, EventCancel, map[string]any{})
}

// mustSettle reports whether a queued job has begun before and must run once more to end in order.
func (q *Queue) mustSettle(r *row) bool {
	h := q.handlers[r.Type]
	return r.Claims > 0 && h != nil && h.Safe && h.Settles
}
