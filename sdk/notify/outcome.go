package notify

import (
	"context"
	"errors"
	"time"

	"google.golang.org/grpc/codes"

	"github.com/patchbay-dev/patchbay/sdk/errs"
)

// ReasonOutcomeUnknown is the reason of an error after which the notification may have been delivered.
const ReasonOutcomeUnknown = "OUTCOME_UNKNOWN"

// Temporary is the error of a Send that delivered nothing and may succeed later. after is how long the other side asked
// to be left alone; 0 leaves it to the host. reason is in upper snake case.
func Temporary(after time.Duration, reason, format string, args ...any) *errs.Error {
	e := errs.New(errs.Upstream, codes.Unavailable, reason, format, args...)
	e.RetryAfter = after
	return e
}

// Permanent is the error of a Send that delivered nothing and would fail again.
func Permanent(reason, format string, args ...any) *errs.Error {
	return errs.New(errs.Upstream, codes.FailedPrecondition, reason, format, args...)
}

// Unknown is the error of a Send that may or may not have delivered.
func Unknown(format string, args ...any) *errs.Error {
	return errs.New(errs.Upstream, codes.Unknown, ReasonOutcomeUnknown, format, args...)
}

// Outcome is what became of a notification.
type Outcome int

// The outcomes of a Send.
const (
	// Delivered: the error is nil.
	Delivered Outcome = iota
	// Retryable: not delivered; the same call may succeed later.
	Retryable
	// Refused: not delivered; the same call fails again.
	Refused
	// Uncertain: may have been delivered. The host tries again only where the channel has CapIdempotent.
	Uncertain
)

// String is the outcome in one word.
func (o Outcome) String() string {
	switch o {
	case Delivered:
		return "delivered"
	case Retryable:
		return "temporary"
	case Refused:
		return "permanent"
	}
	return "unknown"
}

// OutcomeOf reads the error of a Send, on either side of the wire, by the rules of the .proto file.
func OutcomeOf(err error) Outcome {
	if err == nil {
		return Delivered
	}
	e := errs.From(err)
	switch {
	case e.Reason == ReasonOutcomeUnknown:
		return Uncertain
	case e.Source == errs.Host && e.Reason == errs.ReasonUnknownInstance:
		return Retryable
	}
	switch e.Code {
	case codes.Unavailable, codes.ResourceExhausted:
		if e.Source == errs.Upstream {
			return Retryable
		}
	case codes.InvalidArgument, codes.NotFound, codes.FailedPrecondition, codes.PermissionDenied, codes.Unauthenticated,
		codes.OutOfRange, codes.AlreadyExists, codes.Unimplemented:
		return Refused
	}
	return Uncertain
}

// withSource makes sure that an error crosses the wire with a source and says whether the outcome is known.
func withSource(ctx context.Context, err error) error {
	var e *errs.Error
	switch {
	case errors.As(err, &e):
		return e
	case errors.Is(err, context.DeadlineExceeded) && ctx.Err() != nil:
		return errs.New(errs.Upstream, codes.DeadlineExceeded, ReasonOutcomeUnknown, "the call ended before the outcome was known")
	case errors.Is(err, context.Canceled) && ctx.Err() != nil:
		return errs.New(errs.Caller, codes.Canceled, ReasonOutcomeUnknown, "the call was cancelled before the outcome was known")
	}
	return errs.New(errs.Plugin, codes.Unknown, ReasonOutcomeUnknown, "%v", err)
}
