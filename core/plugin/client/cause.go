package client

import (
	"google.golang.org/grpc/codes"

	"github.com/patchbay-dev/patchbay/sdk/errs"
)

// Cause is why a call to a registry, a code host or a DNS provider failed.
type Cause string

// The causes.
const (
	// CauseLimited: the upstream limits requests. fault.Error.RetryAfter tells when it wants the next one, if it said so.
	CauseLimited Cause = "limited"
	// CauseDenied: it wants other credentials, or these may not do that.
	CauseDenied Cause = "denied"
	// CauseMissing: what was asked for does not exist there, or is hidden from these credentials.
	CauseMissing Cause = "missing"
	// CauseUnreachable: it is down, too slow, or its answer cannot be used. Trying again soon makes sense.
	CauseUnreachable Cause = "unreachable"
	// CauseRefused: it, or the plugin, refuses the request as it is. Trying again makes no sense.
	CauseRefused Cause = "refused"
	// CauseOther: the fault is on this side, such as a plugin that is not there.
	CauseOther Cause = "other"
)

// CauseOf returns the cause of an error of a call to a provider. It is empty for nil. What the upstream itself said is in what
// errs.From makes of the error, with the HTTP status in its Upstream.
func CauseOf(err error) Cause {
	if err == nil {
		return ""
	}
	e := errs.From(err)
	switch {
	case e.Code == codes.DeadlineExceeded:
		return CauseUnreachable
	case e.Source == errs.Caller && e.Code != codes.Canceled:
		return CauseRefused
	case e.Source != errs.Upstream:
		return CauseOther
	}
	switch e.Code {
	case codes.ResourceExhausted:
		return CauseLimited
	case codes.Unauthenticated, codes.PermissionDenied:
		return CauseDenied
	case codes.NotFound:
		return CauseMissing
	case codes.Unavailable:
		return CauseUnreachable
	}
	return CauseRefused
}
