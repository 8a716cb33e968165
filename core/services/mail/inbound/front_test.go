package inbound

import (
	"crypto/tls"
	"fmt"
	"net/netip"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/patchbay-dev/patchbay/core/internal/testing/testkit"
)

// TestBareCR: no command and no message may have a CR without LF, wherever it stands.
func TestBareCR(t *testing.T) {
	e := newEnv(t, testkit.SQLiteConfig(t), nil)
	for _, command := range []string{
		"EHLO cli\rent", "NOOP\r", "NOOP \r", "NOOP\rRSET", "RSET\r", "VRFY x\ry", "MAIL FROM:<a\rb@example.com>", "MAIL FROM:<a@example.com>\r",
		"RCPT TO:<box@inbox.test>\rX",
		"DATA\r", "BDAT 5 LAST\r", "STARTTLS\r", "QUIT\r", "\r",
	} {
		c := e.greeted()
		if strings.HasPrefix(command, "RCPT") || strings.HasPrefix(command, "DATA") || strings.HasPrefix(command, "BDAT") {
			c.say("MAIL FROM:<ada@example.com>", "250")
			c.say("RCPT TO:<box@inbox.test>", "250")
		}
		c.write(command + "\r\n")
		c.expect("500 5.5.2")
		c.say("NOOP", "250")
	}
	for _, message := range []string{
		"x\ry\r\n", ".\rx\r\n", ".\r\r\n", "\r\r\n", "x\r\r\n", "..\rx\r\n", ".\r\r\n.\rx\r\n", "x\r\n.\rRSET\r\n",
	} {
		c := e.greeted()
		c.send("box@inbox.test", "Subject: x\r\n\r\n"+message+"end\r\n", "550 5.5.2")
		c.send("box@inbox.test", "Subject: fine\r\n\r\n..\r\n", "250")
	}
	for _, m := range e.all() {
		if m.Subject != "fine" {
			t.Errorf("%q is stored", e.raw(m))
		}
	}
	if n := len(e.all()); n != 8 {
		t.Errorf("%d messages are stored, want 8", n)
	}
}

// TestPipelining: commands after a message and chunks in one write are told apart as the library does.
func TestPipelining(t *testing.T) {
	e := newEnv(t, testkit.SQLiteConfig(t), nil)
	c := e.greeted()
	c.write("MAIL FROM:<ada@example.com>\r\nRCPT TO:<box@inbox.test>\r\nDATA\r\n")
	c.expect("250")
	c.expect("250")
	c.expect("354")
	c.write("Subject: one\r\n\r\nBDAT 5\r\n..\r\nSTARTTLS\r\n.\r\nMAIL FROM:<ada@example.com>\r\nRCPT TO:<box@inbox.test>\r\nBDAT 16\r\nSubject: two\r\n\r\nBDAT 6 LAST\r\nNOOP\r\nNOOP\r\n")
	for _, want := range []string{"250", "250", "250", "250", "250", "250"} {
		c.expect(want)
	}
	got := e.all()
	if len(got) != 2 || e.raw(got[0]) != "Subject: one\r\n\r\nBDAT 5\r\n.\r\nSTARTTLS\r\n" || e.raw(got[1]) != "Subject: two\r\n\r\nNOOP\r\n" {
		t.Errorf("stored: %+v", got)
	}
}

// TestTooMuchWithoutAMessage: who sends commands that bring no message, or names recipients that there are not, is answered late, then
// not any more. TLS begins no new count.
func TestTooMuchWithoutAMessage(t *testing.T) {
	dir := t.TempDir()
	cert, key := filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	trusted := writeCertificate(t, cert, key)
	for _, test := range []struct {
		name, command, want string
		limit               int
		before              []string
	}{
		{"NOOP", "NOOP", "250", maxIdleCommands, nil},
		{"RSET", "RSET", "250", maxIdleCommands, nil},
		{"VRFY", "VRFY box", "252", maxIdleCommands, nil},
		{"EHLO", "EHLO client", "250", maxIdleCommands, nil},
		{"unknown recipients", "RCPT TO:<nobody@inbox.test>", "550 5.1.1", maxRefusedRecipients, []string{"MAIL FROM:<ada@example.com>"}},
	} {
		for _, withTLS := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/TLS %v", test.name, withTLS), func(t *testing.T) {
				e := newEnv(t, testkit.SQLiteConfig(t), func(c *ServerConfig) { c.AnswerDelay, c.CertFile, c.KeyFile = time.Millisecond, cert, key })
				c := e.greeted()
				for _, line := range test.before {
					c.say(line, "250")
				}
				said := 0
				say := func(n int) {
					for range n {
						c.say(test.command, test.want)
						said++
					}
				}
				if withTLS {
					say(test.limit / 2)
					c.say("STARTTLS", "220")
					secured := tls.Client(c.conn, &tls.Config{ServerName: "mx.inbox.test", RootCAs: trusted})
					c.conn = secured
					c.in.Reset(secured)
					if offered := c.say("EHLO client", "250"); strings.Contains(offered, "STARTTLS") {
						t.Errorf("STARTTLS is offered once more: %q", offered)
					}
					for _, line := range test.before {
						c.say(line, "250")
					}
				}
				say(test.limit + lateAnswers - said)
				c.write(test.command + "\r\n")
				c.expect("421 4.7.0")
				if _, err := c.in.ReadByte(); err == nil {
					t.Error("the connection goes on")
				}
			})
		}
	}
	t.Run("a message begins a new count", func(t *testing.T) {
		e := newEnv(t, testkit.SQLiteConfig(t), func(c *ServerConfig) { c.AnswerDelay = time.Millisecond })
		c := e.greeted()
		for round := range 3 {
			for range maxIdleCommands {
				c.say("NOOP", "250")
			}
			c.send("box@inbox.test", sample(round, 100), "250")
		}
	})
}

