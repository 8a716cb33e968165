package inbound

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"

	"github.com/emersion/go-smtp"

	"github.com/patchbay-dev/patchbay/core/auth/limit"
	"github.com/patchbay-dev/patchbay/core/services/mail/message"
	"github.com/patchbay-dev/patchbay/core/store"
)

// session is one SMTP connection.
type session struct {
	server *Server
	conn   *smtp.Conn
	front  *front
	client string
	// from and to are the envelope of the present message.
	from string
	to   []Recipient
}

// Reset implements smtp.Session.
func (s *session) Reset() { s.from, s.to = "", nil }

// Logout implements smtp.Session.
func (s *session) Logout() error { return nil }

// Mail implements smtp.Session.
func (s *session) Mail(from string, _ *smtp.MailOptions) error {
	s.front.takeBareCR()
	if limiter := s.server.limiterFor(s.client); limiter != nil {
		if _, ok := limiter.Left(limit.Client(s.client)); !ok {
			return s.server.refuseRate()
		}
	}
	s.from, s.to = from, nil
	return nil
}

// Rcpt implements smtp.Session.
func (s *session) Rcpt(to string, _ *smtp.RcptOptions) error {
	r, err := s.server.cfg.Ingester.cfg.Recipients.FindRecipient(s.server.ctx, s.front.restoreRecipient(to), CountPlanned(s.to))
	if err != nil {
		if isUnknownRecipient(err) {
			s.front.countRefused()
		}
		return s.server.explainError(err)
	}
	s.to = AddRecipient(s.to, r)
	return nil
}

// Data implements smtp.Session. It returns nil when the message is durable.
func (s *session) Data(r io.Reader) error {
	if limiter := s.server.limiterFor(s.client); limiter != nil {
		if _, ok := limiter.Take(limit.Client(s.client)); !ok {
			return s.server.refuseRate()
		}
	}
	content, err := message.ReadContent(&strictReader{r: r}, s.server.cfg.Ingester.cfg.SpoolDir)
	if err != nil {
		return s.server.explainError(err)
	}
	defer content.Close()
	if s.front.takeBareCR() {
		return s.server.explainError(errBareLineEnd)
	}
	env := Envelope{Via: ViaSMTP, From: s.from, Recipients: s.to, Client: s.client, Helo: s.conn.Hostname()}
	if secured := s.front.secured; secured != nil {
		env.TLS = tls.VersionName(secured.ConnectionState().Version)
	}
	env.Answer = s.server.cfg.Ingester.answers.beginAnswer(s.front.gated.Conn)
	if _, err := s.server.cfg.Ingester.Ingest(s.server.ctx, env, content); err != nil {
		return s.server.explainError(err)
	}
	s.front.countMessage()
	s.front.gated.answerNext(env.Answer)
	return nil
}

// refuseRate refuses a message of an address that has sent too many.
func (s *Server) refuseRate() error {
	s.metrics().countRefusal(refusedRate)
	return &smtp.SMTPError{Code: 450, EnhancedCode: smtp.EnhancedCode{4, 7, 1},
		Message: "Too many messages from your address, try again later"}
}

// explainError returns an error as an answer. What is behind it stays in the log.
func (s *Server) explainError(err error) error {
	var answer *smtp.SMTPError
	var timeout net.Error
	switch {
	case errors.As(err, &answer):
		if answer.Code == smtp.ErrDataTooLarge.Code {
			s.metrics().countRefusal(refusedSize)
		}
		return answer
	case errors.Is(err, errBareLineEnd):
		s.metrics().countRefusal(refusedLineEnds)
		return &smtp.SMTPError{Code: 550, EnhancedCode: smtp.EnhancedCode{5, 5, 2},
			Message: "Lines must end with CR and LF: the message has one of them alone"}
	case isUnknownRecipient(err):
		s.metrics().countRefusal(refusedUnknown)
		return &smtp.SMTPError{Code: 550, EnhancedCode: smtp.EnhancedCode{5, 1, 1}, Message: "Mailbox unavailable"}
	case errors.Is(err, smtp.ErrTooLongLine):
		s.metrics().countRefusal(refusedLineLength)
		return &smtp.SMTPError{Code: 554, EnhancedCode: smtp.EnhancedCode{5, 6, 0},
			Message: fmt.Sprintf("A line of the message is longer than %d bytes", maxLine)}
	case errors.Is(err, io.ErrUnexpectedEOF), errors.As(err, &timeout) && timeout.Timeout(), errors.Is(err, net.ErrClosed):
		s.metrics().countRefusal(refusedIncomplete)
		return &smtp.SMTPError{Code: 451, EnhancedCode: smtp.EnhancedCode{4, 4, 2}, Message: "The message did not arrive as a whole"}
	}
	s.metrics().countRefusal(refusedTemporary)
	if errors.Is(err, context.Canceled) || errors.Is(err, errClosed) {
		return &smtp.SMTPError{Code: 421, EnhancedCode: smtp.EnhancedCode{4, 3, 2}, Message: "The service is stopping, try again later"}
	}
	s.cfg.Logger.Error("cannot store mail, sender told to retry", "error", err)
	if store.IsDiskFull(err) {
		return &smtp.SMTPError{Code: 452, EnhancedCode: smtp.EnhancedCode{4, 3, 1}, Message: "There is no space for the message, try again later"}
	}
	return &smtp.SMTPError{Code: 451, EnhancedCode: smtp.EnhancedCode{4, 3, 0}, Message: "The message could not be stored, try again later"}
}
