package httpd

import (
	"net/http"
	"strconv"

	"github.com/gin-gonic/gin"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/sdk/tracing"
)

// withTrace returns the arguments of a log line with the id of the request's trace behind them, if it is traced.
func withTrace(c *gin.Context, args ...any) []any {
	if id := tracing.SpanOf(c.Request.Context()).TraceID(); id != "" {
		args = append(args, "trace_id", id)
	}
	return args
}

// startSpan begins the span of a request, named after its method and route, if requests are traced. It holds nothing that a
// client has chosen: no path, query, header or address.
func (w *wrapper) startSpan(c *gin.Context) {
	if w.opts.Tracer == nil {
		return
	}
	method := methodName(c.Request.Method, "_OTHER")
	name := method
	if route := c.FullPath(); route != "" {
		name += " " + route
	}
	trusted := w.opts.Clients != nil && w.opts.Clients.Trusted(peerAddress(c.Request.RemoteAddr))
	ctx, span := tracing.StartRequest(c.Request.Context(), w.opts.Tracer, name, c.Request.Header, trusted)
	span.SetString("http.request.method", method)
	span.SetString("http.route", c.FullPath())
	span.SetString("patchbay.service", w.service)
	c.Request = c.Request.WithContext(ctx)
}

// endSpan ends the span of a request with the status of its answer, and with the error that was set for the log.
func endSpan(c *gin.Context) {
	span := tracing.SpanOf(c.Request.Context())
	if !span.IsSampled() {
		return
	}
	status := c.Writer.Status()
	span.SetInt("http.response.status_code", status)
	if v, failed := c.Get(keyError); failed {
		err, _ := v.(error)
		span.Fail(string(fault.CodeOf(err)))
	} else if status >= http.StatusInternalServerError {
		span.Fail(strconv.Itoa(status))
	}
	span.End()
}
