package exchange

import (
	"context"
	"io"
	"runtime/debug"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/patchbay-dev/patchbay/sdk/errs"
)

const (
	// Service and Open name the gRPC service and its one method.
	Service = "patchbay.plugin.v1.Exchange"
	// OpenMethod is the full method name.
	OpenMethod = "/" + Service + "/Open"
	// MetaMethod and MetaInstance are the metadata keys that bind a stream.
	MetaMethod = "patchbay-method"
	// MetaInstance names the instance, for unary calls as well.
	MetaInstance = "patchbay-instance"
)

// Handler answers one call. It may keep the bytes of req, and answer with them; what it returns is sent as it is and must
// not be changed afterwards. An error goes to the host with its details.
type Handler func(ctx context.Context, req *Message) (head, body []byte, err error)

// Lookup finds the handler of a full gRPC method name for an instance.
type Lookup func(ctx context.Context, method, instance string) (Handler, error)

var openDesc = grpc.StreamDesc{StreamName: "Open", ServerStreams: true, ClientStreams: true}

// Register adds the Exchange service to a server. onPanic hears of a handler that panicked.
func Register(s grpc.ServiceRegistrar, lookup Lookup, onPanic func(v any, stack []byte)) {
	desc := openDesc
	desc.Handler = func(_ any, stream grpc.ServerStream) error {
		return serveStream(stream, lookup, onPanic)
	}
	s.RegisterService(&grpc.ServiceDesc{
		ServiceName: Service,
		HandlerType: (*any)(nil),
		Streams:     []grpc.StreamDesc{desc},
		Metadata:    "patchbay/plugin/v1/exchange",
	}, struct{}{})
}

func serveStream(stream grpc.ServerStream, lookup Lookup, onPanic func(any, []byte)) error {
	md, _ := metadata.FromIncomingContext(stream.Context())
	handler, err := lookup(stream.Context(), firstValue(md, MetaMethod), firstValue(md, MetaInstance))
	if err != nil {
		return err
	}
	for {
		req, err := receiveMessage(stream)
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		if err := answerRequest(stream, req, handler, onPanic); err != nil {
			return err
		}
	}
}

func firstValue(md metadata.MD, key string) string {
	if v := md.Get(key); len(v) > 0 {
		return v[0]
	}
	return ""
}

func answerRequest(stream grpc.ServerStream, req *Message, handler Handler, onPanic func(any, []byte)) error {
	ctx := stream.Context()
	if req.Timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, req.Timeout)
		defer cancel()
	}
	req.copyToOwnMemory()
	head, body, err := callHandler(ctx, req, handler, onPanic)
	if err == nil && len(head)+len(body) > MaxMessage-fixedLen {
		err = errs.New(errs.Plugin, codes.ResourceExhausted, errs.ReasonTooLarge, "answer of %d bytes: %v", len(body), ErrTooLarge)
	}
	if err != nil {
		raw, merr := proto.Marshal(status.Convert(err).Proto())
		if merr != nil {
			return merr
		}
		return sendMessage(stream, frame{flags: flagFail, head: raw})
	}
	return sendMessage(stream, frame{head: head, body: body})
}

func callHandler(ctx context.Context, req *Message, handler Handler, onPanic func(any, []byte)) (head, body []byte, err error) {
	defer func() {
		if v := recover(); v != nil {
			onPanic(v, debug.Stack())
			err = errs.New(errs.Plugin, codes.Internal, errs.ReasonPanic, "the plugin panicked")
		}
	}()
	return handler(ctx, req)
}
