package inbound

import (
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/patchbay-dev/patchbay/core/internal/testing/testkit"
	"github.com/patchbay-dev/patchbay/core/services/mail/message"
	"github.com/patchbay-dev/patchbay/core/store"
)

// receipts returns the number of stored deliveries.
func (e *env) receipts() (n int64) {
	e.Helper()
	if err := e.store.DB(e.Context()).Model(&message.Receipt{}).Count(&n).Error; err != nil {
		e.Fatal(err)
	}
	return n
}

// sendUnanswered sends a message and returns before its answer is read.
func (e *env) sendUnanswered(raw string) *talk {
	e.Helper()
	c := e.greeted()
	c.say("MAIL FROM:<ada@example.com>", "250")
	c.say("RCPT TO:<box@inbox.test>", "250")
	c.say("DATA", "354")
	c.write(raw + ".\r\n")
	return c
}

// TestIdenticalMessages sends the same message twice. How the first connection ends says whether the second one repeats it.
func TestIdenticalMessages(t *testing.T) {
	raw := sample(1, 200)
	for _, test := range []struct {
		name string
		// end ends the first connection, on which the message was sent and its answer was not read.
		end  func(e *env, c *talk)
		want int
	}{
		{"another command", func(_ *env, c *talk) { c.expect("250"); c.say("NOOP", "250") }, 2},
		{"QUIT", func(_ *env, c *talk) { c.expect("250"); c.say("QUIT", "221") }, 2},
		{"orderly close after the answer", func(_ *env, c *talk) { c.expect("250"); c.conn.Close() }, 2},
		{"silent after the answer, and still connected", func(_ *env, c *talk) { c.expect("250") }, 2},
		{"reset after the answer", func(e *env, c *talk) {
			c.expect("250")
			_ = c.conn.(*net.TCPConn).SetLinger(0)
			c.conn.Close()
			e.waitForEnd()
		}, 1},
		{"gone before the answer", func(e *env, c *talk) {
			testkit.Eventually(e, 20*time.Second, func() bool { return e.count() == 1 }, "the message is stored")
			_ = c.conn.(*net.TCPConn).SetLinger(0)
			c.conn.Close()
			e.waitForEnd()
		}, 1},
		{"idle for too long", func(e *env, c *talk) { c.expect("250"); e.server.gate.closeIdle(); e.waitForEnd() }, 2},
	} {
		t.Run(test.name, func(t *testing.T) {
			testkit.ForEachDialect(t, func(t *testing.T, cfg store.Config) {
				e := newEnv(t, cfg, nil)
				test.end(e, e.sendUnanswered(raw))
				second := e.greeted()
				second.send("box@inbox.test", raw, "250")
				if n := e.count(); n != test.want {
					t.Errorf("%d messages are stored, want %d", n, test.want)
				}
				// Who saw this answer and sends it once more has sent another message.
				second.send("box@inbox.test", raw, "250")
				second.say("QUIT", "221")
				if n := e.count(); n != test.want+1 {
					t.Errorf("%d messages are stored after the third, want %d", n, test.want+1)
				}
				if test.name != "silent after the answer, and still connected" {
					testkit.Eventually(t, 20*time.Second, func() bool { return e.receipts() == 0 }, "answered deliveries are forgotten")
				}
			})
		})
	}
}

// waitForEnd waits until no connection is open.
func (e *env) waitForEnd() {
	e.Helper()
	testkit.Eventually(e, 20*time.Second, func() bool {
		e.server.gate.mu.Lock()
		defer e.server.gate.mu.Unlock()
		return len(e.server.gate.open) == 0
	}, "the connection has ended")
}

// TestRepetitionAfterAKill: a core that was killed after it had stored a message may not have answered it. Another envelope or a day later
// is another message.
func TestRepetitionAfterAKill(t *testing.T) {
	testkit.ForEachDialect(t, func(t *testing.T, cfg store.Config) {
		e := newEnv(t, cfg, nil)
		raw := sample(1, 200)
		e.sendUnanswered(raw).expect("250")
		// A new ingester knows no more than the database, as one after a kill.
		e.restart()
		e.greeted().send("other@inbox.test", raw, "250")
		first := e.greeted()
		first.say("MAIL FROM:<bob@example.com>", "250")
		first.say("RCPT TO:<box@inbox.test>", "250")
		first.say("DATA", "354")
		first.write(raw + ".\r\n")
		first.expect("250")
		if n := e.count(); n != 3 {
			t.Fatalf("%d messages are stored, want 3: the envelopes differ", n)
		}
		e.greeted().send("box@inbox.test", raw, "250")
		if n := e.count(); n != 3 {
			t.Errorf("%d messages are stored: the repetition counts", n)
		}
		e.restart()
		e.ingester.cfg.Now = func() time.Time { return time.Now().Add(message.RepeatTime + time.Minute) }
		e.greeted().send("box@inbox.test", raw, "250")
		if n := e.count(); n != 4 {
			t.Errorf("%d messages are stored, want 4: a day has passed", n)
		}
	})
}

// restart serves with an ingester that has no memory, beside the former one.
func (e *env) restart() {
	e.Helper()
	cfg := e.ingester.cfg
	e.ingester = New(cfg)
	e.Cleanup(e.ingester.Close)
	server := e.server.cfg
	server.Ingester, server.Logger = e.ingester, hclog.NewNullLogger()
	var err error
	if e.server, err = NewServer(server); err != nil {
		e.Fatal(err)
	}
	if err := e.server.Start(); err != nil {
		e.Fatal(err)
	}
	e.Cleanup(e.server.Close)
}

// TestIdenticalMessagesAtOnce: connections that are open beside each other have sent a message each.
func TestIdenticalMessagesAtOnce(t *testing.T) {
	testkit.ForEachDialect(t, func(t *testing.T, cfg store.Config) {
		e := newEnv(t, cfg, nil)
		var all sync.WaitGroup
		for range 10 {
			all.Go(func() { e.sendUnanswered("Subject: x\r\n\r\n" + strings.Repeat("y", 300) + "\r\n").expect("250") })
		}
		all.Wait()
		if n := e.count(); n != 10 {
			t.Errorf("%d messages are stored, want 10", n)
		}
	})
}
