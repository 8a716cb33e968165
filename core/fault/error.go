package fault

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"syscall"
	"time"
)

// Error is an error that a caller may see. The zero Status means the one of the table.
type Error struct {
	// Code names the kind of error.
	Code Code
	// Message is one sentence for a person, without internals and secrets.
	Message string
	// Status is the HTTP status if it differs from the table's; 0 otherwise.
	Status int
	// RetryAfter tells when to try again; 0 says nothing about it.
	RetryAfter time.Duration
	// Ext are extension members, written at the top level of the error body.
	Ext map[string]any

	cause error
}

// New makes an error. The message is formatted as by fmt.Sprintf.
func New(code Code, format string, args ...any) *Error {
	return &Error{Code: code, Message: message(format, args)}
}

// InvalidField returns an InvalidRequest error about a member of a request, which its details name as "field".
func InvalidField(field, format string, args ...any) *Error {
	return New(InvalidRequest, format, args...).With("field", field)
}

// Wrap makes an error with a cause. The cause is in the chain and in Error(), never in Message.
func Wrap(err error, code Code, format string, args ...any) *Error {
	return &Error{Code: code, Message: message(format, args), cause: err}
}

func message(format string, args []any) string {
	if len(args) == 0 {
		return format
	}
	return fmt.Sprintf(format, args...)
}

// With returns a copy with an extension member.
func (e *Error) With(key string, value any) *Error {
	out := *e
	out.Ext = maps.Clone(e.Ext)
	if out.Ext == nil {
		out.Ext = map[string]any{}
	}
	out.Ext[key] = value
	return &out
}

// WithStatus returns a copy with an HTTP status of its own.
func (e *Error) WithStatus(status int) *Error {
	out := *e
	out.Status = status
	return &out
}

// WithRetryAfter returns a copy that says when to try again.
func (e *Error) WithRetryAfter(d time.Duration) *Error {
	out := *e
	out.RetryAfter = d
	return &out
}

// HTTPStatus is Status, or the table's when that is 0.
func (e *Error) HTTPStatus() int {
	if e.Status != 0 {
		return e.Status
	}
	return e.Code.Status()
}

// Error is for logs: code, message and cause.
func (e *Error) Error() string {
	if e.cause != nil {
		return fmt.Sprintf("%s: %s: %v", e.Code, e.Message, e.cause)
	}
	return fmt.Sprintf("%s: %s", e.Code, e.Message)
}

// Unwrap returns the cause, nil without one.
func (e *Error) Unwrap() error { return e.cause }

// As returns the Error that stands for err: the first in its chain; ClientClosedRequest for a cancelled context; Timeout for an expired
// one; InsufficientStorage for a full disk; else Internal with a neutral message and err as its cause. It returns nil for nil.
func As(err error) *Error {
	var own *Error
	switch {
	case err == nil:
		return nil
	case errors.As(err, &own):
		return own
	case errors.Is(err, context.Canceled):
		return canceled(err)
	case errors.Is(err, context.DeadlineExceeded):
		return Wrap(err, Timeout, "The request took too long.")
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return Wrap(err, InsufficientStorage, "There is no space left on the disk.")
	}
	return internal(err)
}

func canceled(err error) *Error { return Wrap(err, ClientClosedRequest, "The request was cancelled.") }

func internal(err error) *Error { return Wrap(err, Internal, "Something went wrong on our side.") }

// CodeOf is the code of As(err), and "" for nil.
func CodeOf(err error) Code {
	if e := As(err); e != nil {
		return e.Code
	}
	return ""
}

// StatusOf is the HTTP status of As(err), and 200 for nil.
func StatusOf(err error) int {
	if e := As(err); e != nil {
		return e.HTTPStatus()
	}
	return 200
}