// TestRateCountsMessages: MAIL and RSET are no message.
func TestRateCountsMessages(t *testing.T) {
	e := newEnv(t, testkit.SQLiteConfig(t), func(c *ServerConfig) { c.MessagesPerMinute = 2 })
	c := e.greeted()
	for range 10 {
		c.say("MAIL FROM:<ada@example.com>", "250")
		c.say("RSET", "250")
	}
	c.send("box@inbox.test", sample(1, 100), "250")
	c.send("box@inbox.test", sample(2, 100), "250")
	c.say("MAIL FROM:<ada@example.com>", "450 4.7.1")
}

// TestLoopbackRate: this machine has a limit of its own.
func TestLoopbackRate(t *testing.T) {
	e := newEnv(t, testkit.SQLiteConfig(t), func(c *ServerConfig) { c.MessagesPerMinute, c.LoopbackPerMinute = 1, 3 })
	c := e.greeted()
	for n := range 3 {
		c.send("box@inbox.test", sample(n, 100), "250")
	}
	c.say("MAIL FROM:<ada@example.com>", "450 4.7.1")
}

// TestNetworksOf64BitsAreOneClient: who has an IPv6 network has no more than who has one address.
func TestNetworksOf64BitsAreOneClient(t *testing.T) {
	e := newEnv(t, testkit.SQLiteConfig(t), func(c *ServerConfig) {
		c.Proxies, c.MaxPerClient, c.MessagesPerMinute = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}, 2, 1
	})
	from := func(address, want string) *talk {
		c := e.dial()
		c.write("PROXY TCP6 " + address + " 2001:db8::25 40000 25\r\n")
		c.expect(want)
		return c
	}
	first := from("2001:db8:1:2::1", "220")
	second := from("2001:db8:1:2::2", "220")
	from("2001:db8:1:2:ffff::3", "421 4.7.0")
	other := from("2001:db8:1:3::1", "220")
	for _, c := range []*talk{first, second, other} {
		c.say("EHLO client", "250")
	}
	first.send("box@inbox.test", sample(1, 100), "250")
	second.say("MAIL FROM:<ada@example.com>", "450 4.7.1")
	other.send("box@inbox.test", sample(2, 100), "250")
}

// TestNothingIsInjectedBeforeTLS: what came in the clear with STARTTLS is not taken for what comes with TLS.
func TestNothingIsInjectedBeforeTLS(t *testing.T) {
	dir := t.TempDir()
	cert, key := filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	trusted := writeCertificate(t, cert, key)
	e := newEnv(t, testkit.SQLiteConfig(t), func(c *ServerConfig) { c.CertFile, c.KeyFile = cert, key })
	c := e.greeted()
	c.write("STARTTLS\r\nEHLO injected\r\nMAIL FROM:<eve@example.com>\r\n")
	c.expect("220")
	secured := tls.Client(c.conn, &tls.Config{ServerName: "mx.inbox.test", RootCAs: trusted})
	c.conn = secured
	c.in.Reset(secured)
	c.say("MAIL FROM:<ada@example.com>", "502") // nobody has said EHLO
	c.say("EHLO client", "250")
	c.send("box@inbox.test", sample(1, 100), "250")
	if got := e.all(); len(got) != 1 || got[0].EnvelopeFrom != "ada@example.com" || got[0].TLS != "TLS 1.3" {
		t.Errorf("stored: %+v", got)
	}
}
