package httpd

import (
	"net"
	"net/http"
	"testing"
)

// TestClosedConnectionIsNeverIdle: a connection that was closed to make room, and that the server calls idle afterwards, must not be
// found again by those who look for room: they would close it for ever.
func TestClosedConnectionIsNeverIdle(t *testing.T) {
	s := &Server{http: &http.Server{}}
	s.LimitConnections(ConnectionLimits{Total: 1})
	l := s.listener.(*limitedListener)
	near, far := net.Pipe()
	defer far.Close()
	c := &limitedConn{Conn: near, listener: l, client: "192.0.2.1"}
	l.add(c)
	s.http.ConnState(c, http.StateActive)
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	s.http.ConnState(c, http.StateIdle)
	if l.idle.Len() != 0 || l.open != 0 {
		t.Errorf("%d idle connections, %d open; want none", l.idle.Len(), l.open)
	}
}
