package httpx

import (
	"context"
	"net/http"
	"strconv"

	"go.opentelemetry.io/otel/trace"

	"github.com/patchbay-dev/patchbay/sdk/tracing"
)

// startSpan begins the span of a request, if the call that it is made for is traced. The trace context is not sent: no
// upstream shall notice. The span has no query, no host where a user names the address, and a path only if Config.TracePath
// says that it holds no secret.
func (c *Client) startSpan(ctx context.Context, req *Request) (context.Context, tracing.Span) {
	if !tracing.IsSampled(ctx) {
		return ctx, tracing.Span{}
	}
	ctx, span := tracing.Start(ctx, trace.SpanKindClient, req.Method)
	span.SetString("http.request.method", req.Method)
	if c.cfg.Guard == nil || req.Own {
		span.SetString("server.address", req.URL.Hostname())
		if port, err := strconv.Atoi(req.URL.Port()); err == nil {
			span.SetInt("server.port", port)
		}
	}
	if c.cfg.TracePath {
		span.SetString("url.path", req.URL.EscapedPath())
	}
	return ctx, span
}

// setStatus notes the status of an answer, which is an error from 400 on.
func setStatus(span tracing.Span, status int) {
	if !span.IsSampled() {
		return
	}
	span.SetInt("http.response.status_code", status)
	if status >= http.StatusBadRequest {
		span.Fail(strconv.Itoa(status))
	}
}
