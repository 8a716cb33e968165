package dns

import (
	"time"

	"google.golang.org/grpc/codes"

	"github.com/patchbay-dev/patchbay/sdk/errs"
)

// Reasons of errors.
const (
	// ReasonInvalidRequest comes with INVALID_ARGUMENT: a member of the request is not valid.
	ReasonInvalidRequest = "INVALID_REQUEST"
	// ReasonNoZone comes with NOT_FOUND: there is no such zone, or none that the name lies in.
	ReasonNoZone = "NO_ZONE"
	// ReasonConflict comes with ALREADY_EXISTS: other records exclude these, or another account has the zone.
	ReasonConflict = "CONFLICT"
	// ReasonCoolingDown comes with RESOURCE_EXHAUSTED: the vendor limits requests, and nothing was sent.
	ReasonCoolingDown = "COOLING_DOWN"
	// ReasonNotConfigured comes with FAILED_PRECONDITION: the configuration lacks what the call needs.
	ReasonNotConfigured = "NOT_CONFIGURED"
)

// InvalidRequest is the error for a request that cannot be accepted.
func InvalidRequest(format string, args ...any) *errs.Error {
	return errs.BadInput(ReasonInvalidRequest, format, args...)
}

// NoZone is the error for a zone that does not exist, or a name that lies in none.
func NoZone(name string) *errs.Error {
	return errs.New(errs.Upstream, codes.NotFound, ReasonNoZone, "there is no zone for %q", name)
}

// Conflict is the error for records that exclude others, and for a zone that another account has.
func Conflict(format string, args ...any) *errs.Error {
	return errs.New(errs.Upstream, codes.AlreadyExists, ReasonConflict, format, args...)
}

// CoolingDown is the error of a call that is not made because the vendor limits requests until a time.
func CoolingDown(until, now time.Time) *errs.Error {
	e := errs.New(errs.Upstream, codes.ResourceExhausted, ReasonCoolingDown,
		"the vendor is rate limited; no more requests are sent until %s", until.UTC().Format(time.RFC3339))
	e.RetryAfter = max(until.Sub(now), time.Second)
	return e
}

// NotConfigured is the error of a call for which the configuration lacks an attribute.
func NotConfigured(attribute string) *errs.Error {
	return errs.New(errs.Caller, codes.FailedPrecondition, ReasonNotConfigured, "the configuration has no %s, which this call needs",
		attribute)
}
