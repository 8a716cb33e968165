package httpd

import (
	"container/list"
	"net"
	"net/http"
	"sync"
	"time"
)

// ConnectionLimits bounds the connections that are open at once. Where there is no room for a new one, that which is idle longest is
// closed.
type ConnectionLimits struct {
	// Total bounds all; if none of them is idle, further ones wait until one ends.
	Total int
	// Each bounds those of one client, which is an IPv4 address or an IPv6 network of 64 bits; if none of them is idle, further ones are
	// closed. 0 means no bound.
	Each int
	// Clients names the trusted proxies, which Each does not bound; nil means that there are none.
	Clients *Clients
	// Refused is called with the reason for each connection that is closed; nil for nothing.
	Refused func(reason string)
}

// LimitConnections bounds the connections that are open at once. Call it before Serve.
func (s *Server) LimitConnections(limits ConnectionLimits) {
	l := &limitedListener{Listener: s.listener, limits: limits, byClient: map[string]int{}, idle: list.New()}
	l.changed = sync.NewCond(&l.mu)
	s.listener = l
	s.http.ConnState = func(c net.Conn, state http.ConnState) {
		s.newcomers.noteState(c, state)
		l.noteState(c, state)
	}
}

// limitedListener accepts connections within limits.
type limitedListener struct {
	net.Listener
	limits ConnectionLimits

	mu sync.Mutex
	// changed is signalled when a connection ends or becomes idle.
	changed  *sync.Cond
	closed   bool
	open     int
	byClient map[string]int
	// idle holds the connections without a request, each a *limitedConn, the one that is idle longest first.
	idle *list.List
}

// limitedConn is a connection that is counted until it closes.
type limitedConn struct {
	net.Conn
	listener *limitedListener
	// client is whose connections it counts with, or "" if those are not bounded.
	client string
	// place is where it stands among the idle ones, or nil.
	place *list.Element
	// idleFrom is when it counts as idle, for one that has a place.
	idleFrom time.Time
	// closed says that it is not counted any more.
	closed bool
	once   sync.Once
}

// firstRequest is how long a new connection may take to send a request before it counts as idle.
const firstRequest = time.Second

// Accept implements net.Listener.
func (l *limitedListener) Accept() (net.Conn, error) {
	for {
		c, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		conn := &limitedConn{Conn: c, listener: l}
		if addr := peerAddress(c.RemoteAddr().String()); l.limits.Each > 0 && (l.limits.Clients == nil || !l.limits.Clients.Trusted(addr)) {
			conn.client = ClientNetwork(addr)
		}
		if !l.makeRoomForClient(conn.client) {
			l.countRefusal(RefusedConnection)
			_ = c.Close()
			continue
		}
		if !l.makeRoom() {
			_ = c.Close()
			return nil, net.ErrClosed
		}
		l.add(conn)
		return conn, nil
	}
}

// makeRoomForClient reports whether a client may have one more connection, for which it may lose an idle one.
func (l *limitedListener) makeRoomForClient(client string) bool {
	l.mu.Lock()
	full := client != "" && l.byClient[client] >= l.limits.Each
	var oldest *limitedConn
	if full {
		oldest, _ = l.oldestIdle(func(c *limitedConn) bool { return c.client == client })
	}
	l.mu.Unlock()
	if oldest != nil {
		l.closeIdle(oldest)
	}
	return !full || oldest != nil
}

// makeRoom waits until one more connection may be open. It reports false if the listener is closed.
func (l *limitedListener) makeRoom() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	for !l.closed && l.open >= l.limits.Total {
		oldest, next := l.oldestIdle(func(*limitedConn) bool { return true })
		if oldest != nil {
			l.mu.Unlock()
			l.closeIdle(oldest)
			l.mu.Lock()
			continue
		}
		if next > 0 {
			timer := time.AfterFunc(next, func() {
				l.mu.Lock()
				defer l.mu.Unlock()
				l.changed.Broadcast()
			})
			l.changed.Wait()
			timer.Stop()
			continue
		}
		l.changed.Wait()
	}
	return !l.closed
}

// oldestIdle returns the matching connection that is idle longest, or nil, and then how long it takes until one may be idle; 0 if none will
// be by itself. The caller holds mu.
func (l *limitedListener) oldestIdle(match func(*limitedConn) bool) (oldest *limitedConn, next time.Duration) {
	now := time.Now()
	for e := l.idle.Front(); e != nil; e = e.Next() {
		c := e.Value.(*limitedConn)
		if !match(c) {
			continue
		}
		wait := c.idleFrom.Sub(now)
		if wait <= 0 {
			return c, 0
		}
		if next == 0 || wait < next {
			next = wait
		}
	}
	return nil, next
}

func (l *limitedListener) closeIdle(c *limitedConn) {
	l.countRefusal(ClosedIdleConnection)
	_ = c.Close()
}

func (l *limitedListener) countRefusal(reason string) {
	if l.limits.Refused != nil {
		l.limits.Refused(reason)
	}
}

// add counts a connection.
func (l *limitedListener) add(c *limitedConn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.open++
	if c.client != "" {
		l.byClient[c.client]++
	}
	c.place, c.idleFrom = l.idle.PushBack(c), time.Now().Add(firstRequest)
}

// noteState implements http.Server.ConnState.
func (l *limitedListener) noteState(conn net.Conn, state http.ConnState) {
	c, ok := conn.(*limitedConn)
	if !ok || state == http.StateNew || state == http.StateClosed {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if c.place != nil {
		l.idle.Remove(c.place)
		c.place = nil
	}
	// The server may call one idle that was closed meanwhile to make room. It must not be found again: closing it makes no room any more.
	if state == http.StateIdle && !c.closed {
		c.place, c.idleFrom = l.idle.PushBack(c), time.Now()
		l.changed.Broadcast()
	}
}

// Close implements net.Conn.
func (c *limitedConn) Close() error {
	c.once.Do(func() { c.listener.remove(c) })
	return c.Conn.Close()
}

// remove counts a connection no more.
func (l *limitedListener) remove(c *limitedConn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	c.closed = true
	l.open--
	if c.client != "" {
		if l.byClient[c.client]--; l.byClient[c.client] == 0 {
			delete(l.byClient, c.client)
		}
	}
	if c.place != nil {
		l.idle.Remove(c.place)
		c.place = nil
	}
	l.changed.Broadcast()
}

// Close implements net.Listener.
func (l *limitedListener) Close() error {
	l.mu.Lock()
	l.closed = true
	l.changed.Broadcast()
	l.mu.Unlock()
	return l.Listener.Close()
}
