// Package errs is how a plugin says what went wrong and whose fault it is. The errors cross the process boundary as gRPC
// statuses with details, and come out on the other side as the same type.
package errs

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"sync"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/protoadapt"
	"google.golang.org/protobuf/types/known/durationpb"

	sharedv1 "github.com/patchbay-dev/patchbay/sdk/proto/patchbay/shared/v1"
)

// Source tells whose fault an error is.
type Source string

const (
	// Caller sent something that the plugin cannot accept.
	Caller Source = "caller"
	// Host called in a way that the contract forbids.
	Host Source = "host"
	// Plugin failed by itself.
	Plugin Source = "plugin"
	// Upstream is the outside system behind the plugin.
	Upstream Source = "upstream"
)

// Reasons that the host understands. Others are shown to operators as they are.
const (
	// ReasonConnect: no connection to the upstream; nothing was sent.
	ReasonConnect = "UPSTREAM_CONNECT"
	// ReasonTimeout: no answer within the deadline.
	ReasonTimeout = "UPSTREAM_TIMEOUT"
	// ReasonTooLarge: the answer is larger than a message may be.
	ReasonTooLarge = "ANSWER_TOO_LARGE"
	// ReasonProtocol: the answer is not what the protocol promises.
	ReasonProtocol = "UPSTREAM_PROTOCOL"
	// ReasonLost: the connection ended after the request was sent and before the whole answer was there. What the upstream
	// did is not known.
	ReasonLost = "UPSTREAM_LOST"
	// ReasonStatus: the upstream answered with an error status.
	ReasonStatus = "UPSTREAM_STATUS"
	// ReasonUnknownInstance: the instance id is not configured in this process.
	ReasonUnknownInstance = "UNKNOWN_INSTANCE"
	// ReasonUnsupported: the instance does not offer the operation.
	ReasonUnsupported = "UNSUPPORTED"
	// ReasonNotReady: the instance cannot answer yet, such as while nothing is indexed. Nothing was begun; RetryAfter says when to come again.
	ReasonNotReady = "NOT_READY"
	// ReasonExplained: the upstream could not do what was asked, and the message says in words for whoever asked why, and what to do
	// about it. It holds no address and nothing else that is not for them.
	ReasonExplained = "UPSTREAM_EXPLAINED"
	// ReasonPanic: the plugin's code panicked; the process goes on.
	ReasonPanic = "PANIC"
)

// Error is an error with a source, a reason in upper snake case and a message for the operator. The message holds no
// secret.
type Error struct {
	Source     Source
	Code       codes.Code
	Reason     string
	Message    string
	RetryAfter time.Duration
	Upstream   *sharedv1.UpstreamError
}

// New makes an error.
func New(source Source, code codes.Code, reason, format string, args ...any) *Error {
	return &Error{Source: source, Code: code, Reason: reason, Message: fmt.Sprintf(format, args...)}
}

// BadInput is the caller's fault: HTTP 400 at the edge.
func BadInput(reason, format string, args ...any) *Error {
	return New(Caller, codes.InvalidArgument, reason, format, args...)
}

// NotFound is an unknown resource of the caller: HTTP 404 at the edge.
func NotFound(reason, format string, args ...any) *Error {
	return New(Caller, codes.NotFound, reason, format, args...)
}

// Unavailable is an upstream that cannot be reached or does not answer as it should.
func Unavailable(reason, format string, args ...any) *Error {
	return New(Upstream, codes.Unavailable, reason, format, args...)
}

// Error implements error.
func (e *Error) Error() string { return fmt.Sprintf("%s: %s", e.Reason, e.Message) }

// GRPCStatus carries the error across the wire.
func (e *Error) GRPCStatus() *status.Status {
	st := status.New(e.Code, e.Message)
	details := []protoadapt.MessageV1{protoadapt.MessageV1Of(&errdetails.ErrorInfo{Reason: e.Reason, Domain: string(e.Source)})}
	if e.RetryAfter > 0 {
		details = append(details, protoadapt.MessageV1Of(&errdetails.RetryInfo{RetryDelay: durationpb.New(e.RetryAfter)}))
	}
	if e.Upstream != nil {
		details = append(details, protoadapt.MessageV1Of(e.Upstream))
	}
	if with, err := st.WithDetails(details...); err == nil {
		return with
	}
	return st
}

// From reads an error that came over gRPC, or returns the Error in err's chain. A status without our details is the
// plugin's fault. It returns nil for nil.
func From(err error) *Error {
	if err == nil {
		return nil
	}
	var own *Error
	if errors.As(err, &own) {
		return own
	}
	// status.Convert would give a wrapped status the text of the whole chain, "rpc error: code = … desc = …" included.
	var carrier interface{ GRPCStatus() *status.Status }
	if errors.As(err, &carrier) {
		return FromStatus(carrier.GRPCStatus())
	}
	return FromStatus(status.Convert(err))
}

// receivedTooLarge is how gRPC itself begins its error about an answer over the limit.
const receivedTooLarge = "grpc: received message larger than max"

// statusPrefix is how a status of gRPC begins as a text.
var statusPrefix = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`rpc error: code = [A-Za-z]+ desc = `) })

// Plain returns text without the "rpc error: code = … desc = " of gRPC statuses that are quoted in it. Systems that are
// made of gRPC services, such as container engines, write them into their own messages.
func Plain(text string) string { return statusPrefix().ReplaceAllString(text, "") }

// FromStatus is From for a status.
func FromStatus(st *status.Status) *Error {
	out := &Error{Source: Plugin, Code: st.Code(), Reason: st.Code().String(), Message: Plain(st.Message())}
	if st.Code() == codes.ResourceExhausted && strings.HasPrefix(st.Message(), receivedTooLarge) {
		out.Reason = ReasonTooLarge
	}
	for _, d := range st.Details() {
		switch d := d.(type) {
		case *errdetails.ErrorInfo:
			out.Reason, out.Source = d.GetReason(), Source(d.GetDomain())
		case *errdetails.RetryInfo:
			out.RetryAfter = d.GetRetryDelay().AsDuration()
		case *sharedv1.UpstreamError:
			out.Upstream = d
		}
	}
	return out
}
