package client

import (
	"errors"

	"google.golang.org/grpc/codes"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/sdk/errs"
)

// FailureText returns what an error of a call tells a person: the provider's own words if it has said anything, else those of the
// fault.
func FailureText(err error) string {
	var f *fault.Error
	e := errs.From(err)
	if errors.As(err, &f) && (e.Source == errs.Caller || e.Message == "" || !isProviderMessage(e)) {
		return errs.Plain(f.Message)
	}
	return errs.Plain(e.Message)
}

// isProviderMessage reports whether the message of e is a provider's own: gRPC itself names no source, and its words are about
// connections and frames.
func isProviderMessage(e *errs.Error) bool {
	return e.Code != codes.Unknown && (e.Source != errs.Plugin || e.Reason != e.Code.String())
}
