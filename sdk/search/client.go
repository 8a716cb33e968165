package search

import (
	"context"
	"io"
	"slices"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/peer"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/patchbay-dev/patchbay/sdk/exchange"
	pluginv1 "github.com/patchbay-dev/patchbay/sdk/proto/patchbay/plugin/v1"
	searchv1 "github.com/patchbay-dev/patchbay/sdk/proto/patchbay/search/v1"
	sharedv1 "github.com/patchbay-dev/patchbay/sdk/proto/patchbay/shared/v1"
	"github.com/patchbay-dev/patchbay/sdk/schema"
	"github.com/patchbay-dev/patchbay/sdk/tracing"
)

// Descriptor is what a backend says of itself.
type Descriptor struct {
	Credential   bool
	Operations   []Operation
	Capabilities []string
}

// Has reports whether the backend has a capability.
func (d *Descriptor) Has(capability string) bool { return slices.Contains(d.Capabilities, capability) }

// Operation finds an operation by name.
func (d *Descriptor) Operation(name string) (Operation, bool) {
	i := slices.IndexFunc(d.Operations, func(o Operation) bool { return o.Name == name })
	if i < 0 {
		return Operation{}, false
	}
	return d.Operations[i], true
}

// ParseDescriptor reads a plugin's description of this kind.
func ParseDescriptor(k *pluginv1.Kind) (*Descriptor, error) {
	var p searchv1.Descriptor
	if err := proto.Unmarshal(k.GetDescriptor_(), &p); err != nil {
		return nil, err
	}
	out := &Descriptor{Credential: p.GetCredential() == searchv1.Credential_CREDENTIAL_REQUIRED, Capabilities: k.GetCapabilities()}
	for _, o := range p.GetOperations() {
		out.Operations = append(out.Operations, operationFrom(o))
	}
	return out, nil
}

// Client calls one instance over a connection to its plugin. Errors are those of package errs, as gRPC statuses.
type Client struct {
	rpc      searchv1.SearchClient
	instance string
	pool     *exchange.Pool
}

// NewClient makes a client for an instance. streams bounds the calls that Invoke carries at once over pooled streams; a
// negative number makes Invoke use one unary RPC for each call.
func NewClient(conn grpc.ClientConnInterface, instance string, streams int) *Client {
	c := &Client{rpc: searchv1.NewSearchClient(conn), instance: instance}
	if streams >= 0 {
		c.pool = exchange.NewPool(conn, searchv1.Search_Invoke_FullMethodName, instance, streams)
	}
	return c
}

// Close ends the idle streams.
func (c *Client) Close() error {
	if c.pool != nil {
		c.pool.Close()
	}
	return nil
}

// Reply is a Response whose Body is valid until Release.
type Reply struct {
	Response
	msg *exchange.Message
}

// Release gives the body's memory back; nil is allowed. Calling it is optional.
func (r *Reply) Release() {
	if r != nil && r.msg != nil {
		r.msg.Release()
		r.msg = nil
	}
}

func (c *Client) callContext(ctx context.Context) context.Context {
	return metadata.AppendToOutgoingContext(ctx, exchange.MetaInstance, c.instance)
}

// Invoke performs one operation. req.Body must stay unchanged, for good if Invoke fails.
func (c *Client) Invoke(ctx context.Context, req *Request) (*Reply, error) {
	p := req.toProto()
	if c.pool == nil {
		p.Body = req.Body
		var at peer.Peer
		resp, err := c.rpc.Invoke(c.callContext(ctx), p, grpc.Peer(&at))
		// With an address a connection was chosen, so that the request may have gone out.
		if at.Addr != nil && ctx.Err() == nil {
			err = exchange.InterruptedBy(err)
		}
		if err != nil {
			return nil, err
		}
		return &Reply{Response: Response{Head: headFrom(resp.GetHead()), Body: resp.GetBody()}}, nil
	}
	trace := tracing.ContextOf(ctx)
	p.Traceparent, p.Tracestate = trace.Parent, trace.State
	raw, err := proto.Marshal(p)
	if err != nil {
		return nil, err
	}
	msg, err := c.pool.Call(ctx, req.RequestID, raw, req.Body)
	if err != nil {
		return nil, err
	}
	var head searchv1.Head
	if err := proto.Unmarshal(msg.Head, &head); err != nil {
		msg.Release()
		return nil, status.Error(codes.Internal, "malformed head of an answer")
	}
	return &Reply{Response: Response{Head: headFrom(&head), Body: msg.Body}, msg: msg}, nil
}

// Stream is an answer of server-sent events.
type Stream struct {
	// Head came before the first chunk.
	Head Head
	// Tail is known after Next has returned io.EOF; its Usage replaces that of Head if it is not nil.
	Tail *Head

	recv   grpc.ServerStreamingClient[searchv1.StreamResponse]
	ctx    context.Context // of the call
	cancel context.CancelFunc
}

// Stream performs one operation whose answer is streamed. The caller closes the result.
func (c *Client) Stream(ctx context.Context, req *Request) (*Stream, error) {
	ctx, cancel := context.WithCancel(c.callContext(ctx))
	p := req.toProto()
	p.Body = req.Body
	recv, err := c.rpc.Stream(ctx, p)
	if err != nil {
		cancel()
		return nil, err
	}
	first, err := recv.Recv()
	if err == io.EOF || err == nil && first.GetHead() == nil {
		err = status.Error(codes.Internal, "the stream did not begin with a head")
	}
	if err != nil {
		if ctx.Err() == nil {
			err = exchange.InterruptedBy(err)
		}
		cancel()
		return nil, err
	}
	return &Stream{Head: headFrom(first.GetHead()), recv: recv, ctx: ctx, cancel: cancel}, nil
}

// Next returns the next chunk, or io.EOF after the last one.
func (s *Stream) Next() ([]byte, error) {
	for {
		m, err := s.recv.Recv()
		if err != nil {
			if s.ctx.Err() == nil {
				err = exchange.InterruptedBy(err)
			}
			return nil, err
		}
		if t := m.GetTail(); t != nil {
			tail := headFrom(t)
			s.Tail = &tail
			continue
		}
		if len(m.GetChunk()) > 0 {
			return m.GetChunk(), nil
		}
	}
}

// Close ends the call if it is still under way.
func (s *Stream) Close() { s.cancel() }

// KeyStatus asks the upstream about a credential.
func (c *Client) KeyStatus(ctx context.Context, credential schema.Secret) (*KeyStatus, error) {
	resp, err := c.rpc.KeyStatus(c.callContext(ctx),
		&searchv1.KeyStatusRequest{Credential: &sharedv1.Secret{Value: []byte(credential.Reveal())}})
	if err != nil {
		return nil, err
	}
	return statusFrom(resp), nil
}
