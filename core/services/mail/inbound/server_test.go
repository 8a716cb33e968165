package inbound

import (
	"context"
	"fmt"
	"net/netip"
	"strings"
	"sync"
	"testing"

	"github.com/patchbay-dev/patchbay/core/internal/testing/testkit"
	"github.com/patchbay-dev/patchbay/core/services/mail/rfc822"
	"github.com/patchbay-dev/patchbay/core/store"
)

// TestRecipientsShareContent counts what is stored of messages to several mailboxes: each delivery is kept, its bytes once.
func TestRecipientsShareContent(t *testing.T) {
	testkit.ForEachDialect(t, func(t *testing.T, cfg store.Config) {
		e := newEnv(t, cfg, nil)
		c := e.greeted()
		for _, to := range [][]string{{"ada"}, {"ada", "bob"}, {"bob", "ada"}, {"cay", "dan"}} {
			c.say("MAIL FROM:<ada@example.com>", "250")
			for _, local := range to {
				c.say("RCPT TO:<"+local+"@inbox.test>", "250")
			}
			c.say("DATA", "354")
			c.write(sample(1, 2000) + ".\r\n")
			c.expect("250")
		}
		for table, want := range map[string]int64{"mail_messages": 7, "mail_search": 7, "mail_contents": 4, "mail_chunks": 4} {
			var n int64
			if err := e.store.DB(t.Context()).Table(table).Count(&n).Error; err != nil || n != want {
				t.Errorf("%s has %d rows, want %d: %v", table, n, want, err)
			}
		}
		for _, m := range e.all() {
			if e.raw(m) != sample(1, 2000) {
				t.Errorf("the message of %s is not the one that was sent", m.MailboxAddress)
			}
		}
	})
}

func TestMessageIsStoredAsItCame(t *testing.T) {
	testkit.ForEachDialect(t, func(t *testing.T, cfg store.Config) {
		e := newEnv(t, cfg, nil)
		c := e.greeted()
		small := "Subject: Your verification code: 482913\r\nFrom: =?utf-8?q?Ad=C3=A9?= <ada@example.com>\r\n\r\nbinary \x00 \xff and\ttab\r\n"
		c.send("box@inbox.test", small, "250")
		large := sample(2, 3<<20)
		c.send("Box@Inbox.TEST", large, "250")
		c.send("box@inbox.test", small, "250")
		c.say("QUIT", "221")
		got := e.all()
		if len(got) != 3 {
			t.Fatalf("%d messages were stored, want 3: who saw the answer has sent another message", len(got))
		}
		if e.raw(got[0]) != small || e.raw(got[1]) != large {
			t.Error("the raw bytes are not those that were sent")
		}
		m, err := e.messages.Find(context.Background(), got[0].ID)
		if err != nil {
			t.Fatal(err)
		}
		if m.Subject != "Your verification code: 482913" || m.FromName != "Adé" || m.FromAddress != "ada@example.com" || m.Code != "482913" ||
			m.CodeSource != "subject" ||
			m.EnvelopeFrom != "ada@example.com" || m.EnvelopeTo != "box@inbox.test" || m.Client != "127.0.0.1" || m.Helo != "client.example.com" ||
			m.ParseStatus != rfc822.ParseOK {
			t.Errorf("stored as %+v", m)
		}
	})
}

func TestRefusals(t *testing.T) {
	e := newEnv(t, testkit.SQLiteConfig(t), nil)
	for _, test := range []struct{ name, raw, want string }{
		{"bare LF", "Subject: x\r\n\r\na\nb\r\n", "550 5.5.2"},
		{"bare CR", "Subject: x\r\n\r\na\rb\r\n", "550 5.5.2"},
		{"smuggling by LF", "Subject: x\r\n\r\na\n.\nMAIL FROM:<x@example.com>\r\n", "550 5.5.2"},
		{"smuggling by LF and CRLF", "Subject: x\r\n\r\na\n.\r\nMAIL FROM:<x@example.com>\r\n", "550 5.5.2"},
		{"smuggling by CR", "Subject: x\r\n\r\na\r.\rMAIL FROM:<x@example.com>\r\n", "550 5.5.2"},
		{"too large", sample(1, 5<<20), "552"},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := e.greeted()
			c.send("box@inbox.test", test.raw, test.want)
			c.send("box@inbox.test", sample(len(test.name), 100), "250")
		})
	}
	t.Run("long line", func(t *testing.T) {
		e.greeted().send("box@inbox.test", "Subject: x\r\n\r\n"+strings.Repeat("x", maxLine+1)+"\r\n", "554 5.6.0")
	})
	t.Run("long but allowed line", func(t *testing.T) {
		e.greeted().send("box@inbox.test", "Subject: x\r\n\r\n"+strings.Repeat("x", maxLine/2)+"\r\n", "250")
	})
	c := e.greeted()
	c.say("MAIL FROM:<ada@example.com> SIZE=99999999", "552")
	c.say("MAIL FROM:<ada@example.com>", "250")
	c.say("RCPT TO:<nobody@inbox.test>", "550 5.1.1")
	c.say("RCPT TO:<box@example.org>", "550 5.1.1")
	c.say("DATA", "502")
	for i := range 3 {
		c.say(fmt.Sprintf("RCPT TO:<box%d@inbox.test>", i), "250")
	}
	c.say("RCPT TO:<box4@inbox.test>", "452 4.5.3")
	c.say("DATA", "354")
	c.write(sample(77, 100) + ".\r\n")
	c.expect("250")
	var seen []string
	for _, m := range e.all() {
		if m.MessageID == "<77@example.com>" {
			seen = append(seen, m.EnvelopeTo)
		}
	}
	if strings.Join(seen, " ") != "box0@inbox.test box1@inbox.test box2@inbox.test" {
		t.Errorf("the message went to %v", seen)
	}
}

