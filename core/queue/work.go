package queue

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"time"

	"github.com/patchbay-dev/patchbay/core/store"
)

// writeTimeout bounds the queue's own transactions, which do not end with a caller's context.
const writeTimeout = 30 * time.Second

// lockedPause is how long to wait for a due job that another transaction has locked, or claimed meanwhile.
const lockedPause = 20 * time.Millisecond

const (
	sqlNext  = `SELECT run_at FROM jobs WHERE state = 'queued' AND type IN ? ORDER BY run_at, id LIMIT 1`
	sqlClaim = `UPDATE jobs SET state = 'running', owner = ?, heartbeat_at = {now}, attempt = attempt + 1, claims = claims + 1,
		last_seq = last_seq + 1, step = '', percent = 0, started_at = CASE WHEN started_at = 0 THEN ? ELSE started_at END
		WHERE id = (SELECT id FROM jobs WHERE state = 'queued' AND run_at <= ? AND type IN ? ORDER BY run_at, id LIMIT 1%s) RETURNING *`
)

// run is a job that runs in this process.
type run struct {
	row     *row
	handler *Handler
	cancel  context.CancelCauseFunc
	// traceID is the id of the trace of the run, "" if it is not traced.
	traceID string
}

// dispatchJobs claims a job whenever a worker is free, until the queue stops.
func (q *Queue) dispatchJobs() {
	for {
		select {
		case <-q.claiming.Done():
			return
		case q.slots <- struct{}{}:
		}
		r := q.claimNext()
		if r == nil {
			<-q.slots
			return
		}
		ctx := q.startRun(r)
		go func() {
			defer func() { <-q.slots }()
			q.executeRun(ctx, r)
		}()
	}
}

// claimNext waits for a due job and claims it. It returns nil when the queue stops.
func (q *Queue) claimNext() *run {
	failing := q.newOutage()
	for q.claiming.Err() == nil {
		r, wait, err := q.claimDue()
		if err != nil {
			failing.fail("claim a job", err)
			wait = failing.pause(wait)
		} else {
			failing.end()
		}
		if r != nil {
			return &run{row: r, handler: q.handlers[r.Type]}
		}
		timer := time.NewTimer(wait)
		select {
		case <-q.claiming.Done():
		case <-q.cfg.Waker.Woken():
		case <-timer.C:
		}
		timer.Stop()
	}
	return nil
}

// claimDue claims the job that has been due longest, or returns how long to wait before the next try.
func (q *Queue) claimDue() (*row, time.Duration, error) {
	ctx, cancel := context.WithTimeout(store.Essential(context.Background()), writeTimeout)
	defer cancel()
	types := q.openTypes()
	if len(types) == 0 || q.cfg.Held != nil && q.cfg.Held() {
		return nil, q.cfg.Poll, nil
	}
	var due []int64
	if err := q.store.DB(ctx).Raw(sqlNext, types).Scan(&due).Error; err != nil {
		return nil, q.cfg.Poll, err
	}
	if len(due) == 0 || due[0] > q.nowMillis() {
		return nil, q.waitFor(due), nil
	}
	var claimed *row
	err := q.store.QueueTx(ctx, "claim job", func(ctx context.Context) error {
		r, err := q.updateOne(ctx, q.claimSQL(), q.owner, q.nowMillis(), q.nowMillis(), types)
		if err != nil || r == nil {
			return err
		}
		if r.Claims > 1 {
			if err := q.readCheckpoint(ctx, r); err != nil {
				return err
			}
		}
		claimed = r
		return q.addEvent(ctx, r, EventRunning, map[string]any{"state": Running, "attempt": r.Attempt})
	})
	if err != nil {
		return nil, q.cfg.Poll, err
	}
	if claimed == nil {
		return nil, min(lockedPause, q.cfg.Poll), nil
	}
	return claimed, 0, nil
}

// openTypes returns the types of which one more job may run in this process, sorted.
func (q *Queue) openTypes() (types []string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	busy := map[string]int{}
	for _, r := range q.running {
		busy[r.row.Type]++
	}
	for kind, h := range q.handlers {
		if h.Limit <= 0 || busy[kind] < h.Limit {
			types = append(types, kind)
		}
	}
	slices.Sort(types)
	return types
}

func (q *Queue) claimSQL() string {
	if q.store.Dialect() == store.Postgres {
		return withClock(q.store, fmt.Sprintf(sqlClaim, " FOR UPDATE SKIP LOCKED"))
	}
	return withClock(q.store, fmt.Sprintf(sqlClaim, ""))
}

// waitFor returns how long to wait for the first of the due times, at most Config.Poll.
func (q *Queue) waitFor(due []int64) time.Duration {
	if len(due) == 0 {
		return q.cfg.Poll
	}
	wait := time.Duration(due[0]-q.nowMillis()) * time.Millisecond
	return min(max(wait, time.Millisecond), q.cfg.Poll)
}

// startRun returns the handler's context and registers the run, so that Cancel and Stop find it.
func (q *Queue) startRun(r *run) context.Context {
	ctx, cancel := context.WithCancelCause(q.runs)
	r.cancel = cancel
	q.mu.Lock()
	defer q.mu.Unlock()
	q.running[r.row.ID] = r
	return ctx
}

// executeRun calls the handler of a registered run and stores the outcome.
func (q *Queue) executeRun(ctx context.Context, r *run) {
	defer q.finishRun(r)
	if job, err := q.Get(ctx, r.row.ID); err == nil && job.CancelRequested {
		r.cancel(ErrCanceled) // asked between the claim and begin
	}
	if r.handler.Timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, r.handler.Timeout, ErrTimeout)
		defer cancel()
	}
	if r.handler.Deletes {
		ctx = store.Essential(ctx)
	}
	job := r.row.toJob()
	ctx, span := q.startSpan(ctx, &job)
	r.traceID = span.TraceID()
	result, err := q.callHandler(ctx, r, &job)
	endSpan(span, err)
	q.recordOutcome(r, result, err, context.Cause(ctx))
}

// finishRun releases the context of a run and unregisters it.
func (q *Queue) finishRun(r *run) {
	r.cancel(nil)
	q.mu.Lock()
	defer q.mu.Unlock()
	delete(q.running, r.row.ID)
	q.idle.Broadcast()
	if r.handler.Limit > 0 {
		q.cfg.Waker.Wake() // the type is open again
	}
}

// errPanic is the error of a handler that panicked.
var errPanic = errors.New("the handler panicked")

// callHandler calls the handler and turns a panic into errPanic.
func (q *Queue) callHandler(ctx context.Context, r *run, job *Job) (result any, err error) {
	defer func() {
		if p := recover(); p != nil {
			q.log.Error("panic in a job", append(r.withTrace("job", job.ID, "type", job.Type, "panic", fmt.Sprint(p)), "stack",
				string(debug.Stack()))...)
			result, err = nil, errPanic
		}
	}()
	return r.handler.Run(ctx, job, &progress{queue: q, run: r})
}

// cancelRun ends the context of a job that runs in this process.
func (q *Queue) cancelRun(id string, cause error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if r := q.running[id]; r != nil {
		r.cancel(cause)
	}
}
