package httpd_test

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"sync/atomic"
	"testing"

	"github.com/hashicorp/go-hclog"

	"github.com/patchbay-dev/patchbay/core/httpd"
)

// Connections beyond the limit wait, and are served when others end.
func TestLimitConnections(t *testing.T) {
	const limit, clients = 2, 16
	s, err := httpd.Listen("127.0.0.1:0", "test", hclog.NewNullLogger())
	if err != nil {
		t.Fatal(err)
	}
	s.LimitConnections(httpd.ConnectionLimits{Total: limit})
	entered, release := make(chan struct{}, clients), make(chan struct{})
	var inside atomic.Int32
	s.Handle(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if n := inside.Add(1); n > limit {
			t.Errorf("%d connections are served at once", n)
		}
		entered <- struct{}{}
		<-release
		inside.Add(-1)
		w.Header().Set("Connection", "close")
	}))
	s.Serve()
	defer s.Shutdown(t.Context())
	answers := make(chan error, clients)
	for range clients {
		conn, err := net.Dial("tcp", s.Addr())
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		if _, err := io.WriteString(conn, "GET / HTTP/1.1\r\nHost: x\r\n\r\n"); err != nil {
			t.Fatal(err)
		}
		go func() {
			res, err := http.ReadResponse(bufio.NewReader(conn), nil)
			if err == nil {
				err = res.Body.Close()
			}
			answers <- err
		}()
	}
	for i := range clients {
		<-entered
		if i+1 >= limit {
			release <- struct{}{}
		}
	}
	close(release)
	for range clients {
		if err := <-answers; err != nil {
			t.Error(err)
		}
	}
}

// TestConnectionsOfOneAddress: beyond its limit an address loses its connection that is idle longest, or gets no further one; others and
// trusted proxies are not concerned.
func TestConnectionsOfOneAddress(t *testing.T) {
	clients, err := httpd.NewClients([]string{"127.0.0.9"})
	if err != nil {
		t.Fatal(err)
	}
	refused := &counted{}
	s, err := httpd.Listen("127.0.0.1:0", "test", hclog.NewNullLogger())
	if err != nil {
		t.Fatal(err)
	}
	s.LimitConnections(httpd.ConnectionLimits{Total: 100, Each: 2, Clients: clients, Refused: refused.add})
	entered, release := make(chan struct{}), make(chan struct{})
	s.Handle(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/hold" {
			entered <- struct{}{}
			<-release
		}
	}))
	s.Serve()
	t.Cleanup(func() { _ = s.Shutdown(t.Context()) })
	get := func(conn net.Conn, path string) error {
		if _, err := io.WriteString(conn, "GET "+path+" HTTP/1.1\r\nHost: x\r\n\r\n"); err != nil {
			return err
		}
		res, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil {
			return err
		}
		return res.Body.Close()
	}
	use := func(from, path string) (net.Conn, error) {
		conn := dialFrom(t, from, s)
		return conn, get(conn, path)
	}
	first, err := use("127.0.0.1", "/")
	if err != nil {
		t.Fatal(err)
	}
	second, err := use("127.0.0.1", "/")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := use("127.0.0.1", "/"); err != nil {
		t.Errorf("a third connection: %v", err)
	}
	if err := get(first, "/"); err == nil {
		t.Error("the connection that is idle longest is still open")
	}
	if err := get(second, "/"); err != nil {
		t.Errorf("the other idle connection: %v", err)
	}
	held := make(chan error, 2)
	for range 2 {
		go func() {
			_, err := use("127.0.0.2", "/hold")
			held <- err
		}()
		<-entered
	}
	if _, err := use("127.0.0.2", "/"); err == nil {
		t.Error("an address with busy connections has got one more")
	}
	for _, from := range []string{"127.0.0.3", "127.0.0.9", "127.0.0.9", "127.0.0.9"} {
		if _, err := use(from, "/"); err != nil {
			t.Errorf("a connection from %s: %v", from, err)
		}
	}
	close(release)
	for range 2 {
		if err := <-held; err != nil {
			t.Errorf("a busy connection: %v", err)
		}
	}
	if refused.count(httpd.RefusedConnection) != 1 || refused.count(httpd.ClosedIdleConnection) != 1 {
		t.Errorf("counted %v", refused.by)
	}
}

// TestIdleConnectionsMakeRoom: sockets that say nothing shut nobody out.
func TestIdleConnectionsMakeRoom(t *testing.T) {
	const most = 16
	s, err := httpd.Listen("127.0.0.1:0", "test", hclog.NewNullLogger())
	if err != nil {
		t.Fatal(err)
	}
	s.LimitConnections(httpd.ConnectionLimits{Total: most})
	s.Handle(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	s.Serve()
	t.Cleanup(func() { _ = s.Shutdown(t.Context()) })
	for range 3 * most {
		dialFrom(t, "127.0.0.1", s)
	}
	res, err := http.Get("http://" + s.Addr())
	if err != nil {
		t.Fatal(err)
	}
	_ = res.Body.Close()
}
