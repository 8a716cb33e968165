package tracing

import (
	"context"
	"strings"

	"go.opentelemetry.io/otel/trace"
	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"
)

// SendUnary is a client interceptor of gRPC that sends the trace context of a call in its metadata.
func SendUnary(ctx context.Context, method string, req, reply any, conn *grpc.ClientConn, invoke grpc.UnaryInvoker,
	opts ...grpc.CallOption) error {
	return invoke(withMetadata(ctx), method, req, reply, conn, opts...)
}

// SendStream is SendUnary for streams.
func SendStream(ctx context.Context, desc *grpc.StreamDesc, conn *grpc.ClientConn, method string, open grpc.Streamer,
	opts ...grpc.CallOption) (grpc.ClientStream, error) {
	return open(withMetadata(ctx), desc, conn, method, opts...)
}

// withMetadata returns ctx with its trace context in the metadata of outgoing calls.
func withMetadata(ctx context.Context) context.Context {
	c := ContextOf(ctx)
	if c.Parent == "" {
		return ctx
	}
	ctx = metadata.AppendToOutgoingContext(ctx, keyParent, c.Parent)
	if c.State != "" {
		ctx = metadata.AppendToOutgoingContext(ctx, keyState, c.State)
	}
	return ctx
}

// Received returns the trace context in the metadata of the gRPC call that is answered with ctx.
func Received(ctx context.Context) Context {
	md, _ := metadata.FromIncomingContext(ctx)
	return Context{firstValue(md, keyParent), firstValue(md, keyState)}
}

func firstValue(md metadata.MD, key string) string {
	if v := md.Get(key); len(v) > 0 {
		return v[0]
	}
	return ""
}

// Server makes the spans of the calls that a plugin answers. nil makes none.
type Server struct{ tracer trace.Tracer }

// NewServer makes a Server whose spans are p's.
func NewServer(p trace.TracerProvider) *Server { return &Server{p.Tracer(Scope)} }

// StartCall begins the span of a call of a method, named as gRPC does, below the span of the host. Without one it begins
// none: what the host does by itself is not traced.
func (s *Server) StartCall(ctx context.Context, method, instance string, from Context) (context.Context, Span) {
	if s == nil || from.Parent == "" {
		return ctx, Span{}
	}
	remote := from.withRemoteSpan(ctx)
	if !trace.SpanContextFromContext(remote).IsRemote() {
		return ctx, Span{}
	}
	ctx, span := startSpan(remote, s.tracer, strings.TrimPrefix(method, "/"), trace.WithSpanKind(trace.SpanKindServer))
	span.SetString("rpc.system", "grpc")
	span.SetString("patchbay.instance", instance)
	return ctx, span
}

type attachedKey struct{}

// attached is a call whose trace context is not known yet.
type attached struct {
	server           *Server
	method, instance string
}

// Attach returns a context in which StartAttached begins the span of a call, for calls whose trace context lies in their
// messages.
func (s *Server) Attach(ctx context.Context, method, instance string) context.Context {
	if s == nil {
		return ctx
	}
	return context.WithValue(ctx, attachedKey{}, attached{s, method, instance})
}

// StartAttached is StartCall for the call that ctx was attached to. It begins no span in other contexts.
func StartAttached(ctx context.Context, from Context) (context.Context, Span) {
	call, _ := ctx.Value(attachedKey{}).(attached)
	return call.server.StartCall(ctx, call.method, call.instance, from)
}
