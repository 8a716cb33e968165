package translate

import (
	"context"
	"errors"
	"time"

	"google.golang.org/grpc/codes"

	"github.com/patchbay-dev/patchbay/core/cluster"
	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/store"
	"github.com/patchbay-dev/patchbay/sdk/errs"
	"github.com/patchbay-dev/patchbay/sdk/translator"
)

// handleFailure ends or postpones the works of units whose call has failed.
func (r *run) handleFailure(ctx context.Context, units []*unit, err error) error {
	if ctx.Err() != nil || errors.Is(err, cluster.ErrFenced) {
		return err
	}
	var reached *budgetError
	e := errs.From(err)
	message := fault.As(err).Message
	if e.Message != "" {
		message = e.Message
	}
	outcome := translator.OutcomeOf(err)
	wait := max(e.RetryAfter, fault.As(err).RetryAfter)
	if outcome == translator.OutcomeRateLimited && wait > 0 {
		if err := r.pauseCalls(ctx, wait); err != nil {
			return err
		}
	}
	if e.Reason == translator.ReasonTooLong && len(units) > 1 {
		for _, u := range units {
			r.calls = append(r.calls, []*unit{u})
		}
		return nil
	}
	for _, u := range units {
		if u.ended {
			continue
		}
		var err2 error
		switch {
		case errors.As(err, &reached):
			u.work.ErrorCode, u.work.ErrorDetail = CodeBudget, reached.Error()
			err2 = r.endWork(ctx, u.pendingWork, Completed, Disabled, "", "")
		case e.Reason == translator.ReasonTooLong:
			err2 = r.failWork(ctx, u.pendingWork, CodeTooLong, message)
		case outcome == translator.OutcomeTemporary || outcome == translator.OutcomeRateLimited || e.Code == codes.Canceled:
			err2 = r.postponeWork(ctx, u.pendingWork, wait, message)
		default:
			err2 = r.failWork(ctx, u.pendingWork, CodeRejected, message)
		}
		if err2 != nil {
			return err2
		}
	}
	return nil
}

const (
	// firstWait is the pause after the first failure of a work; it doubles with each one.
	firstWait = 2 * time.Second
	// maxAttempts is how often a work is tried that fails for a passing reason.
	maxAttempts = 5
)

// postponeWork has a work tried again later, or fails it after too many attempts.
func (r *run) postponeWork(ctx context.Context, e *pendingWork, wait time.Duration, message string) error {
	w := e.work
	if w.Attempts++; w.Attempts >= maxAttempts {
		return r.failWork(ctx, e, CodeUnavailable, message)
	}
	e.ended = true
	at := r.cfg.Now().Add(max(wait, firstWait<<(w.Attempts-1)))
	w.State, w.JobID, w.RunAt, w.ErrorDetail = Queued, "", store.Millis(at), message
	return r.store.Tx(ctx, "postpone translation", func(ctx context.Context) error {
		if _, err := r.saveWork(ctx, w, r.jobID); err != nil {
			return err
		}
		return r.submitJob(ctx, at)
	})
}
