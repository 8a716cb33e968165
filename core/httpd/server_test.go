package httpd_test

import (
	"bufio"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/hashicorp/go-hclog"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/httpd"
)

func TestTakenAddressIsNamed(t *testing.T) {
	s := serve(t, httpd.Options{})
	_, err := httpd.Listen(s.Addr(), "http_addr", hclog.NewNullLogger())
	if err == nil || !strings.Contains(err.Error(), s.Addr()) || !strings.Contains(err.Error(), "http_addr") {
		t.Fatalf("error %v", err)
	}
}

func TestNotReadyBeforeMount(t *testing.T) {
	s, err := httpd.Listen("127.0.0.1:0", "test", hclog.NewNullLogger())
	if err != nil {
		t.Fatal(err)
	}
	s.Serve()
	defer s.Shutdown(t.Context())
	if got := ask(t, s, "GET", "/", nil); got.status != 503 || got.json["code"] != "not_ready" {
		t.Fatalf("got %d %q", got.status, got.body)
	}
}

// TestShutdownDrains: a request that is under way is answered, a stream is told to end, a new connection is refused.
func TestShutdownDrains(t *testing.T) {
	entered, release := make(chan struct{}), make(chan struct{})
	s := serve(t, httpd.Options{}, httpd.Mount{Service: "s", BaseURL: "/s", Routes: []httpd.Route{
		{Method: "GET", Path: "/slow", Policy: httpd.Public, Handler: func(c *gin.Context) {
			close(entered)
			<-release
			c.String(200, "done")
		}},
		{Method: "GET", Path: "/stream", Policy: httpd.Public, Handler: func(c *gin.Context) {
			e := httpd.NewEvents(c)
			_ = e.Send(1, "hello", []byte("a\nb"))
			<-httpd.Draining(c.Request.Context())
			_ = e.Send(0, "", []byte("bye"))
		}},
	}})
	resp, err := http.Get("http://" + s.Addr() + "/s/stream")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if got := resp.Header.Get("Content-Type"); got != "text/event-stream" {
		t.Fatalf("type %q", got)
	}
	stream := bufio.NewReader(resp.Body)
	if line, err := stream.ReadString('\n'); err != nil || line != "id: 1\n" {
		t.Fatalf("line %q, %v", line, err)
	}
	slow := make(chan answer, 1)
	go func() { slow <- ask(t, s, "GET", "/s/slow", nil) }()
	<-entered
	ended := make(chan error, 1)
	go func() {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		ended <- s.Shutdown(ctx)
	}()
	rest, err := io.ReadAll(stream)
	if err != nil || string(rest) != "event: hello\ndata: a\ndata: b\n\ndata: bye\n\n" {
		t.Fatalf("stream %q, %v", rest, err)
	}
	select {
	case err := <-ended:
		t.Fatalf("ended before the request: %v", err)
	case <-time.After(50 * time.Millisecond):
	}
	close(release)
	if got := <-slow; got.status != 200 || got.body != "done" {
		t.Fatalf("got %d %q", got.status, got.body)
	}
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	if _, err := http.Get("http://" + s.Addr() + "/s/slow"); err == nil {
		t.Fatal("a new connection was accepted")
	}
}

func TestShutdownCutsOffInTheEnd(t *testing.T) {
	entered := make(chan struct{})
	s := serve(t, httpd.Options{}, httpd.Mount{Service: "s", BaseURL: "/s", Routes: []httpd.Route{
		{Method: "GET", Path: "/hang", Policy: httpd.Public, Handler: func(c *gin.Context) {
			close(entered)
			<-c.Request.Context().Done()
		}},
	}})
	go func() {
		resp, err := http.Get("http://" + s.Addr() + "/s/hang")
		if err == nil {
			_ = resp.Body.Close()
		}
	}()
	<-entered
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	if err := s.Shutdown(ctx); err == nil {
		t.Fatal("nothing was cut off")
	}
}

func TestClients(t *testing.T) {
	clients, err := httpd.NewClients([]string{"127.0.0.0/8", "10.0.0.1", "::1/128"})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, peer string
		forwarded  []string
		want       string
	}{
		{"no header", "203.0.113.9:1", nil, "203.0.113.9"},
		{"untrusted peer", "203.0.113.9:1", []string{"198.51.100.1"}, "203.0.113.9"},
		{"trusted peer", "127.0.0.1:1", []string{"198.51.100.1"}, "198.51.100.1"},
		{"the last that is not trusted", "127.0.0.1:1", []string{"1.1.1.1, 198.51.100.1, 10.0.0.1"}, "198.51.100.1"},
		{"several headers", "127.0.0.1:1", []string{"1.1.1.1", "198.51.100.1"}, "198.51.100.1"},
		{"all trusted", "127.0.0.1:1", []string{"10.0.0.1"}, "10.0.0.1"},
		{"garbage", "127.0.0.1:1", []string{"<script>"}, "127.0.0.1"},
		{"garbage before", "127.0.0.1:1", []string{"x, 198.51.100.1"}, "198.51.100.1"},
		{"v6", "[::1]:1", []string{"2001:db8::1"}, "2001:db8::1"},
		{"v4 in v6", "[::ffff:127.0.0.1]:1", []string{"198.51.100.1"}, "198.51.100.1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := recorded(func(r *http.Request) {
				r.RemoteAddr = c.peer
				r.Header["X-Forwarded-For"] = c.forwarded
			})
			if got := clients.Addr(r); got != c.want {
				t.Fatalf("got %q", got)
			}
		})
	}
	if _, err := httpd.NewClients([]string{"localhost"}); err == nil {
		t.Fatal("a name was taken for an address")
	}
}

func TestLastEventID(t *testing.T) {
	for _, c := range []struct {
		header, query string
		want          int64
		field         string
	}{
		{"", "", 0, ""}, {"5", "", 5, ""}, {"", "7", 7, ""}, {"5", "7", 7, ""}, {" 9 ", "7", 9, ""},
		{"x", "7", 0, "Last-Event-ID"}, {"-1", "", 0, "Last-Event-ID"}, {"1.5", "", 0, "Last-Event-ID"},
		{"99999999999999999999", "", 0, "Last-Event-ID"}, {"5", "-3", 0, "afterId"}, {"", "seven", 0, "afterId"},
	} {
		gc, _ := gin.CreateTestContext(httptest.NewRecorder())
		gc.Request = recorded(func(r *http.Request) {
			r.Header.Set("Last-Event-ID", c.header)
			r.URL.RawQuery = "afterId=" + c.query
		})
		got, err := httpd.LastEventID(gc)
		if refused := fault.As(err); got != c.want || (err != nil) != (c.field != "") || err != nil &&
			(refused.HTTPStatus() != http.StatusBadRequest || refused.Ext["field"] != c.field) {
			t.Errorf("%q %q: got %d, %v", c.header, c.query, got, err)
		}
	}
}
