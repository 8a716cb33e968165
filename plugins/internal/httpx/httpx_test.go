package httpx_test

import (
	"bufio"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/patchbay-dev/patchbay/plugins/internal/httpx"
	"github.com/patchbay-dev/patchbay/plugins/internal/testkit"
	"github.com/patchbay-dev/patchbay/sdk/errs"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func newClient(t *testing.T, cfg httpx.Config) *httpx.Client {
	t.Helper()
	if cfg.Guard == nil && cfg.Own == nil {
		cfg.Guard = newGuard(t, httpx.GuardConfig{Allow: []string{"127.0.0.0/8", "localhost"}, AnyPort: true})
	}
	c, err := httpx.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

func get(t *testing.T, c *httpx.Client, raw string) (*httpx.Response, error) {
	t.Helper()
	u, err := url.Parse(raw)
	if err != nil {
		t.Fatal(err)
	}
	return c.Do(t.Context(), &httpx.Request{Method: http.MethodGet, URL: u})
}

func wantReason(t *testing.T, err error, reason string) {
	t.Helper()
	var e *errs.Error
	if !errors.As(err, &e) || e.Reason != reason {
		t.Fatalf("got %v, want reason %s", err, reason)
	}
	if strings.Contains(e.Message, "geheim") {
		t.Fatalf("message shows the query or header: %s", e.Message)
	}
}

// raw answers each connection's first request with text and closes.
func raw(t *testing.T, answer func(c net.Conn)) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			if _, err := http.ReadRequest(bufio.NewReader(c)); err == nil {
				answer(c)
			}
			_ = c.Close()
		}
	}()
	return "http://" + l.Addr().String() + "/x?key=geheim"
}

func text(s string) func(net.Conn) { return func(c net.Conn) { _, _ = io.WriteString(c, s) } }

func reset(s string) func(net.Conn) {
	return func(c net.Conn) {
		_, _ = io.WriteString(c, s)
		_ = c.(*net.TCPConn).SetLinger(0)
	}
}

func TestSendsNothingElse(t *testing.T) {
	var got http.Header
	var path, body string
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		got, path, body = r.Header.Clone(), r.URL.Path, string(b)
		w.WriteHeader(http.StatusTeapot)
		_, _ = io.WriteString(w, "answer")
	}))
	defer srv.Close()
	c := newClient(t, httpx.Config{BaseURL: srv.URL + "/prefix/", UserAgent: "patchbay/1"})
	res, err := c.Do(t.Context(), &httpx.Request{
		Method: http.MethodPost, URL: c.Endpoint("/search"),
		Header: http.Header{"Authorization": {"Bearer k"}}, Body: []byte(`{"a":1}`),
	})
	if err != nil || res.Status != http.StatusTeapot || string(res.Body) != "answer" || res.Took <= 0 {
		t.Fatalf("got %+v, %v", res, err)
	}
	if path != "/prefix/search" || body != `{"a":1}` {
		t.Errorf("upstream saw path %q and body %q", path, body)
	}
	for k := range got {
		if k != "Authorization" && k != "Content-Length" && k != "User-Agent" {
			t.Errorf("header %s was sent", k)
		}
	}
	if got.Get("User-Agent") != "patchbay/1" {
		t.Errorf("user agent is %q", got.Get("User-Agent"))
	}
}

func TestProtocolErrors(t *testing.T) {
	c := newClient(t, httpx.Config{MaxBody: 1000})
	for name, answer := range map[string]func(net.Conn){
		"half a body":        text("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf"),
		"half a chunk":       text("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n64\r\nhalf"),
		"reset in the body":  reset("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf"),
		"reset at once":      reset(""),
		"closed at once":     text(""),
		"not HTTP":           text("geheim geheim\r\n\r\n"),
		"too large":          text("HTTP/1.1 200 OK\r\nContent-Length: 1001\r\n\r\n" + strings.Repeat("x", 1001)),
		"too large, chunked": text("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3e9\r\n" + strings.Repeat("x", 1001) + "\r\n0\r\n\r\n"),
		"unasked gzip":       text("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 1\r\n\r\nx"),
	} {
		t.Run(name, func(t *testing.T) {
			_, err := get(t, c, raw(t, answer))
			reason := errs.ReasonLost
			switch name {
			case "not HTTP", "unasked gzip":
				reason = errs.ReasonProtocol
			case "too large", "too large, chunked":
				reason = errs.ReasonTooLarge
			}
			wantReason(t, err, reason)
		})
	}
}