func TestExtensions(t *testing.T) {
	e := newEnv(t, testkit.SQLiteConfig(t), nil)
	c := e.dial()
	c.expect("220 mx.inbox.test")
	offered := c.say("EHLO client", "250")
	for _, want := range []string{"PIPELINING", "8BITMIME", "SMTPUTF8", "SIZE 4194304", "ENHANCEDSTATUSCODES", "CHUNKING"} {
		if !strings.Contains(offered, want) {
			t.Errorf("%s is not offered: %q", want, offered)
		}
	}
	if strings.Contains(offered, "STARTTLS") || strings.Contains(offered, "AUTH") {
		t.Errorf("offered: %q", offered)
	}
	c.write("MAIL FROM:<ada@example.com> BODY=8BITMIME SMTPUTF8\r\nRCPT TO:<box@inbox.test>\r\nDATA\r\n")
	c.expect("250")
	c.expect("250")
	c.expect("354")
	c.write("Subject: 你好\r\n\r\n验证码：482913\r\n.\r\n")
	c.expect("250")
	c.say("MAIL FROM:<ada@example.com>", "250")
	c.say("RCPT TO:<box@inbox.test>", "250")
	c.write("BDAT 16 LAST\r\nSubject: x\r\n\r\ny\r\n")
	c.expect("550 5.5.2") // the sixteenth byte is a bare CR
	c.write("RSET\r\n")
	if got := e.all(); len(got) != 1 || got[0].Subject != "你好" || got[0].Code != "482913" {
		t.Errorf("stored: %+v", got)
	}
}

func TestManyConnectionsShareTransactions(t *testing.T) {
	testkit.ForEachDialect(t, func(t *testing.T, cfg store.Config) {
		e := newEnv(t, cfg, nil)
		const clients, each = 8, 25
		var all sync.WaitGroup
		for n := range clients {
			all.Go(func() {
				c := e.greeted()
				for i := range each {
					c.send("box@inbox.test", sample(n*each+i, 10_000), "250")
				}
			})
		}
		all.Wait()
		got := e.all()
		if len(got) != clients*each {
			t.Fatalf("%d messages were stored", len(got))
		}
		ids := map[string]bool{}
		last := int64(0)
		for _, m := range got {
			if m.Seq <= last || ids[m.MessageID] {
				t.Fatalf("message %d %s after %d: out of order or repeated", m.Seq, m.MessageID, last)
			}
			last, ids[m.MessageID] = m.Seq, true
		}
	})
}

func TestBytesThatAreNoText(t *testing.T) {
	testkit.ForEachDialect(t, func(t *testing.T, cfg store.Config) {
		e := newEnv(t, cfg, nil)
		c := e.dial()
		c.expect("220")
		c.say("EHLO cli\xffent", "250")
		c.say("MAIL FROM:<a\xffda@example.com> SMTPUTF8", "250")
		c.say("RCPT TO:<box@inbox.test>", "250")
		c.say("DATA", "354")
		c.write("From: =?utf-8?q?A=00d=FFa?= <ada@example.com>\r\nSubject: \x00\xff\r\nMessage-ID: <\x00\xff>\r\n\r\n\x00\xff\r\n.\r\n")
		c.expect("250")
		if got := e.all(); len(got) != 1 {
			t.Errorf("stored: %+v", got)
		}
	})
}

func TestDestroyedMailbox(t *testing.T) {
	e := newEnv(t, testkit.SQLiteConfig(t), nil)
	e.boxes.gone["mbx_box"] = true
	c := e.greeted()
	c.send("box@inbox.test", sample(1, 100), "550 5.1.1")
	c.say("MAIL FROM:<>", "250")
	c.say("RCPT TO:<box@inbox.test>", "250")
	c.say("RCPT TO:<other@inbox.test>", "250")
	c.say("DATA", "354")
	c.write(sample(1, 100) + ".\r\n")
	c.expect("250")
	if got := e.all(); len(got) != 1 || got[0].MailboxID != "mbx_other" {
		t.Errorf("stored: %+v", got)
	}
}

func TestLimitsOfConnections(t *testing.T) {
	e := newEnv(t, testkit.SQLiteConfig(t), func(c *ServerConfig) { c.MaxPerClient, c.MessagesPerMinute = 2, 2 })
	first, second := e.greeted(), e.greeted()
	e.dial().expect("421 4.7.0")
	second.say("QUIT", "221")
	if _, err := second.in.ReadByte(); err == nil {
		t.Fatal("the connection is still open")
	}
	first.send("box@inbox.test", sample(1, 100), "250")
	first.send("box@inbox.test", sample(2, 100), "250")
	first.say("MAIL FROM:<ada@example.com>", "450 4.7.1")
}

func TestProxyProtocol(t *testing.T) {
	e := newEnv(t, testkit.SQLiteConfig(t), func(c *ServerConfig) { c.Proxies = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")} })
	c := e.dial()
	c.write("PROXY TCP4 192.0.2.7 127.0.0.1 40000 25\r\n")
	c.expect("220")
	c.say("EHLO client", "250")
	c.send("box@inbox.test", sample(1, 100), "250")
	if got := e.all(); len(got) != 1 || got[0].Client != "192.0.2.7" {
		t.Errorf("stored: %+v", got)
	}
}
