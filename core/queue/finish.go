package queue

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/store"
	"github.com/patchbay-dev/patchbay/core/texts"
)

// maxMessage bounds the stored message of an error, in bytes.
const maxMessage = 2000

// outcome is how an attempt, or the whole job, ended.
type outcome struct {
	state   State
	result  string
	failure Failure
}

// withResult returns o with what the handler returned beside its error. A result that cannot be stored is left out.
func (o outcome) withResult(result any) outcome {
	if text, err := encodeResult(result); err == nil && text != "null" {
		o.result = text
	}
	return o
}

// failureOutcome returns the outcome of a job that ends in state with an error.
func failureOutcome(state State, reason string, err error) outcome {
	shown := fault.As(err)
	return outcome{state: state, failure: Failure{Code: shown.Code, Message: texts.Limit(shown.Message, maxMessage), Reason: reason}}
}

// recordOutcome stores how an attempt ended. It tries again if the database does not answer; recovery finds a job
// whose outcome was not stored.
func (q *Queue) recordOutcome(r *run, result any, err, cause error) {
	if err != nil {
		level := hclog.Warn
		if isPostponed(err) {
			level = hclog.Debug
		}
		q.log.Log(level, "job attempt failed", r.withTrace("job", r.row.ID, "type", r.row.Type, "attempt", r.row.Attempt, "error", err)...)
	}
	for try := 1; ; try++ {
		writeErr := q.recordOutcomeOnce(r, result, err, cause)
		if writeErr == nil {
			return
		}
		q.log.Error("cannot store a job's result", r.withTrace("job", r.row.ID, "error", writeErr)...)
		if try == maxTries || errors.Is(writeErr, ErrLost) {
			return
		}
		time.Sleep(time.Duration(try) * 200 * time.Millisecond)
	}
}

// recordOutcomeOnce stores how an attempt ended, in one transaction. It returns ErrLost if the job is not this run's
// any more.
func (q *Queue) recordOutcomeOnce(r *run, result any, err, cause error) error {
	ctx, cancel := context.WithTimeout(store.Essential(context.Background()), writeTimeout)
	defer cancel()
	if text, encodeErr := encodeResult(result); err == nil && encodeErr == nil && r.handler.Finished == nil {
		return q.dispatch.endSucceeded(ctx, r, text)
	}
	return q.store.QueueTx(ctx, "finish job", func(ctx context.Context) error {
		own, readErr := q.queryOne(ctx, `SELECT `+rowColumns+` FROM jobs WHERE id = ? AND owner = ? AND claims = ?
			AND state = 'running'`+q.forUpdate(), r.row.ID, r.row.Owner, r.row.Claims)
		if readErr != nil {
			return readErr
		}
		if own == nil {
			return ErrLost
		}
		return q.applyOutcome(ctx, own, r.handler, result, err, cause)
	})
}

// applyOutcome derives the job's next state from what its handler returned. cause is why the handler's context ended,
// or nil.
func (q *Queue) applyOutcome(ctx context.Context, own *row, h *Handler, result any, err, cause error) error {
	var undone *rolledBack
	var told *fault.Error
	if errors.Is(cause, ErrTimeout) && err != nil && !errors.As(err, &told) && !errors.As(err, &undone) {
		err = fault.Wrap(err, fault.Timeout, "The job took too long.")
	}
	// A node that had to stop its work, and is not taken for dead, gives its jobs to the others as one that stops does.
	stopped := errors.Is(cause, ErrStopping) || errors.Is(cause, ErrLost)
	switch {
	case err == nil:
		return q.endSuccess(ctx, own, result)
	case errors.As(err, &undone):
		return q.endJob(ctx, own, failureOutcome(RolledBack, failureReason(own, err, cause), err).withResult(result))
	case stopped && h.Safe && h.Settles:
		return q.requeueStopped(ctx, own)
	case own.CancelRequested != 0 || errors.Is(cause, ErrCanceled):
		return q.endJob(ctx, own, canceledOutcome().withResult(result))
	case stopped && h.Safe:
		return q.requeueStopped(ctx, own)
	case stopped:
		return q.endJob(ctx, own, interruptedOutcome().withResult(result))
	case isTemporary(err) && own.Attempt < h.MaxAttempts:
		return q.requeueForRetry(ctx, own, h, err)
	}
	return q.endJob(ctx, own, failureOutcome(Failed, failureReason(own, err, cause), err).withResult(result))
}

// requeueStopped puts a job back because the queue stops. The attempt does not count.
func (q *Queue) requeueStopped(ctx context.Context, own *row) error {
	return q.requeueJob(ctx, own, q.nowMillis(), own.Attempt-1, EventRequeued, map[string]any{"state": Queued, "reason": "stopping"})
}

// failureReason returns the reason of a failed attempt, or "" if the error code says enough.
func failureReason(own *row, err, cause error) string {
	switch {
	case errors.Is(err, errPanic):
		return ReasonPanic
	case own.CancelRequested != 0:
		return ReasonCanceled
	case errors.Is(cause, ErrTimeout):
		return ReasonTimeout
	}
	return ""
}

