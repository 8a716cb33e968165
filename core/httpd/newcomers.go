package httpd

import (
	"context"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
)

// newcomers are the connections of a server whose first request has not come to its handler.
type newcomers struct {
	// waiting has a net.Conn for each.
	waiting sync.Map
}

// newcomer is in the context of each request of a connection.
type newcomer struct {
	conn net.Conn
	// met says that a request came.
	met atomic.Bool
}

type newcomerKey struct{}

// addConn implements http.Server.ConnContext.
func (n *newcomers) addConn(ctx context.Context, conn net.Conn) context.Context {
	n.waiting.Store(conn, nil)
	return context.WithValue(ctx, newcomerKey{}, &newcomer{conn: conn})
}

// noteRequest notes that a request has come to its handler.
func (n *newcomers) noteRequest(r *http.Request) {
	if c, ok := r.Context().Value(newcomerKey{}).(*newcomer); ok && c.met.CompareAndSwap(false, true) {
		n.waiting.Delete(c.conn)
	}
}

// noteState implements http.Server.ConnState.
func (n *newcomers) noteState(conn net.Conn, state http.ConnState) {
	if state == http.StateClosed {
		n.waiting.Delete(conn)
	}
}

// hasAny reports whether there are some.
func (n *newcomers) hasAny() (found bool) {
	n.waiting.Range(func(any, any) bool { found = true; return false })
	return found
}