func TestConnectErrors(t *testing.T) {
	c := newClient(t, httpx.Config{})
	_, err := get(t, c, "http://"+testkit.FreeAddress(t)+"/?geheim")
	wantReason(t, err, errs.ReasonConnect)
	_, err = get(t, c, "http://no-such-host.invalid/?geheim")
	wantReason(t, err, errs.ReasonConnect)

	secure := httptest.NewUnstartedServer(http.NotFoundHandler())
	secure.Config.ErrorLog = nil
	secure.StartTLS()
	defer secure.Close()
	_, err = get(t, c, secure.URL+"/?geheim")
	wantReason(t, err, errs.ReasonConnect)
	plain := httptest.NewServer(http.NotFoundHandler())
	defer plain.Close()
	_, err = get(t, c, strings.Replace(plain.URL, "http:", "https:", 1))
	wantReason(t, err, errs.ReasonConnect)
}

func TestTimeouts(t *testing.T) {
	release := make(chan struct{})
	hang := func(c net.Conn) { <-release }
	half := func(c net.Conn) {
		_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf")
		<-release
	}
	t.Cleanup(func() { close(release) })
	for name, answer := range map[string]func(net.Conn){"header": hang, "body": half} {
		t.Run(name, func(t *testing.T) {
			_, err := get(t, newClient(t, httpx.Config{Timeout: 50 * time.Millisecond}), raw(t, answer))
			wantReason(t, err, errs.ReasonTimeout)
		})
	}
	c := newClient(t, httpx.Config{HeaderTimeout: 50 * time.Millisecond})
	_, err := get(t, c, raw(t, hang))
	wantReason(t, err, errs.ReasonTimeout)

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	u, _ := url.Parse(raw(t, hang))
	_, err = newClient(t, httpx.Config{}).Do(ctx, &httpx.Request{Method: http.MethodGet, URL: u})
	wantReason(t, err, httpx.ReasonCanceled)
}

func TestStream(t *testing.T) {
	step := make(chan struct{})
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for i := range 3 {
			_, _ = fmt.Fprintf(w, "data: %d\n\n", i)
			w.(http.Flusher).Flush()
			select {
			case <-step:
			case <-r.Context().Done():
				return
			}
		}
	}))
	defer srv.Close()
	c := newClient(t, httpx.Config{BaseURL: srv.URL})
	req := &httpx.Request{Method: http.MethodGet, URL: c.Endpoint("/")}
	s, err := c.Stream(t.Context(), req, time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	buf := make([]byte, 100)
	for i := range 3 {
		n, err := s.Read(buf)
		if want := fmt.Sprintf("data: %d\n\n", i); err != nil || string(buf[:n]) != want {
			t.Fatalf("chunk %d is %q (%v)", i, buf[:n], err)
		}
		step <- struct{}{}
	}
	if _, err := s.Read(buf); !errors.Is(err, io.EOF) {
		t.Fatalf("got %v at the end", err)
	}
	_ = s.Close()

	s, err = c.Stream(t.Context(), req, 50*time.Millisecond)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	_, err = s.ReadAll()
	wantReason(t, err, errs.ReasonTimeout)
}

func TestRedirects(t *testing.T) {
	mux := http.NewServeMux()
	for i := range 6 {
		mux.Handle(fmt.Sprintf("/%d", i), http.RedirectHandler(fmt.Sprintf("/%d", i+1), http.StatusFound))
	}
	mux.HandleFunc("/6", func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "end") })
	srv := httptest.NewServer(mux)
	defer srv.Close()
	res, err := get(t, newClient(t, httpx.Config{}), srv.URL+"/5")
	if err != nil || res.Status != http.StatusFound {
		t.Errorf("off: got %+v, %v", res, err)
	}
	follow := newClient(t, httpx.Config{MaxRedirects: 3})
	res, err = get(t, follow, srv.URL+"/3")
	if err != nil || string(res.Body) != "end" || res.URL.Path != "/6" {
		t.Errorf("three: got %+v, %v", res, err)
	}
	_, err = get(t, follow, srv.URL+"/2")
	wantReason(t, err, errs.ReasonProtocol)
}

func TestCompression(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Encoding", "gzip")
		z := gzip.NewWriter(w)
		_, _ = io.WriteString(z, strings.Repeat("bomb", 100_000))
		_ = z.Close()
	}))
	defer srv.Close()
	res, err := get(t, newClient(t, httpx.Config{Compression: true}), srv.URL)
	if err != nil || len(res.Body) != 400_000 {
		t.Fatalf("got %v", err)
	}
	_, err = get(t, newClient(t, httpx.Config{Compression: true, MaxBody: 399_999}), srv.URL)
	wantReason(t, err, errs.ReasonTooLarge)
}

func TestParseBase(t *testing.T) {
	for _, bad := range []string{"", "api.example.org", "ftp://x", "http://", "http://u:p@x", "http://x?a=b", "http://x#f", "http://x?",
		"http://[x"} {
		if _, err := httpx.ParseBase(bad); err == nil {
			t.Errorf("%q was accepted", bad)
		}
	}
	u, err := httpx.ParseBase("https://x/y/")
	if err != nil || u.String() != "https://x/y" {
		t.Errorf("got %v, %v", u, err)
	}
}
