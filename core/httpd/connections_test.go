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
	s.LimitConnections(limit)
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
