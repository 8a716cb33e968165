package fault

import (
	"context"
	"errors"
	"strings"
	"unicode"
	"unicode/utf8"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/patchbay-dev/patchbay/core/texts"
	"github.com/patchbay-dev/patchbay/sdk/errs"
)

// FromPlugin turns the error of a call to the instance ref, such as search.main, into what the caller is told. Only the caller's own
// mistakes, and what a plugin explains, keep the plugin's words; for everything else the message is neutral and the cause stays in the
// chain. RetryAfter is kept. An Error in the chain is returned as it is; nil gives nil.
func FromPlugin(ref string, err error) *Error {
	var own *Error
	switch {
	case err == nil:
		return nil
	case errors.As(err, &own):
		return own
	case errors.Is(err, context.Canceled):
		return canceled(err)
	case errors.Is(err, context.DeadlineExceeded):
		return newUpstreamFault(ref, err, errs.New(errs.Upstream, codes.DeadlineExceeded, errs.ReasonTimeout, ""))
	case !carriesStatus(err):
		return As(err)
	}
	from := errs.From(err)
	return fromPlugin(ref, err, from).WithRetryAfter(from.RetryAfter)
}

func fromPlugin(ref string, err error, from *errs.Error) *Error {
	switch {
	case from.Reason == errs.ReasonTooLarge:
		return Wrap(err, AnswerTooLarge, "The answer of the provider %s is too large. Ask for fewer results.", ref)
	case from.Reason == errs.ReasonNotReady:
		return Wrap(err, NotReady, "The provider %s is not ready yet. Try again later.", ref)
	case from.Code == codes.Canceled:
		return canceled(err)
	case from.Reason == errs.ReasonExplained && from.Source == errs.Upstream:
		return Wrap(err, UpstreamUnavailable, "%s", writeSentence(from.Message))
	case from.Code == codes.DeadlineExceeded, from.Source == errs.Upstream:
		return newUpstreamFault(ref, err, from)
	case from.Source == errs.Caller && from.Code == codes.NotFound:
		return Wrap(err, NotFound, "%s", from.Message)
	case from.Source == errs.Caller:
		return Wrap(err, InvalidRequest, "%s", from.Message)
	case from.Source == errs.Plugin, from.Code == codes.Unavailable:
		return NotRunning(ref, err)
	}
	return internal(err)
}

// NotRunning is the Error of a call to the instance ref that found no running plugin.
func NotRunning(ref string, err error) *Error {
	return Wrap(err, PluginUnavailable, "The provider %s is not running. Try again later.", ref)
}

// FromContext is the Error of work that ended because its context did: with err as the error of the context.
func FromContext(err error) *Error {
	if errors.Is(err, context.DeadlineExceeded) {
		return Wrap(err, UpstreamUnavailable, "The answer did not come in time. Try again later.")
	}
	return canceled(err)
}

// maxExplained bounds what an upstream's explanation may say, in bytes.
const maxExplained = 500

// writeSentence writes the message of a plugin as one sentence for a person.
func writeSentence(message string) string {
	message = texts.OneLine(message, maxExplained)
	first, size := utf8.DecodeRuneInString(message)
	message = string(unicode.ToUpper(first)) + message[size:]
	if !strings.HasSuffix(message, ".") {
		message += "."
	}
	return message
}

// carriesStatus tells an error that came over gRPC, or was made by errs, from any other.
func carriesStatus(err error) bool {
	var own *errs.Error
	if errors.As(err, &own) {
		return true
	}
	_, ok := status.FromError(err)
	return ok
}
