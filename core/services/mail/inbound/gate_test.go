package inbound

import (
	"io"
	"net"
	"net/netip"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/patchbay-dev/patchbay/core/internal/testing/testkit"
)

// eventually waits until something holds.
func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); !holds(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("it did not come about that %s", what)
		}
	}
}

// TestSilentProxy: trusted proxies that send no header keep nobody else waiting, and only so many of them are waited for.
func TestSilentProxy(t *testing.T) {
	const most = 3
	e := newEnv(t, testkit.SQLiteConfig(t), func(c *ServerConfig) {
		c.Proxies, c.MaxConnections = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}, most
	})
	for range most - 1 {
		e.dial()
	}
	eventually(t, "the silent ones wait", func() bool { return e.server.gate.countPending() == most-1 })
	began := time.Now()
	c := e.dial()
	c.write("PROXY TCP4 192.0.2.7 127.0.0.1 40000 25\r\n")
	c.expect("220")
	c.say("EHLO client", "250")
	if took := time.Since(began); took > proxyHeaderTime/2 {
		t.Errorf("a greeting beside silent proxies took %s", took)
	}
	e.dial()
	eventually(t, "one more waits", func() bool { return e.server.gate.countPending() == most })
	e.dial().expect("421")

	// What stops does not wait for them.
	began = time.Now()
	e.server.Close()
	if took := time.Since(began); took > proxyHeaderTime/2 {
		t.Errorf("stopping took %s", took)
	}
	eventually(t, "nobody is waited for", func() bool { return e.server.gate.countPending() == 0 })
}

// countPending returns how many connections have an unknown client.
func (g *connectionGate) countPending() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return len(g.pending)
}

// TestOthersAreNoProxies: a client that is no trusted proxy is greeted at once, and is not believed.
func TestOthersAreNoProxies(t *testing.T) {
	e := newEnv(t, testkit.SQLiteConfig(t), func(c *ServerConfig) { c.Proxies = []netip.Prefix{netip.MustParsePrefix("192.0.2.0/24")} })
	began := time.Now()
	c := e.dial()
	c.expect("220")
	if took := time.Since(began); took > proxyHeaderTime/2 {
		t.Errorf("the greeting took %s", took)
	}
	c.say("PROXY TCP4 198.51.100.7 127.0.0.1 40000 25", "50")
	c.say("EHLO client", "250")
	c.send("box@inbox.test", sample(1, 100), "250")
	if got := e.all(); len(got) != 1 || got[0].Client != "127.0.0.1" {
		t.Errorf("stored: %+v", got)
	}
}

// TestFiveHundredConnections: of 500 connections at once those beyond the bound are answered with 421, the others are served, and
// memory stays small.
func TestFiveHundredConnections(t *testing.T) {
	const dialed, most = 500, 100
	e := newEnv(t, testkit.SQLiteConfig(t), func(c *ServerConfig) { c.MaxConnections, c.MaxPerClient = most, most })
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	var greeted, refused atomic.Int64
	var all sync.WaitGroup
	open := make(chan net.Conn, dialed)
	for range dialed {
		all.Go(func() {
			conn, err := net.Dial("tcp", e.server.Addresses()[0].String())
			if err != nil {
				t.Error(err)
				return
			}
			open <- conn
			_ = conn.SetDeadline(time.Now().Add(20 * time.Second))
			reply := make([]byte, 3)
			if _, err := io.ReadFull(conn, reply); err != nil {
				t.Error(err)
			}
			switch string(reply) {
			case "220":
				greeted.Add(1)
			case "421":
				refused.Add(1)
			default:
				t.Errorf("a connection is answered with %q", reply)
			}
		})
	}
	all.Wait()
	if greeted.Load() != most || refused.Load() != dialed-most {
		t.Errorf("%d connections were greeted and %d refused", greeted.Load(), refused.Load())
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	if grown := int64(after.HeapInuse) - int64(before.HeapInuse); grown > 32<<20 {
		t.Errorf("%d connections hold %d bytes", most, grown)
	}
	close(open)
	for conn := range open {
		_ = conn.Close()
	}
	eventually(t, "there is room again", func() bool {
		conn, err := net.Dial("tcp", e.server.Addresses()[0].String())
		if err != nil {
			return false
		}
		defer conn.Close()
		reply := make([]byte, 3)
		_, err = io.ReadFull(conn, reply)
		return err == nil && string(reply) == "220"
	})
	e.greeted().send("box@inbox.test", sample(1, 100), "250")
}

// TestSlowSender: a sender that dribbles, so that it is never silent for long, is cut off when its message takes too long, and
// leaves nothing behind. Another one is served meanwhile.
func TestSlowSender(t *testing.T) {
	const limit = 2 * time.Second
	e := newEnv(t, testkit.SQLiteConfig(t), func(c *ServerConfig) { c.Timeout = limit })
	slow := e.greeted()
	slow.say("MAIL FROM:<ada@example.com>", "250")
	slow.say("RCPT TO:<box@inbox.test>", "250")
	slow.say("DATA", "354")
	began, cut := time.Now(), make(chan time.Duration, 1)
	go func() {
		for _, b := range []byte("Subject: slow\r\n\r\n" + strings.Repeat("x\r\n", 1000)) {
			if _, err := slow.conn.Write([]byte{b}); err != nil {
				break
			}
			time.Sleep(limit / 20)
		}
		cut <- time.Since(began)
	}()
	e.greeted().send("box@inbox.test", sample(1, 100), "250")
	select {
	case took := <-cut:
		if took < limit/2 || took > 3*limit {
			t.Errorf("it was cut off after %s", took)
		}
	case <-time.After(10 * limit):
		t.Error("it was not cut off")
	}
	if got := e.all(); len(got) != 1 {
		t.Errorf("stored: %+v", got)
	}
}
