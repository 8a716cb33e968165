package httpd_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/gin-gonic/gin"
	"github.com/hashicorp/go-hclog"

	"github.com/patchbay-dev/patchbay/core/httpd"
)

func TestMain(m *testing.M) {
	gin.SetMode(gin.ReleaseMode)
	m.Run()
}

// logs keeps what was logged.
type logs struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (l *logs) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.Write(p)
}

func (l *logs) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.String()
}

func (l *logs) logger() hclog.Logger {
	return hclog.New(&hclog.LoggerOptions{Output: l, Level: hclog.Debug})
}

// get is a route that answers with its own name.
func get(path string) httpd.Route {
	return httpd.Route{Method: http.MethodGet, Path: path, Policy: httpd.Public,
		Handler: func(c *gin.Context) { c.String(http.StatusOK, path) }}
}

// serve runs a listener with mounts until the test ends.
func serve(t testing.TB, opts httpd.Options, mounts ...httpd.Mount) *httpd.Server {
	t.Helper()
	if opts.Logger == nil {
		opts.Logger = hclog.NewNullLogger()
	}
	s, err := httpd.Listen("127.0.0.1:0", "test", opts.Logger)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Mount(mounts, opts); err != nil {
		t.Fatal(err)
	}
	s.Serve()
	t.Cleanup(func() { _ = s.Shutdown(t.Context()) })
	return s
}

type answer struct {
	status int
	header http.Header
	body   string
	json   map[string]any
}

// ask makes a request; change may set headers, host or length.
func ask(t testing.TB, s *httpd.Server, method, target string, body io.Reader, change ...func(*http.Request)) answer {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, "http://"+s.Addr()+target, body)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range change {
		f(req)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	out := answer{status: resp.StatusCode, header: resp.Header, body: string(raw)}
	if strings.HasPrefix(resp.Header.Get("Content-Type"), "application/json") {
		if err := json.Unmarshal(raw, &out.json); err != nil {
			t.Fatalf("%s %s: %v in %q", method, target, err, raw)
		}
	}
	return out
}

// recorded is a request without a network, for what only looks at headers.
func recorded(change func(*http.Request)) *http.Request {
	r := httptest.NewRequest(http.MethodGet, "/", nil)
	change(r)
	return r
}
