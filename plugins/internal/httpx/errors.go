package httpx

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"os"
	"strings"
	"syscall"

	"google.golang.org/grpc/codes"

	"github.com/patchbay-dev/patchbay/sdk/errs"
)

// Reasons besides those of sdk/errs.
const (
	// ReasonRefused: the guard does not permit the address. Nothing was sent there.
	ReasonRefused = "ADDRESS_REFUSED"
	// ReasonCanceled: the caller went away.
	ReasonCanceled = "CANCELED"
)

var (
	errTooLarge         = errors.New("answer is larger than permitted")
	errEncoding         = errors.New("answer is compressed in a way that was not asked for")
	errTooManyRedirects = errors.New("too many redirects")
	errDowngrade        = errors.New("redirect leads from https to http")
)

// classifyError turns an error of net/http into one of ours.
func (c *Client) classifyError(ctx context.Context, req *Request, err error) *errs.Error {
	what := req.Method + " " + req.URL.Host + req.URL.EscapedPath()
	var refused *refusedError
	var dial *dialError
	switch {
	case errors.As(err, &refused):
		return errs.BadInput(ReasonRefused, "%s", refused.msg)
	case errors.Is(context.Cause(ctx), errIdle):
		return errs.Unavailable(errs.ReasonTimeout, "%s: %s", what, errIdle)
	case errors.Is(ctx.Err(), context.Canceled):
		return errs.New(errs.Caller, codes.Canceled, ReasonCanceled, "%s: call was cancelled", what)
	case errors.As(err, &dial) && !errors.Is(ctx.Err(), context.DeadlineExceeded):
		return errs.Unavailable(errs.ReasonConnect, "%s: %s", what, dialText(dial.err))
	case timedOut(err):
		return errs.Unavailable(errs.ReasonTimeout, "%s: no answer in time", what)
	case isTLS(err):
		return errs.Unavailable(errs.ReasonConnect, "%s: %s", what, tlsText(err))
	}
	reason, text := protocolText(err)
	return errs.Unavailable(reason, "%s: %s", what, text)
}

func timedOut(err error) bool {
	var timeout net.Error
	return errors.Is(err, context.DeadlineExceeded) || errors.Is(err, os.ErrDeadlineExceeded) ||
		errors.As(err, &timeout) && timeout.Timeout()
}

func dialText(err error) string {
	var dns *net.DNSError
	var op *net.OpError
	switch {
	case errors.As(err, &dns) && dns.IsNotFound:
		return "host name is unknown"
	case errors.As(err, &dns):
		return "host name cannot be resolved"
	case timedOut(err):
		return "connecting took too long"
	case errors.As(err, &op) && op.Err != nil:
		return "cannot connect: " + op.Err.Error()
	}
	return "cannot connect"
}

func isTLS(err error) bool {
	var record tls.RecordHeaderError
	var verify *tls.CertificateVerificationError
	var alert tls.AlertError
	if errors.As(err, &record) || errors.As(err, &verify) || errors.As(err, &alert) {
		return true
	}
	text := err.Error()
	return strings.Contains(text, "tls: ") || strings.Contains(text, "server gave HTTP response to HTTPS client")
}

func tlsText(err error) string {
	var unknown x509.UnknownAuthorityError
	var invalid x509.CertificateInvalidError
	var host x509.HostnameError
	switch {
	case errors.As(err, &unknown):
		return "certificate is signed by an unknown authority"
	case errors.As(err, &host):
		return "certificate is for another host"
	case errors.As(err, &invalid):
		return "certificate is not valid"
	}
	return "no TLS connection"
}

// protocolText returns the reason and the words for an answer that could not be read.
func protocolText(err error) (reason, text string) {
	if errors.Is(err, errTooLarge) {
		return errs.ReasonTooLarge, err.Error()
	}
	for _, own := range []error{errEncoding, errTooManyRedirects, errDowngrade, errBodyElsewhere} {
		if errors.Is(err, own) {
			return errs.ReasonProtocol, own.Error()
		}
	}
	if errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE) {
		return errs.ReasonLost, "connection was reset"
	}
	if strings.Contains(err.Error(), "malformed") {
		return errs.ReasonProtocol, "answer is not HTTP"
	}
	return errs.ReasonLost, "connection ended before the answer was complete"
}
