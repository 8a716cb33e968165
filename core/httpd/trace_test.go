package httpd_test

import (
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/gin-gonic/gin"
	"go.opentelemetry.io/otel/codes"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/httpd"
	"github.com/patchbay-dev/patchbay/core/internal/testing/testkit"
	"github.com/patchbay-dev/patchbay/sdk/tracing"
)

// lineWith returns the first line of a text that has a part.
func lineWith(text, part string) string {
	for line := range strings.Lines(text) {
		if strings.Contains(line, part) {
			return line
		}
	}
	return ""
}

func TestRequestsAreTraced(t *testing.T) {
	seen, text := tracetest.NewSpanRecorder(), &logs{}
	provider := sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(seen))
	detached := ""
	route := func(path string, handler gin.HandlerFunc) httpd.Route {
		return httpd.Route{Method: http.MethodGet, Path: path, Policy: httpd.Public, Handler: handler}
	}
	s := serve(t, httpd.Options{Tracer: provider.Tracer(tracing.Scope), Logger: text.logger()},
		httpd.Mount{Service: "shop", BaseURL: "/shop", Routes: []httpd.Route{
			route("/items/:id", func(c *gin.Context) {
				detached = tracing.SpanOf(httpd.Detach(c.Request.Context())).TraceID()
				c.Status(http.StatusNoContent)
			}),
			route("/broken", func(c *gin.Context) {
				httpd.WriteError(c, fault.New(fault.UpstreamUnavailable, "It is broken."))
			}),
			route("/panic", func(*gin.Context) { panic("private") }),
		}})
	for _, c := range []struct {
		method, target, name, failure string
		status                        int
	}{
		{http.MethodGet, "/shop/items/private?token=private", "GET /shop/items/:id", "", http.StatusNoContent},
		{http.MethodGet, "/shop/private", "GET", "", http.StatusNotFound},
		{"PRIVATE", "/shop/items/1", "_OTHER", "", http.StatusMethodNotAllowed},
		{http.MethodGet, "/shop/broken", "GET /shop/broken", "upstream_unavailable", http.StatusBadGateway},
		{http.MethodGet, "/shop/panic", "GET /shop/panic", "internal", http.StatusInternalServerError},
	} {
		seen.Reset()
		ask(t, s, c.method, c.target, nil, func(r *http.Request) { r.Header.Set("X-Request-Id", "private") })
		// The span ends after the answer.
		testkit.Eventually(t, 10*time.Second, func() bool { return len(seen.Ended()) == 1 }, c.target+" has a span")
		span := seen.Ended()[0]
		attributes := map[string]string{}
		for _, kv := range span.Attributes() {
			attributes[string(kv.Key)] = kv.Value.String()
			if strings.Contains(strings.ToLower(kv.Value.String()), "private") {
				t.Errorf("%s: the span says %v", c.target, kv)
			}
		}
		if span.Name() != c.name || attributes["error.type"] != c.failure || (span.Status().Code == codes.Error) != (c.failure != "") ||
			attributes["http.response.status_code"] != strconv.Itoa(c.status) || attributes["patchbay.service"] != "shop" {
			t.Errorf("%s %s: the span is %q, %v, %v", c.method, c.target, span.Name(), attributes, span.Status())
		}
		id := span.SpanContext().TraceID().String()
		testkit.Eventually(t, 10*time.Second, func() bool { return strings.Contains(text.String(), "trace_id="+id) },
			"the log has the id of the trace")
		if line := lineWith(text.String(), "panic in a handler"); strings.HasSuffix(c.target, "/panic") &&
			!strings.Contains(line, "trace_id="+id) {
			t.Errorf("the line about a panic lacks the id of the trace: %s", line)
		}
		if strings.Contains(c.target, "items/private") && detached != id {
			t.Errorf("detached work belongs to the trace %q, want %s", detached, id)
		}
	}
}
