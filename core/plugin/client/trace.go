package client

import (
	"context"
	"strings"

	"go.opentelemetry.io/otel/trace"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/sdk/tracing"
)

// startSpan begins the span of a call of an operation of the instance ref, below the span of ctx.
func startSpan(ctx context.Context, ref, operation string) (context.Context, tracing.Span) {
	if !tracing.IsSampled(ctx) {
		return ctx, tracing.Span{}
	}
	ctx, span := tracing.Start(ctx, trace.SpanKindClient, ref+" "+operation)
	kind, _, _ := strings.Cut(ref, ".")
	span.SetString("patchbay.kind", kind)
	span.SetString("patchbay.instance", ref)
	span.SetString("patchbay.operation", operation)
	return ctx, span
}

// endSpan ends the span of a call with the code of its error.
func endSpan(span tracing.Span, err error) {
	if err != nil && span.IsSampled() {
		span.Fail(string(fault.CodeOf(err)))
	}
	span.End()
}
