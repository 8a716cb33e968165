package containers

import (
	"context"
	"errors"

	"google.golang.org/grpc/codes"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/queue"
	"github.com/patchbay-dev/patchbay/sdk/errs"
)

// canceledText is why something was not done that somebody has canceled.
const canceledText = "The job was canceled."

// failureReason words an error for an operator: what a provider said, without internals. Texts of jobs, services and notifications
// about errors come from here.
func failureReason(err error) string {
	var f *fault.Error
	e := errs.From(err)
	switch {
	case errors.Is(err, queue.ErrCanceled):
		return canceledText
	case errors.Is(err, context.Canceled):
		return "It was interrupted."
	case !errors.As(err, &f):
		return errs.Plain(e.Message)
	case errors.Is(err, errCooling), e.Source == errs.Caller, e.Message == "", !saidByProvider(e):
		return errs.Plain(f.Message)
	}
	return errs.Plain(e.Message)
}

// saidByProvider reports whether the message of e is a provider's own: gRPC itself names no source, and its words are about
// connections and frames.
func saidByProvider(e *errs.Error) bool {
	return e.Code != codes.Unknown && (e.Source != errs.Plugin || e.Reason != e.Code.String())
}
