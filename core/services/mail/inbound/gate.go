package inbound

import (
	"net"
	"sync"
	"time"
)

// connectionGate bounds the connections, all of them and those of one address.
type connectionGate struct {
	total, perClient int
	metrics          *Metrics

	mu   sync.Mutex
	open map[*gatedConn]struct{}
	by   map[string]int
}

func newConnectionGate(total, perClient int, m *Metrics) *connectionGate {
	return &connectionGate{total: total, perClient: perClient, metrics: m, open: map[*gatedConn]struct{}{}, by: map[string]int{}}
}

// wrap returns l without the connections beyond the bounds, which are answered with 421.
func (g *connectionGate) wrap(l net.Listener) net.Listener { return &gatedListener{l, g} }

type gatedListener struct {
	net.Listener
	gate *connectionGate
}

// Accept implements net.Listener.
func (l *gatedListener) Accept() (net.Conn, error) {
	for {
		c, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		if gated := l.gate.admit(c); gated != nil {
			return gated, nil
		}
		l.gate.metrics.countRefusal(refusedConnections)
		go refuseConnection(c)
	}
}

// refuseConnection tells a client that there are too many.
func refuseConnection(c net.Conn) {
	_ = c.SetDeadline(time.Now().Add(5 * time.Second))
	_, _ = c.Write([]byte("421 4.7.0 Too many connections, try again later\r\n"))
	_ = c.Close()
}

// admit registers a connection, or returns nil.
func (g *connectionGate) admit(c net.Conn) *gatedConn {
	client := c.RemoteAddr().String()
	if host, _, err := net.SplitHostPort(client); err == nil {
		client = host
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if len(g.open) >= g.total || g.by[client] >= g.perClient {
		return nil
	}
	gated := &gatedConn{Conn: c, gate: g, client: client}
	gated.timer = time.AfterFunc(maxConnectionTime, func() { _ = c.Close() })
	g.open[gated] = struct{}{}
	g.by[client]++
	g.metrics.open.Inc()
	return gated
}

// release forgets a connection.
func (g *connectionGate) release(c *gatedConn) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if _, ok := g.open[c]; !ok {
		return
	}
	delete(g.open, c)
	if g.by[c.client]--; g.by[c.client] == 0 {
		delete(g.by, c.client)
	}
	g.metrics.open.Dec()
}

// gatedConn is a connection that is counted until it closes.
type gatedConn struct {
	net.Conn
	gate   *connectionGate
	client string
	timer  *time.Timer
}

// Close implements net.Conn.
func (c *gatedConn) Close() error {
	c.timer.Stop()
	c.gate.release(c)
	return c.Conn.Close()
}

// closeIdle has clients that are silent find their connection closed soon.
func (g *connectionGate) closeIdle() {
	g.mu.Lock()
	defer g.mu.Unlock()
	for c := range g.open {
		_ = c.SetReadDeadline(time.Now().Add(time.Second))
	}
}
