package email

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"html/template"
	"net"
	"net/mail"
	"net/textproto"
	"os"
	"strings"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/wneessen/go-mail/smtp"

	"github.com/patchbay-dev/patchbay/plugins/internal/httpx"
	"github.com/patchbay-dev/patchbay/sdk/errs"
	"github.com/patchbay-dev/patchbay/sdk/notify"
)

type channel struct {
	cfg Config
	// server is that of the configuration, or nil; guard decides about those of recipients.
	server *server
	guard  *httpx.Guard
	tls    *tls.Config
	layout *template.Template
	log    hclog.Logger
}

// Send implements notify.Channel.
func (c *channel) Send(ctx context.Context, n *notify.Notification, to notify.Target) (*notify.Receipt, error) {
	s, diags := c.serverFor(to)
	if diags.HasErrors() {
		return nil, errs.BadInput("INVALID_TARGET", "%v", diags.Err())
	}
	m, err := c.composeMail(n, s)
	if err != nil {
		return nil, errs.BadInput("INVALID_NOTIFICATION", "write the mail: %v", err)
	}
	limited, cancel := context.WithTimeout(ctx, c.cfg.Timeout)
	defer cancel()
	d := &delivery{channel: c, server: s, phase: phaseConnect}
	if err := d.deliverMail(limited, m.raw); err != nil {
		if ctx.Err() != nil {
			return nil, notify.Unknown("%s: the call ended before the server's last word", s.dialAddress())
		}
		return nil, d.toOutcome(err)
	}
	c.log.Debug("sent", "id", n.ID, "server", s.dialAddress(), "recipients", d.accepted, "refused", len(d.refused))
	return &notify.Receipt{MessageIDs: []string{m.id}, Delivered: m.parts, Warnings: d.listWarnings()}, nil
}

// phase is how far a delivery has come.
type phase string

const (
	phaseConnect phase = "connecting"
	phaseGreet   phase = "greeting"
	phaseTLS     phase = "starting TLS"
	phaseAuth    phase = "signing in"
	phaseFrom    phase = "naming the sender"
	phaseTo      phase = "naming the recipients"
	phaseData    phase = "sending the text"
	phaseEnd     phase = "waiting for the server to take the mail"
)

// delivery is one mail on its way.
type delivery struct {
	*channel
	server   *server
	phase    phase
	accepted int
	refused  []refusal
}

// refusal is a recipient that the server did not take.
type refusal struct {
	address string
	err     error
}

// deliverMail talks to the server until it has taken the mail.
func (d *delivery) deliverMail(ctx context.Context, raw []byte) error {
	conn, err := d.dialServer(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	if deadline, ok := ctx.Deadline(); ok {
		_ = conn.SetDeadline(deadline)
	}
	defer context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })()
	c, err := d.startSession(conn)
	if err != nil {
		return err
	}
	if err := d.signIn(c, conn); err != nil {
		return err
	}
	if err := d.sendEnvelope(c); err != nil {
		return err
	}
	if err := d.sendContent(c, raw); err != nil {
		return err
	}
	_ = c.Quit()
	return nil
}

// dialServer connects, for smtps with TLS.
func (d *delivery) dialServer(ctx context.Context) (net.Conn, error) {
	conn, err := d.connectServer(ctx)
	if err != nil || !d.server.implicit {
		return conn, err
	}
	d.phase = phaseTLS
	secure := tls.Client(conn, d.tlsConfig())
	if err := secure.HandshakeContext(ctx); err != nil {
		_ = conn.Close()
		return nil, err
	}
	return secure, nil
}

func (d *delivery) tlsConfig() *tls.Config {
	conf := d.tls.Clone()
	conf.ServerName = d.server.host
	return conf
}

// startSession says hello and starts TLS.
func (d *delivery) startSession(conn net.Conn) (*smtp.Client, error) {
	d.phase = phaseGreet
	c, err := smtp.NewClient(conn, d.server.host)
	if err != nil {
		return nil, err
	}
	if err := c.Hello(ownName(conn)); err != nil {
		return nil, err
	}
	if d.server.implicit || d.server.policy == tlsNone {
		return c, nil
	}
	d.phase = phaseTLS
	if ok, _ := c.Extension("STARTTLS"); ok {
		return c, c.StartTLS(d.tlsConfig())
	}
	if d.server.policy == tlsRequired {
		return nil, notify.Permanent("TLS_MISSING", "%s does not offer STARTTLS, and tls=required", d.server.dialAddress())
	}
	return c, nil
}

