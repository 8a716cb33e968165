package containers

import (
	"context"
	"errors"
	"fmt"

	"google.golang.org/grpc/codes"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/plugin/client"
	"github.com/patchbay-dev/patchbay/core/queue"
	"github.com/patchbay-dev/patchbay/sdk/errs"
)

// errCooling tells that a host is left alone.
var errCooling = errors.New("the registry limits requests and is left alone for a while")

// errEngineAway tells that the engine was away while something was done, so that its failure says nothing about what was done.
var errEngineAway = errors.New("the engine was away")

// errEngineLost tells that it did not come back while a step waited for it.
var errEngineLost = fmt.Errorf("%w and did not come back", errEngineAway)

// engineGone reports whether an error says nothing about the request: the engine or its plugin is not there.
func engineGone(err error) bool {
	return errors.Is(err, errEngineAway) || client.CauseOf(err) == client.CauseUnreachable || fault.CodeOf(err) == fault.PluginUnavailable
}

// The codes of why something did not succeed, which are stored beside the text. A job may also have one of the codes of
// the queue or a step of an update.
const (
	failedCanceled    = "canceled"
	failedRateLimited = "rate_limited"
	failedAccess      = "access_denied"
	failedOtherwise   = "failed"
	failedEngineAway  = "engine_away"
)

// failureCode returns the code of an error; "" for nil.
func failureCode(err error) string {
	if err == nil {
		return ""
	}
	switch code := errs.From(err).Code; {
	case errors.Is(err, queue.ErrCanceled):
		return failedCanceled
	case errors.Is(err, errCooling), code == codes.ResourceExhausted, fault.CodeOf(err) == fault.RateLimited:
		return failedRateLimited
	case errors.Is(err, errEngineAway):
		return failedEngineAway
	case code == codes.Unauthenticated, code == codes.PermissionDenied:
		return failedAccess
	}
	return failedOtherwise
}

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

// isTransient reports whether an error may be gone at the next try.
func isTransient(err error) bool {
	switch fault.CodeOf(err) {
	case fault.InvalidRequest, fault.InvalidArgument, fault.NotFound, fault.Conflict, fault.Unauthorized, fault.Forbidden:
		return false
	}
	return !isDenied(err)
}

// isDenied reports whether another system refused the credentials or has no such thing, so that a retry is of no use.
func isDenied(err error) bool {
	switch errs.From(err).Code {
	case codes.NotFound, codes.Unauthenticated, codes.PermissionDenied, codes.InvalidArgument, codes.FailedPrecondition:
		return true
	}
	return false
}
