package inbound

import (
	"errors"
	"net"
	"os"
	"sync"
	"time"

	"github.com/patchbay-dev/patchbay/core/auth/limit"
)

// connectionGate bounds the connections, all of them and those of one address.
type connectionGate struct {
	total, perClient int
	metrics          *Metrics

	mu   sync.Mutex
	open map[*gatedConn]struct{}
	by   map[string]int
	// pending are connections whose client is not known yet; there are at most total of them too.
	pending map[net.Conn]struct{}
}

func newConnectionGate(total, perClient int, m *Metrics) *connectionGate {
	return &connectionGate{total: total, perClient: perClient, metrics: m, open: map[*gatedConn]struct{}{}, by: map[string]int{},
		pending: map[net.Conn]struct{}{}}
}

// wrap returns l without the connections beyond the bounds, which are answered with 421. It accepts until it is closed.
func (g *connectionGate) wrap(l net.Listener) net.Listener {
	gated := &gatedListener{Listener: l, gate: g, results: make(chan accepted), closed: make(chan struct{})}
	go gated.acceptAll()
	return gated
}

// gatedListener admits connections beside each other: the address of a client behind a proxy is known only once the proxy has
// sent its header, and a silent one must not keep the others waiting.
type gatedListener struct {
	net.Listener
	gate    *connectionGate
	results chan accepted
	once    sync.Once
	closed  chan struct{}
}

// accepted is what Accept returns.
type accepted struct {
	conn net.Conn
	err  error
}

// Accept implements net.Listener.
func (l *gatedListener) Accept() (net.Conn, error) {
	select {
	case a := <-l.results:
		return a.conn, a.err
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

// Close implements net.Listener.
func (l *gatedListener) Close() error {
	l.once.Do(func() { close(l.closed) })
	return l.Listener.Close()
}

// acceptAll accepts connections until the listener is closed.
func (l *gatedListener) acceptAll() {
	for {
		c, err := l.Listener.Accept()
		switch {
		case err != nil:
			if !l.deliver(accepted{err: err}) || errors.Is(err, net.ErrClosed) {
				return
			}
		case !l.gate.beginAdmission(c):
			l.refuseConn(c)
		default:
			go l.admitConn(c)
		}
	}
}

// deliver hands a result to Accept. It reports false if the listener is closed.
func (l *gatedListener) deliver(a accepted) bool {
	select {
	case l.results <- a:
		return true
	case <-l.closed:
		return false
	}
}

// admitConn hands a connection to Accept, or refuses it. It waits for the header of a proxy for the time that withProxies sets.
func (l *gatedListener) admitConn(c net.Conn) {
	gated := l.gate.admit(c, limit.Client(clientHost(c.RemoteAddr())))
	if gated == nil {
		l.refuseConn(c)
	} else if !l.deliver(accepted{conn: gated}) {
		_ = gated.Close()
	}
}

// refuseConn answers a connection beyond the bounds.
func (l *gatedListener) refuseConn(c net.Conn) {
	l.gate.metrics.countRefusal(refusedConnections)
	go refuseConnection(c)
}

// clientHost returns an address without its port.
func clientHost(a net.Addr) string {
	if host, _, err := net.SplitHostPort(a.String()); err == nil {
		return host
	}
	return a.String()
}

// refuseConnection tells a client that there are too many.
func refuseConnection(c net.Conn) {
	_ = c.SetDeadline(time.Now().Add(5 * time.Second))
	_, _ = c.Write([]byte("421 4.7.0 Too many connections, try again later\r\n"))
	_ = c.Close()
}

// beginAdmission reports whether there is room for one more connection whose client is not known yet.
func (g *connectionGate) beginAdmission(c net.Conn) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if len(g.pending) >= g.total {
		return false
	}
	g.pending[c] = struct{}{}
	return true
}

// admit registers a pending connection under the address of its client, or returns nil.
func (g *connectionGate) admit(c net.Conn, client string) *gatedConn {
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.pending, c)
	if len(g.open) >= g.total || g.by[client] >= g.perClient {
		return nil
	}
	gated := &gatedConn{Conn: c, gate: g, client: client}
	gated.timer = time.AfterFunc(maxConnectionTime, func() { gated.endAnswer(os.ErrDeadlineExceeded); _ = c.Close() })
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

// closeIdle has clients that are silent find their connection closed soon, and those that are not known yet at once.
func (g *connectionGate) closeIdle() {
	g.mu.Lock()
	defer g.mu.Unlock()
	for c := range g.pending {
		_ = c.Close()
	}
	for c := range g.open {
		_ = c.SetReadDeadline(time.Now().Add(time.Second))
	}
}
