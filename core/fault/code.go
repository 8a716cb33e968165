// Package fault is the one table of error codes: what a caller is told, with which HTTP status and which gRPC code.
//
// Errors made here are meant for the person at the other end: one sentence, no internals, no secrets. What caused them
// stays in the chain for the log. Everything else in an error chain counts as internal.
package fault

import (
	"net/http"

	"google.golang.org/grpc/codes"
)

// Code is the stable name of a kind of error, in lower snake case. Services may use codes that the table does not
// hold; such an error needs an explicit status (Error.WithStatus) or is answered as Internal is.
type Code string

// The codes that all services share.
const (
	BadRequest          Code = "bad_request"
	InvalidArgument     Code = "invalid_argument"
	InvalidRequest      Code = "invalid_request"
	Unauthorized        Code = "unauthorized"
	Forbidden           Code = "forbidden"
	NotFound            Code = "not_found"
	MethodNotAllowed    Code = "method_not_allowed"
	Conflict            Code = "conflict"
	PayloadTooLarge     Code = "payload_too_large"
	Unprocessable       Code = "unprocessable"
	RateLimited         Code = "rate_limited"
	QuotaExhausted      Code = "quota_exhausted"
	ClientClosedRequest Code = "client_closed_request"
	Internal            Code = "internal"
	UpstreamUnavailable Code = "upstream_unavailable"
	AnswerTooLarge      Code = "answer_too_large"
	PluginUnavailable   Code = "plugin_unavailable"
	NotReady            Code = "not_ready"
	Timeout             Code = "timeout"
	InsufficientStorage Code = "insufficient_storage"
)

// StatusClientClosedRequest is the status that is logged for a client that left before the answer. Nobody reads it on
// the wire.
const StatusClientClosedRequest = 499

// Entry is one row of the table.
type Entry struct {
	Code   Code
	Status int
	GRPC   codes.Code
}

// Table returns all rows, in the order of their status. The caller may keep the slice.
func Table() []Entry {
	return []Entry{
		{BadRequest, http.StatusBadRequest, codes.InvalidArgument},
		{InvalidArgument, http.StatusBadRequest, codes.InvalidArgument},
		{InvalidRequest, http.StatusBadRequest, codes.InvalidArgument},
		{Unauthorized, http.StatusUnauthorized, codes.Unauthenticated},
		{Forbidden, http.StatusForbidden, codes.PermissionDenied},
		{NotFound, http.StatusNotFound, codes.NotFound},
		{MethodNotAllowed, http.StatusMethodNotAllowed, codes.Unimplemented},
		{Conflict, http.StatusConflict, codes.Aborted},
		{PayloadTooLarge, http.StatusRequestEntityTooLarge, codes.ResourceExhausted},
		{Unprocessable, http.StatusUnprocessableEntity, codes.FailedPrecondition},
		{RateLimited, http.StatusTooManyRequests, codes.ResourceExhausted},
		{QuotaExhausted, http.StatusTooManyRequests, codes.ResourceExhausted},
		{ClientClosedRequest, StatusClientClosedRequest, codes.Canceled},
		{Internal, http.StatusInternalServerError, codes.Internal},
		{UpstreamUnavailable, http.StatusBadGateway, codes.Unavailable},
		{AnswerTooLarge, http.StatusBadGateway, codes.ResourceExhausted},
		{PluginUnavailable, http.StatusServiceUnavailable, codes.Unavailable},
		{NotReady, http.StatusServiceUnavailable, codes.Unavailable},
		{Timeout, http.StatusGatewayTimeout, codes.DeadlineExceeded},
		{InsufficientStorage, http.StatusInsufficientStorage, codes.ResourceExhausted},
	}
}

// Status is the HTTP status of a code, 500 for one that the table does not hold.
func (c Code) Status() int { return c.entry().Status }

// GRPC is the gRPC code of a code, Internal for one that the table does not hold.
func (c Code) GRPC() codes.Code { return c.entry().GRPC }

func (c Code) entry() Entry {
	for _, e := range Table() {
		if e.Code == c {
			return e
		}
	}
	return Entry{Code: c, Status: http.StatusInternalServerError, GRPC: codes.Internal}
}
