package framework

import (
	"context"
	"time"

	"google.golang.org/grpc"

	"github.com/patchbay-dev/patchbay/sdk/exchange"
	"github.com/patchbay-dev/patchbay/sdk/tracing"
)

// flushLimit bounds how long the end of a process waits for its spans to be sent: the host kills what does not end.
const flushLimit = 1500 * time.Millisecond

// openTraces makes the exporter of spans, if there is one and the environment asks for it.
func (s *Server) openTraces(open tracing.Open) {
	if open == nil {
		return
	}
	report := func(err error) { s.log.Warn("cannot send spans", "error", err) }
	exporter, err := open(context.Background(), tracing.Service{Name: "patchbay-plugin", Version: s.describe.GetVersion()}, report)
	if err != nil {
		s.log.Warn("tracing off", "error", err)
	}
	if exporter != nil {
		s.exporter, s.traces = exporter, tracing.NewServer(exporter)
	}
}

// flushTraces sends the spans that have ended. It returns after flushLimit at the latest.
func (s *Server) flushTraces(ctx context.Context) {
	if s.exporter != nil {
		ctx, cancel := context.WithTimeout(ctx, flushLimit)
		defer cancel()
		_ = s.exporter.ForceFlush(ctx)
	}
}

// closeTraces is flushTraces for the end of the process, where no host has asked for it.
func (s *Server) closeTraces() {
	if s.exporter != nil {
		ctx, cancel := context.WithTimeout(context.Background(), flushLimit)
		defer cancel()
		_ = s.exporter.Shutdown(ctx)
	}
}

// traceOptions returns the interceptors that make spans, none in a process that is not traced.
func (s *Server) traceOptions() []grpc.ServerOption {
	if s.traces == nil {
		return nil
	}
	return []grpc.ServerOption{grpc.ChainUnaryInterceptor(s.traceUnary), grpc.ChainStreamInterceptor(s.traceStream)}
}

func (s *Server) traceUnary(ctx context.Context, req any, info *grpc.UnaryServerInfo, next grpc.UnaryHandler) (resp any, err error) {
	ctx, span := s.startSpan(ctx, info.FullMethod)
	resp, err = next(ctx, req)
	span.EndWith(err)
	return resp, err
}

func (s *Server) traceStream(srv any, stream grpc.ServerStream, info *grpc.StreamServerInfo, next grpc.StreamHandler) error {
	ctx, span := s.startSpan(stream.Context(), info.FullMethod)
	err := next(srv, tracedStream{stream, ctx})
	span.EndWith(err)
	return err
}

func (s *Server) startSpan(ctx context.Context, method string) (context.Context, tracing.Span) {
	return s.traces.StartCall(ctx, method, s.instances.instanceRef(incomingValue(ctx, exchange.MetaInstance)), tracing.Received(ctx))
}

// tracedStream is a stream whose context has the span of the call.
type tracedStream struct {
	grpc.ServerStream
	ctx context.Context
}

// Context implements grpc.ServerStream.
func (s tracedStream) Context() context.Context { return s.ctx }
