package queue

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"time"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/store"
)

// writeTimeout bounds the queue's own transactions, which do not end with a caller's context.
const writeTimeout = 30 * time.Second

// lockedPause is how long to wait for a due job that another transaction has locked, or claimed meanwhile.
const lockedPause = 20 * time.Millisecond

// run is a job that runs in this process.
type run struct {
	row     *row
	handler *Handler
	cancel  context.CancelCauseFunc
	// traceID is the id of the trace of the run, "" if it is not traced.
	traceID string
}

// beginning is a job that is about to begin here. It notes a cancellation that comes before the job is known to run.
type beginning struct {
	id       string
	canceled bool
}

// isHeld reports whether no job may begin here at present.
func (q *Queue) isHeld() bool { return q.cfg.Held != nil && q.cfg.Held() }

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

// startRun returns the handler's context and registers the run, so that Cancel and Stop find it.
func (q *Queue) startRun(r *run) context.Context {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.registerRun(r)
}

// registerRun is startRun; mu is held.
func (q *Queue) registerRun(r *run) context.Context {
	ctx, cancel := context.WithCancelCause(q.runs)
	r.cancel = cancel
	q.running[r.row.ID] = r
	return ctx
}

// executeRun calls the handler of a registered run and stores the outcome.
func (q *Queue) executeRun(ctx context.Context, r *run) {
	defer q.finishRun(r)
	if r.row.CancelRequested != 0 {
		r.cancel(ErrCanceled)
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
	var result any
	err := checkClock(q, r.handler)
	if err == nil {
		result, err = q.callHandler(ctx, r, &job)
	}
	endSpan(span, err)
	q.recordOutcome(r, result, err, context.Cause(ctx))
}

// maxClockAhead is how far the clock of a node that deletes by age may be ahead of the database's.
const maxClockAhead = 5 * time.Minute

// checkClock refuses a handler that deletes while the clock of this node is ahead of that of the database which nodes share: it would delete
// what is not old.
func checkClock(q *Queue, h *Handler) error {
	if !h.Deletes || !sharesDatabase(q) {
		return nil
	}
	if ahead := q.cfg.Now().Sub(q.cfg.Cluster.Now()).Round(time.Second); ahead > maxClockAhead {
		return fault.New(fault.NotReady, "The clock of this machine is %s ahead of the database's: set it. Jobs that delete by age fail until then.", ahead)
	}
	return nil
}

// finishRun releases the context of a run and unregisters it.
func (q *Queue) finishRun(r *run) {
	r.cancel(nil)
	q.mu.Lock()
	defer q.mu.Unlock()
	delete(q.running, r.row.ID)
	q.idle.Broadcast()
	if r.handler.Limit > 0 {
		q.dispatch.wake() // the type is open again
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

// cancelRun ends the context of a job that runs in this process, or is about to.
func (q *Queue) cancelRun(id string, cause error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if r := q.running[id]; r != nil {
		r.cancel(cause)
	}
	for b := range q.beginnings {
		b.canceled = b.canceled || b.id == id
	}
}
