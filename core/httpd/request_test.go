package httpd_test

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/httpd"
	"github.com/patchbay-dev/patchbay/core/secret"
)

// echo answers with the body that it read.
func echo(limit int64) httpd.Route {
	return httpd.Route{Method: http.MethodPost, Path: "/echo", Policy: httpd.Public, BodyLimit: limit, Handler: func(c *gin.Context) {
		body, err := httpd.ReadBody(c)
		if err != nil {
			httpd.WriteError(c, err)
			return
		}
		httpd.WriteBody(c, http.StatusOK, "text/plain", body)
	}}
}

func TestRequestID(t *testing.T) {
	s := serve(t, httpd.Options{}, httpd.Mount{Service: "s", BaseURL: "/s", Routes: []httpd.Route{get("/a")}})
	for _, c := range []struct {
		name string
		sent []string
		kept bool
	}{
		{"sane", []string{"abc-123"}, true},
		{"128", []string{strings.Repeat("x", 128)}, true},
		{"129", []string{strings.Repeat("x", 129)}, false},
		{"space", []string{"a b"}, false},
		{"not ASCII", []string{"ä"}, false},
		{"two", []string{"a", "b"}, false},
		{"an access token", []string{"th-a1B2-abcdefghijklmnopqrstuvwx"}, false},
		{"an API key", []string{"svc_ak_abcdefgh"}, false},
		{"a bearer token of somebody else", []string{"prefix-Qz8fK2mVw1Lr7Ty3Bn5X"}, false},
		{"an identifier of a trace", []string{"00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"}, true},
		{"a ULID", []string{"req_01M812SFB8228961RSDZF2C9MW"}, true},
		{"a UUID", []string{"9D6F6E60-5F0A-4B8E-9C1F-0D8F3F6F2A11"}, true},
		{"none", nil, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := ask(t, s, "GET", "/s/nothing", nil, func(r *http.Request) { r.Header["X-Request-Id"] = c.sent })
			id := got.header.Get("X-Request-Id")
			if kept := len(c.sent) > 0 && id == c.sent[0]; kept != c.kept || id == "" || got.json["request_id"] != id {
				t.Fatalf("id %q, body %v", id, got.json)
			}
			if !c.kept && !strings.HasPrefix(id, "req_") {
				t.Fatalf("id %q", id)
			}
		})
	}
}

func TestBodyLimits(t *testing.T) {
	s := serve(t, httpd.Options{}, httpd.Mount{Service: "s", BaseURL: "/s", Routes: []httpd.Route{echo(10)}})
	for _, c := range []struct {
		name   string
		body   io.Reader
		status int
	}{
		{"none", nil, 200},
		{"at the limit", strings.NewReader("0123456789"), 200},
		{"over, length known", strings.NewReader("0123456789a"), 413},
		{"over, chunked", io.MultiReader(strings.NewReader("01234"), strings.NewReader("56789a")), 413},
		{"chunked", io.MultiReader(strings.NewReader("01234"), strings.NewReader("567")), 200},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := ask(t, s, "POST", "/s/echo", c.body)
			if got.status != c.status {
				t.Fatalf("got %d %q", got.status, got.body)
			}
			if c.status == 413 && (got.json["code"] != "payload_too_large" || got.json["limit"] != 10.0) {
				t.Fatalf("body %q", got.body)
			}
		})
	}
}

// TestBodyCutShort: a body that ends before its length is a client's mistake, not ours.
func TestBodyCutShort(t *testing.T) {
	s := serve(t, httpd.Options{}, httpd.Mount{Service: "s", BaseURL: "/s", Routes: []httpd.Route{echo(0)}})
	conn, err := net.Dial("tcp", s.Addr())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	fmt.Fprintf(conn, "POST /s/echo HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\nabc")
	if err := conn.(*net.TCPConn).CloseWrite(); err != nil {
		t.Fatal(err)
	}
	status, err := bufio.NewReader(conn).ReadString('\n')
	if err != nil || !strings.Contains(status, "400") {
		t.Fatalf("%q, %v", status, err)
	}
}

