package framework

import (
	"context"
	"fmt"
	"runtime/debug"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/protobuf/proto"

	"github.com/patchbay-dev/patchbay/sdk/errs"
)

// logPanic logs a panic of the plugin's code. The value goes to the log only: it may hold anything.
func (s *Server) logPanic(v any, stack []byte) {
	s.log.Error("panic in a call", "panic", fmt.Sprint(v), "stack", string(stack))
}

func (s *Server) recoverPanic(err *error) {
	if v := recover(); v != nil {
		s.logPanic(v, debug.Stack())
		*err = errs.New(errs.Plugin, codes.Internal, errs.ReasonPanic, "the plugin panicked")
	}
}

func (s *Server) guardUnary(ctx context.Context, req any, _ *grpc.UnaryServerInfo, next grpc.UnaryHandler) (resp any, err error) {
	defer s.recoverPanic(&err)
	resp, err = next(ctx, req)
	if m, ok := resp.(proto.Message); ok && err == nil && proto.Size(m) > MaxMessage {
		return nil, errs.New(errs.Plugin, codes.ResourceExhausted, errs.ReasonTooLarge, "the answer has %d bytes, more than %d", proto.Size(m),
			MaxMessage)
	}
	return resp, err
}

func (s *Server) guardStream(srv any, stream grpc.ServerStream, _ *grpc.StreamServerInfo, next grpc.StreamHandler) (err error) {
	defer s.recoverPanic(&err)
	return next(srv, stream)
}

func incomingValue(ctx context.Context, key string) string {
	if v := metadata.ValueFromIncomingContext(ctx, key); len(v) > 0 {
		return v[0]
	}
	return ""
}