func canceledOutcome() outcome {
	return failureOutcome(Canceled, ReasonCanceled, fault.New(fault.ClientClosedRequest, "The job was canceled."))
}

func interruptedOutcome() outcome {
	return failureOutcome(Failed, ReasonInterrupted,
		fault.New(fault.Internal, "The job was interrupted: the process that ran it ended."))
}

func (q *Queue) endSuccess(ctx context.Context, own *row, result any) error {
	text, err := encodeResult(result)
	if err != nil {
		return q.endJob(ctx, own, failureOutcome(Failed, "", err))
	}
	return q.endJob(ctx, own, outcome{state: Success, result: text})
}

func encodeResult(result any) (string, error) {
	text, err := json.Marshal(result)
	switch {
	case err != nil:
		return "", fmt.Errorf("encode the result: %w", err)
	case len(text) > maxPayload:
		return "", fault.New(fault.Internal, "The job's result is too large.")
	}
	return string(text), nil
}

// requeueForRetry puts a job back until its next attempt is due.
func (q *Queue) requeueForRetry(ctx context.Context, own *row, h *Handler, err error) error {
	runAt := q.currentTime().Add(h.backoffAfter(own.Attempt, err))
	shown := fault.As(err)
	return q.requeueJob(ctx, own, store.Millis(runAt), own.Attempt, EventRetry, map[string]any{
		"state": Queued, "attempt": own.Attempt, "code": shown.Code, "message": texts.Limit(shown.Message, maxMessage),
		"run_at": store.FormatTime(runAt),
	})
}

const sqlRequeue = `UPDATE jobs SET state = 'queued', owner = '', run_at = ?, attempt = ?, recoveries = ?, last_seq = last_seq + 1
	WHERE id = ? AND claims = ? AND state = 'running' RETURNING ` + rowColumns

// requeueJob puts a running job back into the queue. It keeps its locks.
func (q *Queue) requeueJob(ctx context.Context, own *row, runAt int64, attempt int, kind string, data map[string]any) error {
	r, err := q.updateOne(ctx, sqlRequeue, runAt, attempt, own.Recoveries, own.ID, own.Claims)
	if err != nil {
		return err
	}
	if r == nil {
		return ErrLost
	}
	if err := q.dispatch.ticket(ctx, r); err != nil {
		return err
	}
	return q.addEvent(ctx, r, kind, data)
}

const sqlEnd = `UPDATE jobs SET state = ?, result = ?, error_code = ?, error_message = ?, reason = ?, owner = '', finished_at = ?,
	percent = CASE WHEN ? = 'success' THEN 100 ELSE percent END, last_seq = last_seq + 1
	WHERE id = ? AND claims = ? AND state = ? RETURNING ` + rowColumns

// endJob stores the final state and the last event and releases the locks. The caller has a transaction.
func (q *Queue) endJob(ctx context.Context, own *row, o outcome) error {
	r, err := q.updateOne(ctx, sqlEnd, o.state, o.result, o.failure.Code, o.failure.Message, o.failure.Reason, q.nowMillis(), string(o.state),
		own.ID, own.Claims, own.State)
	if err != nil {
		return err
	}
	if r == nil {
		return ErrLost
	}
	if err := q.store.Writer(ctx).Exec(`DELETE FROM job_locks WHERE job_id = ?`, r.ID).Error; err != nil {
		return err
	}
	q.callFinished(ctx, r)
	if q.cfg.Ended != nil {
		q.store.AfterCommit(ctx, func() { q.cfg.Ended(r.toJob()) })
	}
	return q.addEvent(ctx, r, EventFinished, o.eventData())
}

// eventData returns the data of the event EventFinished.
func (o outcome) eventData() map[string]any {
	out := map[string]any{"state": o.state}
	if o.result != "" {
		out["result"] = json.RawMessage(o.result)
	}
	if o.state == Success {
		return out
	}
	out["code"], out["message"] = o.failure.Code, o.failure.Message
	if o.failure.Reason != "" {
		out["reason"] = o.failure.Reason
	}
	return out
}

// callFinished calls Handler.Finished in a nested transaction, so that its error undoes only what it wrote.
func (q *Queue) callFinished(ctx context.Context, r *row) {
	h := q.handlers[r.Type]
	if h == nil || h.Finished == nil {
		return
	}
	err := q.store.Tx(ctx, "finished "+r.Type, func(ctx context.Context) (err error) {
		defer func() {
			if p := recover(); p != nil {
				err = fmt.Errorf("%w: %v", errPanic, p)
			}
		}()
		if err := q.readCheckpoint(ctx, r); err != nil {
			return err
		}
		return h.Finished(ctx, r.toJob())
	})
	if err != nil {
		q.log.Error("job callback failed", "job", r.ID, "type", r.Type, "error", err)
	}
}

func (q *Queue) forUpdate() string {
	if q.store.Dialect() == store.Postgres {
		return " FOR UPDATE"
	}
	return ""
}
