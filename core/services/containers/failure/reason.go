// Package failure words why something did not succeed.
package failure

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

// ErrCooling tells that a host is left alone.
var ErrCooling = errors.New("the registry is rate limited; checks pause for a while")

// ErrEngineAway tells that the engine was away while something was done, so that its failure says nothing about what was done.
var ErrEngineAway = errors.New("the engine was away")

// ErrEngineLost tells that it did not come back while a step waited for it.
var ErrEngineLost = fmt.Errorf("%w and did not come back", ErrEngineAway)

// IsEngineGone reports whether an error says nothing about the request: the engine or its plugin is not there.
func IsEngineGone(err error) bool {
	return errors.Is(err, ErrEngineAway) || client.CauseOf(err) == client.CauseUnreachable || fault.CodeOf(err) == fault.PluginUnavailable
}

// The codes of why something did not succeed, which are stored beside the text. A job may also have one of the codes of
// the queue or a step of an update.
const (
	Canceled     = "canceled"
	RateLimited  = "rate_limited"
	AccessDenied = "access_denied"
	Otherwise    = "failed"
	EngineAway   = "engine_away"
)

// Code returns the code of an error; "" for nil.
func Code(err error) string {
	if err == nil {
		return ""
	}
	switch code := errs.From(err).Code; {
	case errors.Is(err, queue.ErrCanceled):
		return Canceled
	case errors.Is(err, ErrCooling), code == codes.ResourceExhausted, fault.CodeOf(err) == fault.RateLimited:
		return RateLimited
	case errors.Is(err, ErrEngineAway):
		return EngineAway
	case code == codes.Unauthenticated, code == codes.PermissionDenied:
		return AccessDenied
	}
	return Otherwise
}

// CanceledText is why something was not done that somebody has canceled.
const CanceledText = "The job was canceled."

// Text words an error for an operator: what a provider said, without internals. Texts of jobs, services and notifications
// about errors come from here.
func Text(err error) string {
	var f *fault.Error
	switch {
	case errors.Is(err, queue.ErrCanceled):
		return CanceledText
	case errors.Is(err, context.Canceled):
		return "It was interrupted."
	case errors.Is(err, ErrCooling) && errors.As(err, &f):
		return errs.Plain(f.Message)
	}
	return client.FailureText(err)
}

// IsTransient reports whether an error may be gone at the next try.
func IsTransient(err error) bool {
	switch fault.CodeOf(err) {
	case fault.InvalidRequest, fault.InvalidArgument, fault.NotFound, fault.Conflict, fault.Unauthorized, fault.Forbidden:
		return false
	}
	return !IsDenied(err)
}

// IsDenied reports whether another system refused the credentials or has no such thing, so that a retry is of no use.
func IsDenied(err error) bool {
	switch errs.From(err).Code {
	case codes.NotFound, codes.Unauthenticated, codes.PermissionDenied, codes.InvalidArgument, codes.FailedPrecondition:
		return true
	}
	return false
}
