package errs

import (
	"context"
	"errors"

	"google.golang.org/grpc/codes"
)

// OfCall makes an Error of whatever a plugin's own code returned for a call with ctx: its own Error, the end of the call, or a
// failure of the plugin. nil stays nil.
func OfCall(ctx context.Context, err error) error {
	var e *Error
	switch {
	case err == nil:
		return nil
	case errors.As(err, &e):
		return e
	case errors.Is(err, context.DeadlineExceeded) && ctx.Err() != nil:
		return New(Upstream, codes.DeadlineExceeded, ReasonTimeout, "the call ended before the answer came")
	case errors.Is(err, context.Canceled) && ctx.Err() != nil:
		return New(Caller, codes.Canceled, "CANCELED", "the call was cancelled")
	}
	return New(Plugin, codes.Unknown, "FAILED", "%v", err)
}