// ownName returns how we greet a server: by name if we have a full one, otherwise by our address.
func ownName(conn net.Conn) string {
	if name, err := os.Hostname(); err == nil && strings.Contains(name, ".") {
		return name
	}
	host, _, err := net.SplitHostPort(conn.LocalAddr().String())
	if err != nil {
		return "localhost"
	}
	return (&server{host: host}).mailDomain()
}

// signIn signs in where there is a user.
func (d *delivery) signIn(c *smtp.Client, conn net.Conn) error {
	if d.server.user == "" {
		return nil
	}
	d.phase = phaseAuth
	state, encrypted := c.TLSConnectionState()
	if !(encrypted && state.HandshakeComplete) && !isLoopback(conn) {
		return notify.Permanent("TLS_MISSING", "%s: the connection is not encrypted, and a password is not sent over it", d.server.dialAddress())
	}
	_, offered := c.Extension("AUTH")
	auth, err := d.chooseMechanism(strings.Fields(strings.ToUpper(offered)))
	if err != nil {
		return err
	}
	return c.Auth(auth)
}

func isLoopback(conn net.Conn) bool {
	tcp, ok := conn.RemoteAddr().(*net.TCPAddr)
	return ok && tcp.IP.IsLoopback()
}

// chooseMechanism picks the way to sign in that most servers get right.
func (d *delivery) chooseMechanism(offered []string) (smtp.Auth, error) {
	s := d.server
	has := map[string]bool{}
	for _, m := range offered {
		has[m] = true
	}
	switch {
	case has["PLAIN"]:
		return smtp.PlainAuth("", s.user, s.password, s.host, true), nil
	case has["LOGIN"]:
		return smtp.LoginAuth(s.user, s.password, s.host, true), nil
	case has["SCRAM-SHA-256"]:
		return smtp.ScramSHA256Auth(s.user, s.password), nil
	case has["SCRAM-SHA-1"]:
		return smtp.ScramSHA1Auth(s.user, s.password), nil
	case has["CRAM-MD5"]:
		return smtp.CRAMMD5Auth(s.user, s.password), nil
	}
	return nil, notify.Permanent("AUTH_MISSING", "%s offers no way to sign in that is known here", s.dialAddress())
}

// sendEnvelope names sender and recipients. It fails if no recipient is taken.
func (d *delivery) sendEnvelope(c *smtp.Client) error {
	d.phase = phaseFrom
	wide := d.needsSMTPUTF8()
	if ok, _ := c.Extension("SMTPUTF8"); wide && !ok {
		return notify.Permanent("SMTPUTF8_MISSING", "%s takes no mail addresses with characters outside of ASCII", d.server.dialAddress())
	}
	c.SkipSMTPUTF8(!wide)
	if err := c.Mail(withBrackets(d.server.from)); err != nil {
		return err
	}
	d.phase = phaseTo
	for _, to := range d.server.to {
		err := c.Rcpt(withBrackets(to))
		var reply *textproto.Error
		switch {
		case err == nil:
			d.accepted++
		case errors.As(err, &reply) && reply.Code != 421:
			d.refused = append(d.refused, refusal{address: to.Address, err: err})
		default:
			return err
		}
	}
	if d.accepted == 0 {
		return d.decisiveRefusal()
	}
	return nil
}

// needsSMTPUTF8 reports whether an address of the envelope is not ASCII.
func (d *delivery) needsSMTPUTF8() bool {
	for _, a := range append([]*mail.Address{d.server.from}, d.server.to...) {
		if strings.ContainsFunc(a.Address, func(r rune) bool { return r > 126 }) {
			return true
		}
	}
	return false
}

// decisiveRefusal returns the refusal that counts if all recipients were refused: a temporary one, if there is one.
func (d *delivery) decisiveRefusal() error {
	for _, r := range d.refused {
		var reply *textproto.Error
		if errors.As(r.err, &reply) && reply.Code < 500 {
			return r.err
		}
	}
	return d.refused[0].err
}

func withBrackets(a *mail.Address) string { return (&mail.Address{Address: a.Address}).String() }

// sendContent sends the mail itself. From its last line on, the server may have taken it.
func (d *delivery) sendContent(c *smtp.Client, raw []byte) error {
	d.phase = phaseData
	w, err := c.Data()
	if err != nil {
		return err
	}
	if _, err := w.Write(raw); err != nil {
		return err
	}
	d.phase = phaseEnd
	return w.Close()
}

func (d *delivery) listWarnings() (out []string) {
	for _, r := range d.refused {
		out = append(out, fmt.Sprintf("%s was refused: %s", r.address, d.replyText(r.err)))
	}
	return out
}
