package tracing_test

import (
	"context"
	"net/http"
	"testing"

	"go.opentelemetry.io/otel/codes"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"
	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"

	"github.com/patchbay-dev/patchbay/sdk/errs"
	"github.com/patchbay-dev/patchbay/sdk/tracing"
)

const (
	clientTrace  = "0af7651916cd43dd8448eb211c80319c"
	clientParent = "00-" + clientTrace + "-b7ad6b7169203331-"
)

// record returns a provider with a sampler, and what records its spans.
func record(sampler sdktrace.Sampler) (*sdktrace.TracerProvider, *tracetest.SpanRecorder) {
	seen := tracetest.NewSpanRecorder()
	return sdktrace.NewTracerProvider(sdktrace.WithSampler(sampler), sdktrace.WithSpanProcessor(seen)), seen
}

// callAll does all that a request does for its trace.
func callAll(ctx context.Context) {
	ctx, span := tracing.Start(ctx, trace.SpanKindClient, "call")
	span.SetString("key", "value")
	span.SetInt("number", 1)
	_ = tracing.ContextOf(ctx)
	_ = tracing.Transfer(ctx, ctx)
	_, inner := tracing.StartAttached(ctx, tracing.Context{})
	inner.EndWith(nil)
	_ = tracing.SpanOf(ctx).TraceID()
	span.Fail("x")
	span.EndWith(context.Canceled)
}

func TestNothingIsAllocatedWhileOff(t *testing.T) {
	unsampled, _ := record(sdktrace.NeverSample())
	dropped, _ := tracing.StartRoot(t.Context(), unsampled.Tracer(tracing.Scope), trace.SpanKindServer, "root")
	for name, ctx := range map[string]context.Context{"without a span": t.Context(), "unsampled": dropped} {
		if n := testing.AllocsPerRun(100, func() { callAll(ctx) }); n != 0 {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
	header := http.Header{"Traceparent": {clientParent + "01"}}
	if n := testing.AllocsPerRun(100, func() {
		ctx, span := tracing.StartRequest(t.Context(), nil, "GET /", header, true)
		_, job := tracing.StartRoot(ctx, nil, trace.SpanKindInternal, "job")
		job.End()
		span.End()
	}); n != 0 {
		t.Errorf("without a tracer: %v allocations", n)
	}
}

func TestStartRequestTrustsProxiesOnly(t *testing.T) {
	for _, c := range []struct {
		name, sent       string
		sampler          sdktrace.Sampler
		trusted, sampled bool
		continued        bool
	}{
		{"trusted", "01", sdktrace.ParentBased(sdktrace.NeverSample()), true, true, true},
		{"trusted and unsampled", "00", sdktrace.ParentBased(sdktrace.AlwaysSample()), true, false, true},
		{"a stranger cannot ask for a trace", "01", sdktrace.ParentBased(sdktrace.NeverSample()), false, false, false},
		{"a stranger cannot hide", "00", sdktrace.ParentBased(sdktrace.AlwaysSample()), false, true, false},
	} {
		provider, seen := record(c.sampler)
		header := http.Header{"Traceparent": {clientParent + c.sent}, "Tracestate": {"vendor=secret"}}
		_, span := tracing.StartRequest(t.Context(), provider.Tracer(tracing.Scope), "GET /", header, c.trusted)
		span.End()
		if span.IsSampled() != c.sampled {
			t.Errorf("%s: sampled is %v", c.name, span.IsSampled())
		}
		if !c.sampled {
			continue
		}
		got := seen.Ended()[0]
		if continued := got.SpanContext().TraceID().String() == clientTrace; continued != c.continued {
			t.Errorf("%s: continued is %v", c.name, continued)
		}
		if links := got.Links(); !c.continued &&
			(len(links) != 1 || links[0].SpanContext.TraceID().String() != clientTrace || links[0].SpanContext.TraceState().Len() != 0) {
			t.Errorf("%s: the links are %v", c.name, links)
		}
	}
}

func TestCallsAreOneTrace(t *testing.T) {
	host, sent := record(sdktrace.AlwaysSample())
	plugin, received := record(sdktrace.ParentBased(sdktrace.AlwaysSample()))
	server := tracing.NewServer(plugin)
	if _, span := server.StartCall(t.Context(), "/s/M", "search.docs", tracing.Context{}); span.IsSampled() {
		t.Error("a call without a trace is traced")
	}
	if _, span := server.StartCall(t.Context(), "/s/M", "search.docs", tracing.Context{Parent: "nonsense"}); span.IsSampled() {
		t.Error("a call with nonsense for a trace is traced")
	}
	ctx, root := tracing.StartRoot(t.Context(), host.Tracer(tracing.Scope), trace.SpanKindServer, "root")
	// By metadata, as gRPC carries it.
	err := tracing.SendUnary(ctx, "/s/M", nil, nil, nil,
		func(ctx context.Context, method string, _, _ any, _ *grpc.ClientConn, _ ...grpc.CallOption) error {
			md, _ := metadata.FromOutgoingContext(ctx)
			arrived := metadata.NewIncomingContext(context.Background(), md)
			_, span := server.StartCall(arrived, method, "search.docs", tracing.Received(arrived))
			span.EndWith(errs.Unavailable(errs.ReasonTimeout, "no answer from secret.example"))
			return nil
		})
	if err != nil {
		t.Fatal(err)
	}
	// By a message, as an exchange carries it.
	attached := server.Attach(t.Context(), "/s/M", "search.docs")
	_, span := tracing.StartAttached(attached, tracing.ContextOf(ctx))
	span.EndWith(nil)
	root.End()
	parent := sent.Ended()[0].SpanContext()
	if len(received.Ended()) != 2 {
		t.Fatalf("%d calls are traced", len(received.Ended()))
	}
	for _, s := range received.Ended() {
		if s.Name() != "s/M" || s.Parent().SpanID() != parent.SpanID() || s.SpanContext().TraceID() != parent.TraceID() ||
			!s.Parent().IsRemote() {
			t.Errorf("the span %s is below %v, want %v", s.Name(), s.Parent(), parent)
		}
	}
	if st := received.Ended()[0].Status(); st.Code != codes.Error || st.Description != "" {
		t.Errorf("the status of the failed call is %+v", st)
	}
	for _, kv := range received.Ended()[0].Attributes() {
		if kv.Key == "error.type" && kv.Value.AsString() != errs.ReasonTimeout {
			t.Errorf("the type of the error is %q", kv.Value.AsString())
		}
	}
}
