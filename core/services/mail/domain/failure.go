package domain

import (
	"errors"
	"net/http"
	"time"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/plugin/client"
	"github.com/patchbay-dev/patchbay/core/texts"
	"github.com/patchbay-dev/patchbay/sdk/dns"
	"github.com/patchbay-dev/patchbay/sdk/errs"
)

// defaultCooldown is how long a provider that limits requests is left alone if it does not say how long.
const defaultCooldown = 15 * time.Minute

// maxReason is how much of a provider's message is kept and shown, in bytes.
const maxReason = 500

// explainFailure returns the error of a call to the provider as administrators are told of it.
func explainFailure(err error) error {
	var said *errs.Error
	if !errors.As(err, &said) {
		return err
	}
	reason := texts.Limit(said.Message, maxReason)
	switch client.CauseOf(err) {
	case client.CauseLimited:
		pause := fault.As(err).RetryAfter
		if pause == 0 {
			pause = defaultCooldown
		}
		return fault.Wrap(err, fault.RateLimited, "Rate limited by the DNS provider: try again later.").WithRetryAfter(pause)
	case client.CauseDenied:
		return fault.Wrap(err, fault.UpstreamUnavailable, "The DNS provider refused the credentials: %s", reason)
	case client.CauseMissing, client.CauseRefused:
		return fault.Wrap(err, fault.Conflict, "The DNS provider refused the request: %s", reason)
	case client.CauseUnreachable:
		return fault.Wrap(err, fault.UpstreamUnavailable, "The DNS provider is unreachable: %s", reason)
	}
	return err
}

// isForeignRule reports whether a rule was not made because the address has one of somebody else.
func isForeignRule(err error) bool {
	var said *errs.Error
	return errors.As(err, &said) && said.Reason == dns.ReasonConflict
}

// isMissing reports whether the provider says that what an error is about does not exist, or is hidden from its credentials.
func isMissing(err error) bool { return client.CauseOf(err) == client.CauseMissing }

// isLimited reports whether an error says that the provider limits requests.
func isLimited(err error) bool { return fault.CodeOf(err) == fault.RateLimited }

// isRefusal reports whether an error is an answer of the provider that a person can do something about.
func isRefusal(err error) bool { return fault.StatusOf(err) == http.StatusConflict }

// IsDeclined reports whether an error says that the provider has not done what it was to do, and will not: it has answered so, or was not
// asked.
func IsDeclined(err error) bool {
	return isRefusal(err) || isLimited(err) || client.CauseOf(err) == client.CauseDenied
}

// isReplaced reports whether an error says that another provider is in use than the one that was to be asked.
func isReplaced(err error) bool {
	return errors.Is(err, ErrOtherProvider) || errors.Is(err, client.ErrOtherPlugin)
}

// operatorMessage returns what a person is told of an error.
func operatorMessage(err error) string { return fault.As(err).Message }
