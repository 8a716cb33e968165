package httpd_test

import (
	"bufio"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/patchbay-dev/patchbay/core/httpd"
)

func post(path string, h gin.HandlerFunc) httpd.Route {
	return httpd.Route{Method: http.MethodPost, Path: path, Policy: httpd.Public, Handler: h}
}

// dribble sends the head of a request and the beginning of its body, and reads what comes until the end.
func dribble(t *testing.T, s *httpd.Server, path string) (got string, took time.Duration) {
	t.Helper()
	began := time.Now()
	conn, err := net.Dial("tcp", s.Addr())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := io.WriteString(conn, "POST "+path+" HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{"); err != nil {
		t.Fatal(err)
	}
	_ = conn.SetReadDeadline(time.Now().Add(10 * time.Second))
	raw, err := io.ReadAll(conn)
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Fatalf("after %q: %v", raw, err)
	}
	return string(raw), time.Since(began)
}

func TestSlowBodies(t *testing.T) {
	s := serve(t, httpd.Options{BodyTimeout: 200 * time.Millisecond}, httpd.Mount{Service: "a", BaseURL: "/a", Routes: []httpd.Route{
		post("/read", func(c *gin.Context) {
			if _, err := httpd.ReadBody(c); err != nil {
				httpd.WriteError(c, err)
				return
			}
			c.String(http.StatusOK, "read")
		}),
		post("/ignore", func(c *gin.Context) { c.String(http.StatusOK, "ignored") }),
	}})
	for path, want := range map[string]string{"/a/read": "HTTP/1.1 408 ", "/a/ignore": "HTTP/1.1 200 ", "/a/nothing": "HTTP/1.1 404 "} {
		got, took := dribble(t, s, path)
		if !strings.HasPrefix(got, want) {
			t.Errorf("%s: %q", path, got)
		}
		if took > 5*time.Second {
			t.Errorf("%s: the connection was held for %s", path, took)
		}
	}
}

// TestLongHandlersOutliveTheBodyTimeout: the deadline is for the body alone.
func TestLongHandlersOutliveTheBodyTimeout(t *testing.T) {
	s := serve(t, httpd.Options{BodyTimeout: 50 * time.Millisecond}, httpd.Mount{Service: "a", BaseURL: "/a", Routes: []httpd.Route{
		post("/x", func(c *gin.Context) {
			body, err := httpd.ReadBody(c)
			if err != nil {
				httpd.WriteError(c, err)
				return
			}
			select {
			case <-c.Request.Context().Done():
				c.String(http.StatusInternalServerError, "cancelled")
			case <-time.After(300 * time.Millisecond):
				c.String(http.StatusOK, string(body))
			}
		}),
	}})
	for _, body := range []io.Reader{strings.NewReader("known"), io.MultiReader(strings.NewReader("chunked"))} {
		if a := ask(t, s, http.MethodPost, "/a/x", body); a.status != http.StatusOK {
			t.Errorf("%d %s", a.status, a.body)
		}
	}
}

func TestPanicInTheMiddleOfAnAnswerCutsIt(t *testing.T) {
	l := &logs{}
	s := serve(t, httpd.Options{Logger: l.logger()}, httpd.Mount{Service: "a", BaseURL: "/a", Routes: []httpd.Route{
		{Method: http.MethodGet, Path: "/x", Policy: httpd.Public, Handler: func(c *gin.Context) {
			_, _ = c.Writer.WriteString("half of it")
			c.Writer.Flush()
			panic("no")
		}},
	}})
	resp, err := http.Get("http://" + s.Addr() + "/a/x")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if raw, err := io.ReadAll(resp.Body); err == nil {
		t.Errorf("half an answer looks whole: %q", raw)
	}
	if !strings.Contains(l.String(), "panic in a handler") {
		t.Error("the log says nothing")
	}
}

func TestEventsOfSeveralLines(t *testing.T) {
	s := serve(t, httpd.Options{}, httpd.Mount{Service: "a", BaseURL: "/a", Routes: []httpd.Route{
		{Method: http.MethodGet, Path: "/x", Policy: httpd.Public, Handler: func(c *gin.Context) {
			e := httpd.NewEvents(c)
			_ = e.Send(7, "note", []byte("one\ntwo\r\nthree\rid: 9"))
			_ = e.Send(0, "", []byte("{}"))
			_ = e.Beat()
		}},
	}})
	a := ask(t, s, http.MethodGet, "/a/x", nil)
	want := "id: 7\nevent: note\ndata: one\ndata: two\ndata: three\ndata: id: 9\n\ndata: {}\n\n: heartbeat\n\n"
	if a.body != want || a.header.Get("Content-Type") != "text/event-stream" || a.header.Get("X-Accel-Buffering") != "no" ||
		a.header.Get("Cache-Control") != "no-cache" {
		t.Errorf("%q %v", a.body, a.header)
	}
}

func TestNothingIsGuessedAboutContent(t *testing.T) {
	s := serve(t, httpd.Options{}, httpd.Mount{Service: "a", BaseURL: "/a", Routes: []httpd.Route{
		{Method: http.MethodGet, Path: "/x", Policy: httpd.Public, Handler: func(c *gin.Context) {
			httpd.WriteBody(c, http.StatusOK, "", []byte("<html><script>1</script></html>"))
		}},
	}})
	a := ask(t, s, http.MethodGet, "/a/x", nil)
	if v, ok := a.header["Content-Type"]; ok || a.header.Get("X-Content-Type-Options") != "nosniff" {
		t.Errorf("%v %v", v, a.header)
	}
}

func TestShutdownBeforeServeFreesTheAddress(t *testing.T) {
	s, err := httpd.Listen("127.0.0.1:0", "x", (&logs{}).logger())
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Shutdown(t.Context()); err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", s.Addr())
	if err != nil {
		t.Fatal(err)
	}
	_ = l.Close()
}

func TestContradictoryRoutesAreAnError(t *testing.T) {
	s, err := httpd.Listen("127.0.0.1:0", "x", (&logs{}).logger())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Shutdown(t.Context()) }()
	for name, m := range map[string]httpd.Mount{
		"wildcards": {Service: "a", BaseURL: "/a", Routes: []httpd.Route{get("/x/:one"), get("/x/:two/y")}},
		"base_url":  {Service: "a", BaseURL: "/:a", Routes: []httpd.Route{get("/x")}},
	} {
		if err := s.Mount([]httpd.Mount{m}, httpd.Options{}); err == nil || !strings.Contains(err.Error(), "service a") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestStrangeRequestTargets: none of them may do more than be answered.
func TestStrangeRequestTargets(t *testing.T) {
	s := serve(t, httpd.Options{}, httpd.Mount{Service: "root", BaseURL: "/", Routes: []httpd.Route{get("/x")}})
	for _, first := range []string{"GET //system/x", "GET /%2e%2e/x", "OPTIONS *", "CONNECT a:1", "GET http://other", "HEAD /x", "OPTIONS /x",
		"PROPFIND /x", "GET /x%00", "GET /" + strings.Repeat("a/", 2000)} {
		conn, err := net.Dial("tcp", s.Addr())
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.WriteString(conn, first+" HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n")
		_ = conn.SetReadDeadline(time.Now().Add(5 * time.Second))
		resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil || resp.StatusCode >= 500 {
			t.Errorf("%.40s: %v %v", first, resp, err)
		}
		if err == nil && resp.StatusCode == http.StatusMethodNotAllowed && resp.Header.Get("Allow") == "" {
			t.Errorf("%.40s: 405 without Allow", first)
		}
		_ = conn.Close()
	}
}
