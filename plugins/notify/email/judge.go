package email

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/textproto"
	"os"
	"syscall"

	"github.com/patchbay-dev/patchbay/sdk/errs"
	"github.com/patchbay-dev/patchbay/sdk/notify"
)

// toOutcome turns an error into an outcome. What the server has not taken for certain may be sent again.
func (d *delivery) toOutcome(err error) error {
	var own *errs.Error
	var reply *textproto.Error
	host := d.server.dialAddress()
	switch {
	case errors.As(err, &own):
		return own
	case errors.As(err, &reply):
		return d.refusalOutcome(reply)
	case d.phase == phaseEnd:
		return notify.Unknown("%s: %s: %s", host, d.phase, connectionProblem(err))
	}
	if text := certificateProblem(err); text != "" {
		return notify.Permanent("CERTIFICATE_INVALID", "%s: %s", host, text)
	}
	var record tls.RecordHeaderError
	switch {
	case errors.As(err, &record):
		return notify.Permanent(errs.ReasonProtocol,
			"%s does not speak TLS; smtp:// is for a port with STARTTLS, smtps:// for one with TLS from the start", host)
	case d.phase == phaseConnect:
		return notify.Temporary(0, errs.ReasonConnect, "%s: %s", host, connectionProblem(err))
	case timedOut(err):
		return notify.Temporary(0, errs.ReasonTimeout, "%s: %s: %s", host, d.phase, connectionProblem(err))
	}
	return notify.Temporary(0, errs.ReasonProtocol, "%s: %s: %s", host, d.phase, connectionProblem(err))
}

// refusalOutcome returns the outcome of a server's refusal.
func (d *delivery) refusalOutcome(reply *textproto.Error) error {
	host, words := d.server.dialAddress(), d.replyText(reply)
	switch {
	case reply.Code < 400 || reply.Code > 599:
		return notify.Temporary(0, errs.ReasonProtocol, "%s: %s: an answer that does not belong here: %s", host, d.phase, words)
	case reply.Code < 500:
		return notify.Temporary(0, errs.ReasonStatus, "%s: %s: %s", host, d.phase, words)
	case d.phase == phaseAuth:
		return notify.Permanent("AUTH_FAILED", "%s does not accept user and password: %s", host, words)
	}
	return notify.Permanent(errs.ReasonStatus, "%s: %s: %s", host, d.phase, words)
}

// replyText returns the words of a server's reply, with its code.
func (d *delivery) replyText(err error) string {
	var reply *textproto.Error
	if !errors.As(err, &reply) {
		return connectionProblem(err)
	}
	return d.server.cleanReply(fmt.Sprintf("%03d %s", reply.Code, reply.Msg))
}

// certificateProblem says what is wrong with a certificate, or nothing.
func certificateProblem(err error) string {
	var verify *tls.CertificateVerificationError
	var unknown x509.UnknownAuthorityError
	var host x509.HostnameError
	var invalid x509.CertificateInvalidError
	switch {
	case errors.As(err, &unknown):
		return "its certificate is signed by an authority that is not known here; ca_file can name it"
	case errors.As(err, &host):
		return "its certificate is for another name"
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired:
		return "its certificate has expired, or is not valid yet"
	case errors.As(err, &invalid), errors.As(err, &verify):
		return "its certificate is not valid"
	}
	return ""
}

func timedOut(err error) bool {
	var timeout net.Error
	return errors.Is(err, os.ErrDeadlineExceeded) || errors.As(err, &timeout) && timeout.Timeout()
}

// connectionProblem says in a few words of our own what became of a connection.
func connectionProblem(err error) string {
	var dns *net.DNSError
	var protocol textproto.ProtocolError
	var alert tls.AlertError
	switch {
	case errors.As(err, &dns) && dns.IsNotFound:
		return "the host name is unknown"
	case errors.As(err, &dns):
		return "the host name cannot be resolved"
	case timedOut(err):
		return "no answer in time"
	case errors.Is(err, syscall.ECONNREFUSED):
		return "the connection was refused"
	case errors.Is(err, syscall.EHOSTUNREACH), errors.Is(err, syscall.ENETUNREACH):
		return "the host cannot be reached"
	case errors.As(err, &alert):
		return "the server ended the TLS handshake"
	case errors.As(err, &protocol):
		return "the answer is not SMTP"
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE),
		errors.Is(err, net.ErrClosed):
		return "the connection ended"
	}
	return "the connection failed"
}
