package search

import (
	"context"
	"errors"
	"io"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"

	"github.com/patchbay-dev/patchbay/sdk/errs"
	"github.com/patchbay-dev/patchbay/sdk/exchange"
	"github.com/patchbay-dev/patchbay/sdk/framework"
	pluginv1 "github.com/patchbay-dev/patchbay/sdk/proto/patchbay/plugin/v1"
	searchv1 "github.com/patchbay-dev/patchbay/sdk/proto/patchbay/search/v1"
	"github.com/patchbay-dev/patchbay/sdk/schema"
	"github.com/patchbay-dev/patchbay/sdk/tracing"
)

// New makes the kind for a plugin's declaration.
func New[C any](d Definition[C]) framework.Kind {
	return kind[C]{Built: framework.Built[C, Backend, Open]{Build: d.Build}, def: d}
}

type kind[C any] struct {
	framework.Built[C, Backend, Open]
	def Definition[C]
}

func (k kind[C]) Describe() (*pluginv1.Kind, error) {
	out, err := k.DescribeAs(Kind, Service)
	if err != nil {
		return nil, err
	}
	if len(k.def.Operations) == 0 {
		return nil, errors.New("a search plugin needs at least one operation")
	}
	desc := &searchv1.Descriptor{Credential: searchv1.Credential_CREDENTIAL_NONE}
	if k.def.Credential {
		desc.Credential = searchv1.Credential_CREDENTIAL_REQUIRED
	}
	for _, o := range k.def.Operations {
		desc.Operations = append(desc.Operations, o.toProto())
	}
	out.Capabilities = k.listCapabilities()
	out.Descriptor_, err = proto.Marshal(desc)
	return out, err
}

func (k kind[C]) listCapabilities() []string {
	return framework.Capabilities(
		framework.Capability{On: true, Name: CapExchange},
		framework.Capability{On: k.def.Stream, Name: CapStream},
		framework.Capability{On: k.def.KeyStatus, Name: CapKeyStatus},
		framework.Capability{On: k.def.Index, Name: CapIndex},
		framework.Capability{On: k.def.DataDir, Name: CapDataDir},
		framework.Capability{On: k.def.Exclusive, Name: CapExclusive},
	)
}

func (k kind[C]) Register(s grpc.ServiceRegistrar, r framework.Router) {
	searchv1.RegisterSearchServer(s, &server{router: r})
}

func (k kind[C]) Exchanges() map[string]framework.Exchange {
	return map[string]framework.Exchange{searchv1.Search_Invoke_FullMethodName: exchangeInvoke}
}

func exchangeInvoke(ctx context.Context, value any, msg *exchange.Message) (head, body []byte, err error) {
	var p searchv1.InvokeRequest
	if err := proto.Unmarshal(msg.Head, &p); err != nil {
		return nil, nil, errs.New(errs.Host, codes.InvalidArgument, "MALFORMED", "malformed request head")
	}
	ctx, span := tracing.StartAttached(ctx, tracing.Context{Parent: p.GetTraceparent(), State: p.GetTracestate()})
	defer func() { span.EndWith(err) }()
	resp, err := invokeInstance(ctx, value, requestFrom(&p, msg.Body))
	if err != nil {
		return nil, nil, err
	}
	head, err = proto.Marshal(resp.Head.toProto())
	return head, resp.Body, err
}

func invokeInstance(ctx context.Context, value any, req *Request) (*Response, error) {
	b, ok := value.(Backend)
	if !ok {
		return nil, errs.New(errs.Plugin, codes.Internal, errs.ReasonUnsupported, "the instance is not a search backend")
	}
	resp, err := b.Invoke(ctx, req)
	if err != nil {
		return nil, withSource(ctx, err)
	}
	if resp == nil || resp.Status < 100 || resp.Status > 599 {
		return nil, errs.New(errs.Plugin, codes.Internal, "BAD_ANSWER", "the backend returned no HTTP status")
	}
	if len(resp.Body) > MaxBody {
		return nil, errs.Unavailable(errs.ReasonTooLarge, "the answer has %d bytes, more than %d", len(resp.Body), MaxBody)
	}
	return resp, nil
}

// withSource makes sure that an error crosses the wire with a source.
func withSource(ctx context.Context, err error) error {
	var e *errs.Error
	switch {
	case errors.As(err, &e):
		return e
	case ctx.Err() != nil && errors.Is(err, ctx.Err()):
		return errs.New(errs.Upstream, contextCode(ctx), errs.ReasonTimeout, "the call ended before the answer came")
	}
	return errs.New(errs.Plugin, codes.Internal, "INTERNAL", "%v", err)
}

func contextCode(ctx context.Context) codes.Code {
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return codes.DeadlineExceeded
	}
	return codes.Canceled
}

type server struct {
	searchv1.UnimplementedSearchServer
	router framework.Router
}

func (s *server) Invoke(ctx context.Context, p *searchv1.InvokeRequest) (*searchv1.InvokeResponse, error) {
	value, release, err := s.router.Instance(ctx, Kind)
	if err != nil {
		return nil, err
	}
	defer release()
	resp, err := invokeInstance(ctx, value, requestFrom(p, p.GetBody()))
	if err != nil {
		return nil, err
	}
	return &searchv1.InvokeResponse{Head: resp.Head.toProto(), Body: resp.Body}, nil
}

func (s *server) Stream(p *searchv1.InvokeRequest, out grpc.ServerStreamingServer[searchv1.StreamResponse]) error {
	value, release, err := s.router.Instance(out.Context(), Kind)
	if err != nil {
		return err
	}
	defer release()
	b, ok := value.(Streamer)
	if !ok {
		return errs.New(errs.Host, codes.Unimplemented, errs.ReasonUnsupported, "the instance does not stream")
	}
	started := time.Now()
	usage, err := b.Stream(out.Context(), requestFrom(p, p.GetBody()), streamWriter{out})
	if err != nil {
		return withSource(out.Context(), err)
	}
	tail := &Head{Usage: usage, Upstream: time.Since(started)}
	return out.Send(&searchv1.StreamResponse{Message: &searchv1.StreamResponse_Tail{Tail: tail.toProto()}})
}

func (s *server) KeyStatus(ctx context.Context, p *searchv1.KeyStatusRequest) (*searchv1.KeyStatusResponse, error) {
	value, release, err := s.router.Instance(ctx, Kind)
	if err != nil {
		return nil, err
	}
	defer release()
	b, ok := value.(KeyChecker)
	if !ok {
		return nil, errs.New(errs.Host, codes.Unimplemented, errs.ReasonUnsupported, "the instance does not report on keys")
	}
	st, err := b.KeyStatus(ctx, schema.Secret(p.GetCredential().GetValue()))
	if err != nil {
		return nil, withSource(ctx, err)
	}
	return st.toProto(), nil
}

type streamWriter struct {
	out grpc.ServerStreamingServer[searchv1.StreamResponse]
}

func (w streamWriter) Start(h *Head) error {
	return w.out.Send(&searchv1.StreamResponse{Message: &searchv1.StreamResponse_Head{Head: h.toProto()}})
}

func (w streamWriter) Write(p []byte) (int, error) {
	chunk := &searchv1.StreamResponse{Message: &searchv1.StreamResponse_Chunk{Chunk: p}}
	if err := w.out.Send(chunk); err != nil {
		return 0, err
	}
	return len(p), nil
}

var _ io.Writer = streamWriter{}
