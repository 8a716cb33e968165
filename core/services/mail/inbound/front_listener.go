package inbound

import (
	"net"
	"sync"
)

// frontListener puts a front before each connection of the gate.
type frontListener struct {
	net.Listener
	server *Server
}

// Accept implements net.Listener.
func (l frontListener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	gated := c.(*gatedConn)
	return newFront(l.server, gated, gated), nil
}

// handOver is the listener of the connections that were secured by STARTTLS.
type handOver struct {
	conns  chan net.Conn
	once   sync.Once
	closed chan struct{}
}

func newHandOver() *handOver {
	return &handOver{conns: make(chan net.Conn), closed: make(chan struct{})}
}

// deliver hands a connection over. It reports false if the server stops.
func (h *handOver) deliver(c net.Conn) bool {
	select {
	case h.conns <- c:
		return true
	case <-h.closed:
		return false
	}
}

// Accept implements net.Listener.
func (h *handOver) Accept() (net.Conn, error) {
	select {
	case c := <-h.conns:
		return c, nil
	case <-h.closed:
		return nil, net.ErrClosed
	}
}

// Close implements net.Listener.
func (h *handOver) Close() error {
	h.once.Do(func() { close(h.closed) })
	return nil
}

// Addr implements net.Listener.
func (h *handOver) Addr() net.Addr { return &net.TCPAddr{} }
