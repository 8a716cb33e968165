package testkit

import (
	"io"
	"net"
	"net/url"
	"sync"
	"testing"
)

// Line is a TCP line to a server that can be cut: what is sent on a cut line goes nowhere, as behind a router that fails, and comes
// through when the line is whole again.
type Line struct {
	// URL is that of the server, through the line.
	URL string

	listener net.Listener
	mu       sync.Mutex
	whole    *sync.Cond
	cut      bool
	conns    map[net.Conn]struct{}
	closed   bool
}

// NewLine returns a line to the server of a URL, until the test ends.
func NewLine(t testing.TB, server string) *Line {
	t.Helper()
	u, err := url.Parse(server)
	Must(t, err)
	target := u.Host
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	Must(t, err)
	u.Host = listener.Addr().String()
	l := &Line{URL: u.String(), listener: listener, conns: map[net.Conn]struct{}{}}
	l.whole = sync.NewCond(&l.mu)
	var serving sync.WaitGroup
	serving.Go(func() { l.acceptClients(&serving, target) })
	t.Cleanup(func() {
		l.close()
		serving.Wait()
	})
	return l
}

// Cut cuts the line or makes it whole.
func (l *Line) Cut(cut bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.cut = cut
	l.whole.Broadcast()
}

func (l *Line) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = true
	_ = l.listener.Close()
	for c := range l.conns {
		_ = c.Close()
	}
	l.whole.Broadcast()
}

func (l *Line) acceptClients(serving *sync.WaitGroup, target string) {
	for {
		client, err := l.listener.Accept()
		if err != nil {
			return
		}
		server, err := net.Dial("tcp", target)
		if err != nil || !l.keepConns(client, server) {
			_ = client.Close()
			continue
		}
		serving.Go(func() { l.carryBytes(server, client) })
		serving.Go(func() { l.carryBytes(client, server) })
	}
}

// keepConns notes connections that close ends. It returns false when that has happened.
func (l *Line) keepConns(conns ...net.Conn) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, c := range conns {
		if l.closed {
			_ = c.Close()
		}
		l.conns[c] = struct{}{}
	}
	return !l.closed
}

// carryBytes hands on what from sends, while the line is whole.
func (l *Line) carryBytes(to, from net.Conn) {
	defer to.Close()
	buf := make([]byte, 32<<10)
	for {
		n, err := from.Read(buf)
		l.mu.Lock()
		for l.cut && !l.closed {
			l.whole.Wait()
		}
		l.mu.Unlock()
		if _, failed := to.Write(buf[:n]); failed != nil || err != nil {
			if err != io.EOF {
				_ = from.Close()
			}
			return
		}
	}
}
