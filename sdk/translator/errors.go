package translator

import (
	"time"

	"google.golang.org/grpc/codes"

	"github.com/patchbay-dev/patchbay/sdk/errs"
)

// Reasons of errors.
const (
	// ReasonInvalidRequest comes with INVALID_ARGUMENT: a member of the request is not valid.
	ReasonInvalidRequest = "INVALID_REQUEST"
	// ReasonTooLong comes with INVALID_ARGUMENT: the request has more tokens than the models accept.
	ReasonTooLong = "TOO_LONG"
	// ReasonRateLimited comes with RESOURCE_EXHAUSTED and the time to wait.
	ReasonRateLimited = "RATE_LIMITED"
	// ReasonQuota comes with RESOURCE_EXHAUSTED: the account is used up.
	ReasonQuota = "QUOTA_EXHAUSTED"
	// ReasonDenied comes with UNAUTHENTICATED or PERMISSION_DENIED: the service refuses the credential.
	ReasonDenied = "CREDENTIAL_REFUSED"
	// ReasonRefused comes with FAILED_PRECONDITION: the service refuses the request, or knows none of the models.
	ReasonRefused = "REFUSED"
)

// InvalidRequest is the error for a request that cannot be accepted.
func InvalidRequest(format string, args ...any) *errs.Error {
	return errs.BadInput(ReasonInvalidRequest, format, args...)
}

// TooLong is the error for a request with more tokens than the models accept.
func TooLong(tokens, limit int64) *errs.Error {
	return errs.BadInput(ReasonTooLong, "the request has about %d tokens, and at most %d are accepted", tokens, limit)
}

// RateLimited is the error of a service that limits requests. It may be asked again after a pause of a second at least.
func RateLimited(pause time.Duration, format string, args ...any) *errs.Error {
	e := errs.New(errs.Upstream, codes.ResourceExhausted, ReasonRateLimited, format, args...)
	e.RetryAfter = max(pause, time.Second)
	return e
}

// QuotaExhausted is the error of an account that is used up.
func QuotaExhausted(format string, args ...any) *errs.Error {
	return errs.New(errs.Upstream, codes.ResourceExhausted, ReasonQuota, format, args...)
}

// Denied is the error of a service that refuses the credential.
func Denied(format string, args ...any) *errs.Error {
	return errs.New(errs.Upstream, codes.Unauthenticated, ReasonDenied, format, args...)
}

// Refused is the error of a service that refuses the request, or knows none of the models. To try again makes no sense.
func Refused(format string, args ...any) *errs.Error {
	return errs.New(errs.Upstream, codes.FailedPrecondition, ReasonRefused, format, args...)
}

// Temporary is the error of a service that is down, slow or talks nonsense. reason is one of package errs.
func Temporary(reason, format string, args ...any) *errs.Error {
	return errs.Unavailable(reason, format, args...)
}

// OutcomeOf returns the outcome of a call of a model that ended with an error.
func OutcomeOf(err error) Outcome {
	e := errs.From(err)
	switch {
	case e == nil:
		return OK
	case e.Reason == ReasonQuota:
		return OutcomeQuota
	case e.Code == codes.ResourceExhausted:
		return OutcomeRateLimited
	case e.Code == codes.Unauthenticated || e.Code == codes.PermissionDenied:
		return OutcomeDenied
	case e.Code == codes.FailedPrecondition || e.Code == codes.InvalidArgument || e.Code == codes.NotFound:
		return OutcomeRefused
	}
	return OutcomeTemporary
}
