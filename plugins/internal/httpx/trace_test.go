package httpx_test

import (
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"

	"github.com/patchbay-dev/patchbay/plugins/internal/httpx"
	"github.com/patchbay-dev/patchbay/sdk/tracing"
)

// TestRequestsAreTraced: the span of a request shows what may be shown, and the upstream does not notice.
func TestRequestsAreTraced(t *testing.T) {
	upstream, _ := server(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Traceparent") != "" {
			t.Error("the upstream is told of the trace")
		}
		w.WriteHeader(http.StatusTeapot)
		_, _ = io.WriteString(w, "geheim")
	}))
	u, err := url.Parse(upstream.URL + "/bot-geheim/send?key=geheim")
	if err != nil {
		t.Fatal(err)
	}
	guard := newGuard(t, httpx.GuardConfig{Allow: []string{u.Host}})
	for name, c := range map[string]struct {
		cfg        httpx.Config
		host, path string
	}{
		"plain":   {cfg: httpx.Config{Own: []*url.URL{u}}, host: "127.0.0.1"},
		"path":    {cfg: httpx.Config{TracePath: true, Own: []*url.URL{u}}, host: "127.0.0.1", path: "/bot-geheim/send"},
		"guarded": {cfg: httpx.Config{Guard: guard}},
	} {
		for _, streamed := range []bool{false, true} {
			seen := tracetest.NewSpanRecorder()
			provider := sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(seen))
			ctx, root := tracing.StartRoot(t.Context(), provider.Tracer(tracing.Scope), trace.SpanKindServer, "call")
			client, req := newClient(t, c.cfg), &httpx.Request{Method: http.MethodPost, URL: u, Header: http.Header{"X-Key": {"geheim"}},
				Body: []byte("geheim")}
			if streamed {
				s, err := client.Stream(ctx, req, 0)
				if err != nil {
					t.Fatal(err)
				}
				_ = s.Close()
			} else if _, err := client.Do(ctx, req); err != nil {
				t.Fatal(err)
			}
			root.End()
			span, attributes, all := seen.Ended()[0], map[string]string{}, ""
			for _, kv := range span.Attributes() {
				attributes[string(kv.Key)] = kv.Value.String()
				all += kv.Value.String() + "\n"
			}
			if span.Name() != "POST" || attributes["server.address"] != c.host || attributes["url.path"] != c.path ||
				attributes["error.type"] != "418" || attributes["http.response.status_code"] != "418" {
				t.Errorf("%s: the span is %q, %v", name, span.Name(), attributes)
			}
			if c.path == "" && strings.Contains(all, "geheim") {
				t.Errorf("%s: the span says %s", name, all)
			}
		}
	}
}
