package containers

import (
	"context"
	"errors"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/plugin/client"
	"github.com/patchbay-dev/patchbay/core/queue"
	"github.com/patchbay-dev/patchbay/sdk/errs"
)

// canceledText is why something was not done that somebody has canceled.
const canceledText = "The job was canceled."

// failureReason words an error for an operator: what a provider said, without internals. Texts of jobs, services and notifications
// about errors come from here.
func failureReason(err error) string {
	var f *fault.Error
	switch {
	case errors.Is(err, queue.ErrCanceled):
		return canceledText
	case errors.Is(err, context.Canceled):
		return "It was interrupted."
	case errors.Is(err, errCooling) && errors.As(err, &f):
		return errs.Plain(f.Message)
	}
	return client.FailureText(err)
}
