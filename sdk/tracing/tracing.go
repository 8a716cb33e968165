// Package tracing makes the OpenTelemetry spans of the core and of plugins.
//
// A span other than the first of a process is made below the span in its context, by the provider of that one. Where no
// span is sampled nothing is made and nothing is allocated: what is off costs a look into the context.
package tracing

import (
	"context"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"

	"github.com/patchbay-dev/patchbay/sdk/errs"
)

// Scope is the name of the instrumentation in the spans.
const Scope = "github.com/patchbay-dev/patchbay"

// Exporter is a tracer provider that sends its spans somewhere.
type Exporter interface {
	trace.TracerProvider
	// ForceFlush sends the spans that have ended. It returns when that is done or ctx ends.
	ForceFlush(ctx context.Context) error
	// Shutdown is ForceFlush, after which the provider sends nothing more.
	Shutdown(ctx context.Context) error
}

// Service names the program that makes spans, where the environment does not.
type Service struct{ Name, Version string }

// Open makes an Exporter as the environment says, or returns nil if it asks for none. report is called for failures of the
// export, from any goroutine. An error is about a setting that cannot be followed.
type Open func(ctx context.Context, service Service, report func(error)) (Exporter, error)

// Span is a span, or nothing: the zero Span ignores what it is told. No attribute may hold a secret, a query, or the name
// or address of a person.
type Span struct{ span trace.Span }

// IsSampled reports whether ctx has a span that is recorded, so that Start would begin one.
func IsSampled(ctx context.Context) bool { return trace.SpanFromContext(ctx).IsRecording() }

// Start begins a span below the one in ctx, and returns a context with it. If that one is not sampled, or there is none,
// Start returns ctx and the zero Span.
func Start(ctx context.Context, kind trace.SpanKind, name string) (context.Context, Span) {
	parent := trace.SpanFromContext(ctx)
	if !parent.IsRecording() {
		return ctx, Span{}
	}
	return startSpan(ctx, parent.TracerProvider().Tracer(Scope), name, trace.WithSpanKind(kind))
}

// StartRoot begins the first span of a trace with tracer, whatever span ctx has. A nil tracer begins none.
func StartRoot(ctx context.Context, tracer trace.Tracer, kind trace.SpanKind, name string) (context.Context, Span) {
	if tracer == nil {
		return ctx, Span{}
	}
	return startSpan(ctx, tracer, name, trace.WithSpanKind(kind), trace.WithNewRoot())
}

// startSpan begins a span. The zero Span stands for one that is not sampled.
func startSpan(ctx context.Context, tracer trace.Tracer, name string, opts ...trace.SpanStartOption) (context.Context, Span) {
	ctx, span := tracer.Start(ctx, name, opts...)
	if !span.IsRecording() {
		return ctx, Span{}
	}
	return ctx, Span{span}
}

// SpanOf returns the sampled span of a context, or the zero Span.
func SpanOf(ctx context.Context) Span {
	if span := trace.SpanFromContext(ctx); span.IsRecording() {
		return Span{span}
	}
	return Span{}
}

// Transfer returns a context with the values of to and the sampled span of from. It returns to itself if there is none.
func Transfer(to, from context.Context) context.Context {
	if span := trace.SpanFromContext(from); span.IsRecording() {
		return trace.ContextWithSpan(to, span)
	}
	return to
}

// IsSampled reports whether s is a span that is recorded.
func (s Span) IsSampled() bool { return s.span != nil }

// TraceID returns the id of the trace in hexadecimal digits, or "" for the zero Span.
func (s Span) TraceID() string {
	if s.span == nil {
		return ""
	}
	return s.span.SpanContext().TraceID().String()
}

// SetString sets an attribute. An empty value sets none.
func (s Span) SetString(key, value string) {
	if s.span != nil && value != "" {
		s.span.SetAttributes(attribute.String(key, value))
	}
}

// SetInt sets an attribute.
func (s Span) SetInt(key string, value int) {
	if s.span != nil {
		s.span.SetAttributes(attribute.Int(key, value))
	}
}

// Fail marks the span as an error of a type, which is a code or a reason and never a message.
func (s Span) Fail(kind string) {
	if s.span != nil {
		s.span.SetStatus(codes.Error, "")
		s.span.SetAttributes(attribute.String("error.type", kind))
	}
}

// End ends the span.
func (s Span) End() {
	if s.span != nil {
		s.span.End()
	}
}

// EndWith ends the span, as an error with the reason of err unless err is nil.
func (s Span) EndWith(err error) {
	if s.span == nil {
		return
	}
	if err != nil {
		s.Fail(errs.From(err).Reason)
	}
	s.span.End()
}

// The names of the fields of a W3C trace context.
const (
	keyParent = "traceparent"
	keyState  = "tracestate"
)

// Context is the W3C trace context of a call. The zero value is none.
type Context struct{ Parent, State string }

// ContextOf returns the trace context that a call made with ctx takes along. It is empty unless the span is sampled.
func ContextOf(ctx context.Context) Context {
	if !IsSampled(ctx) {
		return Context{}
	}
	fields := propagation.MapCarrier{}
	propagation.TraceContext{}.Inject(ctx, fields)
	return Context{fields[keyParent], fields[keyState]}
}

// withRemoteSpan returns ctx with the remote span that c names. It returns ctx itself if c is not valid.
func (c Context) withRemoteSpan(ctx context.Context) context.Context {
	return propagation.TraceContext{}.Extract(ctx, propagation.MapCarrier{keyParent: c.Parent, keyState: c.State})
}
