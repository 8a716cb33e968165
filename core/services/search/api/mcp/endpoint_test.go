package mcp

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/gin-gonic/gin"
	"go.uber.org/goleak"

	"github.com/patchbay-dev/patchbay/core/httpd"
)

func TestMain(m *testing.M) {
	gin.SetMode(gin.ReleaseMode)
	goleak.VerifyTestMain(m)
}

// caller is a caller whose tool the test decides about.
type caller func(ctx context.Context, call Call) (*Result, error)

func (caller) Token() string                                          { return "t" }
func (caller) Headers(h http.Header)                                  { h.Set("X-Limits", "1") }
func (f caller) Call(ctx context.Context, call Call) (*Result, error) { return f(ctx, call) }

// serve answers POSTs with one tool.
func serve(t *testing.T, cfg Config, f caller) (url string) {
	t.Helper()
	e, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	tools, err := NewTools([]Tool{{Name: "x", Operation: "op"}})
	if err != nil {
		t.Fatal(err)
	}
	engine := gin.New()
	engine.POST("/", func(c *gin.Context) {
		if err := e.Post(c, tools, f); err != nil {
			httpd.WriteError(c, err)
		}
	})
	srv := httptest.NewServer(engine)
	t.Cleanup(func() {
		http.DefaultClient.CloseIdleConnections()
		srv.Close()
	})
	return srv.URL
}

const callX = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x","arguments":null,"_meta":{"progressToken":7}}}`

// send posts the call; begun, if there is one, is called when the head of the answer is there.
func send(t *testing.T, url, accept string, begun func()) (*http.Response, string) {
	t.Helper()
	req, err := http.NewRequest(http.MethodPost, url, strings.NewReader(callX))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json; charset=utf-8")
	req.Header.Set("Accept", accept)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if begun != nil {
		begun()
	}
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp, string(body)
}

func TestShapeOfTheAnswer(t *testing.T) {
	quick := func(_ context.Context, c Call) (*Result, error) {
		return &Result{Body: []byte(c.Operation + string(c.Arguments))}, nil
	}
	const both = "application/json, text/event-stream;q=0.5"
	for _, tt := range []struct {
		name, accept string
		tool         caller
		kind         string
		want, not    string
	}{
		{"quick", both, quick, "application/json", `{"jsonrpc":"2.0"`, "heartbeat"},
		{"quick, events only", "text/event-stream", quick, "text/event-stream", "event: message\ndata: {", "heartbeat"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			resp, body := send(t, serve(t, Config{Heartbeat: time.Hour}, tt.tool), tt.accept, nil)
			if resp.StatusCode != 200 || resp.Header.Get("Content-Type") != tt.kind || resp.Header.Get("X-Limits") != "1" {
				t.Errorf("status %d, %v", resp.StatusCode, resp.Header)
			}
			if !strings.Contains(body, tt.want) || strings.Contains(body, tt.not) || !strings.Contains(body, `"text":"op{}"`) {
				t.Errorf("body %s", body)
			}
		})
	}
}

// TestSlowAnswer has a tool that does not end before its client hears something.
func TestSlowAnswer(t *testing.T) {
	begun := make(chan struct{})
	url := serve(t, Config{Heartbeat: time.Millisecond}, func(context.Context, Call) (*Result, error) {
		<-begun
		return &Result{Body: []byte("op{}")}, nil
	})
	resp, body := send(t, url, "application/json, text/event-stream", func() { close(begun) })
	if resp.Header.Get("Content-Type") != "text/event-stream" || resp.Header.Get("X-Limits") != "1" {
		t.Errorf("headers %v", resp.Header)
	}
	if !strings.HasPrefix(body, ": heartbeat\n\n") || !strings.Contains(body, `"text":"op{}"`) {
		t.Errorf("body %s", body)
	}
}

func TestPanicOfATool(t *testing.T) {
	url := serve(t, Config{}, func(context.Context, Call) (*Result, error) { panic("as told") })
	resp, body := send(t, url, "*/*", nil)
	if resp.StatusCode != 200 || !strings.Contains(body, `"isError":true`) || strings.Contains(body, "as told") {
		t.Errorf("status %d: %s", resp.StatusCode, body)
	}
}

func TestClientLeaves(t *testing.T) {
	entered, left := make(chan struct{}), make(chan struct{})
	url := serve(t, Config{}, func(ctx context.Context, _ Call) (*Result, error) {
		close(entered)
		<-ctx.Done()
		close(left)
		return nil, ctx.Err()
	})
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		<-entered
		cancel()
	}()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, strings.NewReader(callX))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	if resp, err := http.DefaultClient.Do(req); !errors.Is(err, context.Canceled) {
		t.Errorf("%v, %v", resp, err)
	}
	select {
	case <-left:
	case <-time.After(10 * time.Second):
		t.Error("the tool goes on")
	}
}
