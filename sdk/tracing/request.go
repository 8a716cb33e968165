package tracing

import (
	"context"
	"net/http"

	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"
)

// StartRequest begins the span of a request that an HTTP server has received. The trace context of the request's header is
// the parent if trusted is true. Otherwise the span begins a trace of its own with a link to it, so that a stranger decides
// neither about sampling nor about the id. A nil tracer begins none.
func StartRequest(ctx context.Context, tracer trace.Tracer, name string, header http.Header, trusted bool) (context.Context, Span) {
	if tracer == nil {
		return ctx, Span{}
	}
	opts := []trace.SpanStartOption{trace.WithSpanKind(trace.SpanKindServer)}
	remote := propagation.TraceContext{}.Extract(ctx, propagation.HeaderCarrier(header))
	sent := trace.SpanContextFromContext(remote)
	switch {
	case trusted:
		ctx = remote
	case sent.IsValid():
		opts = append(opts, trace.WithNewRoot(), trace.WithLinks(trace.Link{SpanContext: sent.WithTraceState(trace.TraceState{})}))
	}
	return startSpan(ctx, tracer, name, opts...)
}