func TestSlowHeadersAreCutOff(t *testing.T) {
	t.Parallel()
	s := serve(t, httpd.Options{}, httpd.Mount{Service: "s", BaseURL: "/s", Routes: []httpd.Route{get("/a")}})
	conn, err := net.Dial("tcp", s.Addr())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	fmt.Fprintf(conn, "GET /s/a HTTP/1.1\r\nHost: x\r\n")
	if err := conn.SetReadDeadline(time.Now().Add(20 * time.Second)); err != nil {
		t.Fatal(err)
	}
	_, err = io.ReadAll(conn)
	var timeout net.Error
	if errors.As(err, &timeout) && timeout.Timeout() {
		t.Fatal("the connection was still open after 20 s")
	}
}

func TestPanicIsAnAnswer(t *testing.T) {
	l := &logs{}
	s := serve(t, httpd.Options{Logger: l.logger()}, httpd.Mount{Service: "s", BaseURL: "/s", Routes: []httpd.Route{
		{Method: "GET", Path: "/p", Policy: httpd.Public, Handler: func(*gin.Context) { panic("a secret value") }},
	}})
	got := ask(t, s, "GET", "/s/p", nil, func(r *http.Request) { r.Header.Set("X-Request-Id", "find-me") })
	if got.status != 500 || got.json["code"] != "internal" || strings.Contains(got.body, "secret value") {
		t.Fatalf("got %d %q", got.status, got.body)
	}
	if !strings.Contains(l.String(), "find-me") {
		t.Fatalf("log %q", l.String())
	}
}

func TestErrors(t *testing.T) {
	cause := errors.New("dial 10.0.0.1: password=hunter2")
	errs := map[string]error{
		"/plain": cause,
		"/fault": fault.Wrap(cause, fault.Conflict, "Taken.").With("existingJobId", "job_1").WithRetryAfter(1500 * time.Millisecond),
	}
	var routes []httpd.Route
	for path, err := range errs {
		routes = append(routes, httpd.Route{Method: "GET", Path: path, Policy: httpd.Public,
			Handler: func(c *gin.Context) { httpd.WriteError(c, err) }})
	}
	l := &logs{}
	s := serve(t, httpd.Options{Logger: l.logger()}, httpd.Mount{Service: "s", BaseURL: "/s", Routes: routes})
	got := ask(t, s, "GET", "/s/plain", nil)
	if got.status != 500 || strings.Contains(got.body, "hunter2") || !strings.Contains(l.String(), "10.0.0.1") {
		t.Fatalf("got %d %q; log %q", got.status, got.body, l.String())
	}
	got = ask(t, s, "GET", "/s/fault", nil)
	if got.status != 409 || got.json["existingJobId"] != "job_1" || got.json["retry_after"] != 2.0 || got.header.Get("Retry-After") != "2" {
		t.Fatalf("got %d %q", got.status, got.body)
	}
	got = ask(t, s, "POST", "/s/fault", nil)
	if got.status != 405 || got.json["code"] != "method_not_allowed" || got.header.Get("Allow") != "GET" {
		t.Fatalf("got %d %q, Allow %q", got.status, got.body, got.header.Get("Allow"))
	}
	if got = ask(t, s, "HEAD", "/s/fault", nil); got.status != 405 || got.body != "" {
		t.Fatalf("got %d %q", got.status, got.body)
	}
}

func TestLogHidesTokensInTheQuery(t *testing.T) {
	l := &logs{}
	redact := secret.NewRedactor("tavilyApiKey")
	s := serve(t, httpd.Options{Logger: l.logger(), Redact: redact.URL},
		httpd.Mount{Service: "s", BaseURL: "/s", Routes: []httpd.Route{get("/a")}})
	ask(t, s, "GET", "/s/a?tavilyApiKey=th-abcd-planted&x=1", nil)
	if text := l.String(); strings.Contains(text, "planted") || !strings.Contains(text, "x=1") {
		t.Fatalf("log %q", text)
	}
}

func TestLargeBodiesGoBothWays(t *testing.T) {
	s := serve(t, httpd.Options{}, httpd.Mount{Service: "s", BaseURL: "/s", Routes: []httpd.Route{echo(4 << 20)}})
	body := bytes.Repeat([]byte("x"), 3<<20)
	if got := ask(t, s, "POST", "/s/echo", bytes.NewReader(body)); got.status != 200 || len(got.body) != len(body) {
		t.Fatalf("got %d, %d bytes", got.status, len(got.body))
	} else if length := got.header.Get("Content-Length"); length != strconv.Itoa(len(body)) {
		t.Errorf("the length is told as %q", length)
	}
}
