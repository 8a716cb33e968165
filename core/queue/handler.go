package queue

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/patchbay-dev/patchbay/core/fault"
)

// Handler runs the jobs of one type.
type Handler struct {
	// Type is the type of job that it runs.
	Type string
	// Safe says that a job may be run again from the start after the process died in the middle of it.
	Safe bool
	// Settles says that a job which has begun must run once more when it is cancelled between two attempts: Run is called
	// with a context that has ended with ErrCanceled, and ends what the attempt before has left in the middle. It needs Safe.
	Settles bool
	// Deletes says that the work makes room: its writes go on while the disk is full. Where nodes share the database, it does not run at one
	// whose clock is far ahead.
	Deletes bool
	// Limit is how many jobs of this type run at once in this process, so that long ones leave workers to others; 0
	// means as many as there are workers.
	Limit int
	// Place, if set, says where among the nodes of the database jobs of this type begin: place is the name of that of new jobs, "" for any node
	// that is at its own, and here tells that this process is at place. It is called often. A name has no "@" and at most 64 bytes, and the
	// node announces it by cluster.SetPlaces.
	Place func() (place string, here bool)
	// Timeout bounds one attempt; 0 means no bound.
	Timeout time.Duration
	// MaxAttempts is how often a job is tried when it fails for a passing reason (see Temporary); 0 means once.
	MaxAttempts int
	// Backoff is the pause after the given failed attempt (1, 2, …); nil means 1 s, doubled each time up to 5 min. An
	// error that says when to come back (fault.Error.RetryAfter) overrules a shorter pause.
	Backoff func(attempt int) time.Duration
	// Run does the work. Its context ends when the job is cancelled, times out or the queue stops; context.Cause tells
	// which (ErrCanceled, ErrTimeout, ErrStopping, ErrLost). The result is kept as JSON. A nil error is a success, also
	// after a cancellation that came too late.
	Run func(ctx context.Context, job *Job, p Progress) (result any, err error)
	// Finished, if set, runs in the transaction in which the job reaches its final state, whichever way it got there.
	// Its error undoes what it wrote and is logged; the job ends all the same.
	Finished func(ctx context.Context, job Job) error
}

// Progress is how a handler tells what it is doing. Each report is stored with the next sequence number and published
// after commit. Reports join a transaction in ctx; a cancelled ctx does not hinder them. A report that cannot be stored
// is logged and otherwise ignored.
type Progress interface {
	// Log adds a line of text, at most 16 KiB.
	Log(ctx context.Context, format string, args ...any)
	// Step names the present step, at most 200 bytes.
	Step(ctx context.Context, name string)
	// Percent is how much is done, 0 to 100.
	Percent(ctx context.Context, percent int)
	// Emit adds an event of the handler's own type with any JSON value.
	Emit(ctx context.Context, eventType string, data any)
	// Note keeps v, at most 64 KiB of JSON, as Job.Detail until the next Note. It is no event.
	Note(ctx context.Context, v any)
	// Checkpoint keeps v, at most 1 MiB of JSON, as Job.Checkpoint for the attempts to come. Unlike the reports it is
	// durable when it returns nil, unless ctx carries a transaction: then when that commits. It fails with ErrLost when
	// the job is no longer this run's.
	Checkpoint(ctx context.Context, v any) error
}

// Causes for which a handler's context ends.
var (
	// ErrCanceled: somebody cancelled the job.
	ErrCanceled = errors.New("the job was canceled")
	// ErrTimeout: the job ran longer than its handler's Timeout.
	ErrTimeout = errors.New("the job took too long")
	// ErrStopping: the queue stops. A safe job is put back.
	ErrStopping = errors.New("the queue is stopping")
	// ErrLost: the job was given to another worker, since this one was thought dead.
	ErrLost = errors.New("the job belongs to another worker")
)

// rolledBack marks an error whose effects were undone.
type rolledBack struct{ err error }

func (e *rolledBack) Error() string { return e.err.Error() }
func (e *rolledBack) Unwrap() error { return e.err }

// EndRolledBack wraps the error of a handler that undid its work: the job ends rolled_back instead of failed. nil stays
// nil.
func EndRolledBack(err error) error {
	if err == nil {
		return nil
	}
	return &rolledBack{err: err}
}

// temporary marks an error that may pass.
type temporary struct {
	err error
	// quiet says that nothing went wrong.
	quiet bool
}

func (e *temporary) Error() string { return e.err.Error() }
func (e *temporary) Unwrap() error { return e.err }

// Temporary wraps an error that may pass: the job is tried again if its handler has attempts left. The faults
// upstream_unavailable, plugin_unavailable, not_ready, timeout and rate_limited count as such without being wrapped. nil
// stays nil.
func Temporary(err error) error {
	if err == nil {
		return nil
	}
	return &temporary{err: err}
}

// Postponed is Temporary for an attempt that found nothing to do yet: it is logged for debugging alone. nil stays nil.
func Postponed(err error) error {
	if err == nil {
		return nil
	}
	return &temporary{err: err, quiet: true}
}

func isPostponed(err error) bool {
	for {
		var marked *temporary
		if !errors.As(err, &marked) || marked.quiet {
			return marked != nil
		}
		err = marked.err
	}
}

func isTemporary(err error) bool {
	var marked *temporary
	if errors.As(err, &marked) {
		return true
	}
	switch fault.CodeOf(err) {
	case fault.UpstreamUnavailable, fault.PluginUnavailable, fault.NotReady, fault.Timeout, fault.RateLimited:
		return true
	}
	return false
}

const (
	firstBackoff = time.Second
	maxBackoff   = 5 * time.Minute
)

// backoffAfter returns the pause after a failed attempt.
func (h *Handler) backoffAfter(attempt int, err error) time.Duration {
	d := maxBackoff
	switch {
	case h.Backoff != nil:
		d = h.Backoff(attempt)
	case attempt < 10:
		d = min(firstBackoff<<max(0, attempt-1), maxBackoff)
	}
	return max(d, fault.As(err).RetryAfter, 0)
}

// validate returns an error for an incomplete handler.
func (h *Handler) validate() error {
	if h.Type == "" || h.Run == nil {
		return fmt.Errorf("register the handler %q: type and Run are needed", h.Type)
	}
	return nil
}
