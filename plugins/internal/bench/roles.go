package main

import (
	"bytes"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"strconv"
	"strings"

	"github.com/gin-gonic/gin"

	"github.com/patchbay-dev/patchbay/sdk/framework"
)

// runRole is what a child process of the benchmark does. It prints its address as the first line.
func runRole(name string, args []string) error {
	if name == "plugin" {
		framework.Serve(newEchoPlugin())
		return nil
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	fmt.Println("http://" + l.Addr().String())
	if name == "upstream" {
		return http.Serve(l, http.HandlerFunc(serveUpstream))
	}
	return http.Serve(l, newBaseline(args[0]))
}

var small, large = makeDocument(1 << 10), makeDocument(50 << 10)

// makeDocument is an answer of about size bytes in the shape that search APIs have.
func makeDocument(size int) []byte {
	const result = `{"title":"A result","url":"https://example.com/page","content":%q,"score":0.9}`
	head, tail := `{"query":"q","answer":null,"images":[],"results":[`,
		`],"response_time":0.5,"usage":{"credits":1},"request_id":"9d6f6e60-5f0a-4b8e-9c1f-0d8f3f6f2a11"}`
	n := max(1, size/1024)
	text := strings.Repeat("x", max(1, (size-len(head)-len(tail))/n-len(result)))
	items := make([]string, n)
	for i := range items {
		items[i] = fmt.Sprintf(result, text)
	}
	return []byte(head + strings.Join(items, ",") + tail)
}

// serveUpstream answers at once: 50 KB if the query says so, else 1 KB.
func serveUpstream(w http.ResponseWriter, r *http.Request) {
	var buf [4096]byte
	n, _ := io.ReadFull(r.Body, buf[:])
	body := small
	if bytes.Contains(buf[:n], []byte("50k")) {
		body = large
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	_, _ = w.Write(body)
}

// newBaseline is gin with a reverse proxy and nothing else. It reads the request body first: handed through as a stream, the
// body may be closed by the server, once a large answer begins, while the transport still looks for its end.
func newBaseline(target string) http.Handler {
	gin.SetMode(gin.ReleaseMode)
	u, err := url.Parse(target)
	if err != nil {
		panic(err)
	}
	proxy := &httputil.ReverseProxy{
		Rewrite: func(p *httputil.ProxyRequest) {
			p.SetURL(u)
			body := make([]byte, max(0, p.In.ContentLength))
			_, _ = io.ReadFull(p.In.Body, body)
			p.Out.Body = io.NopCloser(bytes.NewReader(body))
		},
		// The load generator leaves in the middle of answers: that is not worth a line.
		ErrorLog:  log.New(io.Discard, "", 0),
		Transport: &http.Transport{MaxIdleConns: 1024, MaxIdleConnsPerHost: 256, DisableCompression: true},
	}
	e := gin.New()
	e.POST("/search", gin.WrapH(proxy))
	return e
}
