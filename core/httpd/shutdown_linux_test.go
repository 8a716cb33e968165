package httpd

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"
)

// TestShutdownAnswersWhoIsConnected: whoever has just connected when a server ends gets an answer. The system accepts connections before the
// program does, and would reset those that wait.
func TestShutdownAnswersWhoIsConnected(t *testing.T) {
	for range 4 {
		s, err := Listen("127.0.0.1:0", "http_addr", hclog.NewNullLogger())
		if err != nil {
			t.Fatal(err)
		}
		s.Handle(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body)
			_, _ = io.WriteString(w, "answered")
		}))
		s.Serve()
		var clients sync.WaitGroup
		answered, ended := make(chan struct{}), make(chan struct{})
		for range 32 {
			clients.Go(func() {
				for {
					switch err := post(s.Addr()); {
					case err == nil:
						select {
						case answered <- struct{}{}:
						case <-ended:
						}
					case errors.Is(err, syscall.ECONNREFUSED):
						return
					default:
						t.Errorf("a client that was connected: %v", err)
						return
					}
				}
			})
		}
		for range 200 {
			<-answered
		}
		close(ended)
		if err := s.Shutdown(context.Background()); err != nil {
			t.Error(err)
		}
		clients.Wait()
	}
}

// post sends a request on a connection of its own. The error for a connection that was not made has syscall.ECONNREFUSED in its chain.
func post(addr string) error {
	conn, err := net.DialTimeout("tcp", addr, time.Minute)
	if err != nil {
		return err
	}
	defer conn.Close()
	if _, err := io.WriteString(conn, "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}"); err != nil {
		return errors.New("send: " + err.Error())
	}
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		return errors.New("receive: " + err.Error())
	}
	defer resp.Body.Close()
	_, err = io.Copy(io.Discard, resp.Body)
	return err
}
