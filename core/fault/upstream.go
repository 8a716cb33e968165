package fault

import (
	"time"

	"google.golang.org/grpc/codes"

	"github.com/patchbay-dev/patchbay/sdk/errs"
)

// UpstreamClass is a kind of failure of the system behind a plugin. Every failure has one, and each says what is wrong and what to do.
type UpstreamClass struct {
	// Name identifies the class in the texts of the console: detail.upstream.NAME.
	Name string
	// Message is the sentence in English, with a %s for the instance. It never quotes the upstream, whose words may hold addresses.
	Message string

	matches func(*errs.Error) bool
}

// limitedUntil is the class of a limit whose end is known. Its message has the pause as well.
const limitedUntil = "limited_until"

// UpstreamClasses are tried in this order; the last one matches everything.
var UpstreamClasses = []UpstreamClass{
	{limitedUntil, "The provider %s is rate limited. Try again in %s.", func(e *errs.Error) bool {
		return e.Code == codes.ResourceExhausted && e.RetryAfter > 0
	}},
	{"limited", "The provider %s is rate limited. Try again later.", hasCode(codes.ResourceExhausted)},
	{"no_access", "The provider %s refused the credentials: check the key or token and its permissions.",
		hasCode(codes.Unauthenticated, codes.PermissionDenied)},
	{"not_found", "The provider %s has nothing with this name, or hides it from these credentials.", hasCode(codes.NotFound)},
	{"timeout", "The provider %s did not answer in time. Try again later.", func(e *errs.Error) bool {
		return e.Code == codes.DeadlineExceeded || e.Reason == errs.ReasonTimeout
	}},
	{"unreachable", "The provider %s is unreachable: check its address and the network.", hasReason(errs.ReasonConnect)},
	{"lost", "The connection to the provider %s broke before the answer was complete. " +
		"A change may have been made: look before you try again.", hasReason(errs.ReasonLost)},
	{"wrong_answer", "The provider %s sent an answer that Patchbay cannot read: check its address in the settings.",
		hasReason(errs.ReasonProtocol)},
	{"down", "The provider %s is down or overloaded. Try again later.", hasCode(codes.Unavailable)},
	{"refused", "The provider %s refused the request.", func(*errs.Error) bool { return true }},
}

func hasCode(all ...codes.Code) func(*errs.Error) bool {
	return func(e *errs.Error) bool {
		for _, code := range all {
			if e.Code == code {
				return true
			}
		}
		return false
	}
}

func hasReason(reason string) func(*errs.Error) bool {
	return func(e *errs.Error) bool { return e.Reason == reason }
}

// ClassifyUpstream returns the class of a failure of an upstream.
func ClassifyUpstream(e *errs.Error) UpstreamClass {
	for _, c := range UpstreamClasses {
		if c.matches(e) {
			return c
		}
	}
	return UpstreamClasses[len(UpstreamClasses)-1]
}

// newUpstreamFault returns the Error for a failure of the upstream of the instance ref, in the words of its class.
func newUpstreamFault(ref string, err error, from *errs.Error) *Error {
	class := ClassifyUpstream(from)
	if class.Name == limitedUntil {
		return Wrap(err, UpstreamUnavailable, class.Message, ref, max(from.RetryAfter.Round(time.Second), time.Second))
	}
	return Wrap(err, UpstreamUnavailable, class.Message, ref)
}
