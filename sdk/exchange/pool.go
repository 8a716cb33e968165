package exchange

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	spb "google.golang.org/genproto/googleapis/rpc/status"
)

// DefaultStreams is how many calls a pool carries at once unless it is told otherwise.
const DefaultStreams = 128

// ErrClosed is returned by a pool that was closed.
var ErrClosed = fmt.Errorf("exchange: pool is closed: %w", ErrUnsent)

// ErrUnsent is in the chain of an error of Call that says for certain that nothing of the request reached the plugin.
var ErrUnsent = errors.New("the request was not sent")

// Pool keeps the streams of one instance and method. It is safe for concurrent use.
type Pool struct {
	conn  grpc.ClientConnInterface
	md    metadata.MD
	slots chan struct{}

	mu     sync.Mutex
	idle   []*stream
	closed bool
}

type stream struct {
	grpc.ClientStream
	cancel context.CancelFunc
}

// NewPool makes a pool for method (a full gRPC method name) of instance, with at most streams calls at once; 0 means
// DefaultStreams. It opens nothing yet.
func NewPool(conn grpc.ClientConnInterface, method, instance string, streams int) *Pool {
	if streams <= 0 {
		streams = DefaultStreams
	}
	return &Pool{
		conn:  conn,
		md:    metadata.Pairs(MetaMethod, method, MetaInstance, instance),
		slots: make(chan struct{}, streams),
	}
}

// Call sends one request and waits for its answer. head is a serialised protobuf message, body follows it unchanged and
// must not be modified before Call returns, and never if Call fails. The deadline of ctx goes to the plugin. An error
// of the plugin is a gRPC status error. A call whose ctx ends drops its stream.
func (p *Pool) Call(ctx context.Context, requestID string, head, body []byte) (*Message, error) {
	if len(head)+len(body) > MaxMessage-fixedLen {
		return nil, status.Error(codes.ResourceExhausted, ErrTooLarge.Error())
	}
	select {
	case p.slots <- struct{}{}:
	case <-ctx.Done():
		return nil, markUnsent(status.FromContextError(ctx.Err()).Err())
	}
	defer func() { <-p.slots }()
	s, reused, err := p.takeStream(ctx)
	if err != nil {
		return nil, markUnsent(err)
	}
	msg, err := s.exchangeMessages(ctx, p, requestID, head, body)
	if err != nil && reused && errors.Is(err, errStale) {
		if s, err = p.openStream(ctx); err != nil {
			return nil, markUnsent(err)
		}
		msg, err = s.exchangeMessages(ctx, p, requestID, head, body)
	}
	return msg, err
}

// markUnsent puts ErrUnsent into the chain of an error; its gRPC status stays what it is.
func markUnsent(err error) error { return fmt.Errorf("%w (%w)", err, ErrUnsent) }

// errStale marks a stream that had ended before the request went out: nothing reached the plugin.
var errStale = fmt.Errorf("stream ended before the call: %w", ErrUnsent)

func (s *stream) exchangeMessages(ctx context.Context, p *Pool, requestID string, head, body []byte) (*Message, error) {
	var timeout time.Duration
	if deadline, ok := ctx.Deadline(); ok {
		if timeout = time.Until(deadline); timeout <= 0 {
			p.returnStream(s)
			return nil, markUnsent(status.FromContextError(context.DeadlineExceeded).Err())
		}
	}
	stop := context.AfterFunc(ctx, s.cancel)
	msg, err := s.roundTrip(frame{timeout: timeout, requestID: requestID, head: head, body: body})
	whole := stop()
	switch {
	case err == nil && whole:
		p.returnStream(s)
	default:
		s.cancel()
	}
	if err != nil {
		if ctx.Err() != nil {
			return nil, status.FromContextError(ctx.Err()).Err()
		}
		return nil, err
	}
	if msg.fail {
		return nil, failureFromMessage(msg)
	}
	return msg, nil
}

func (s *stream) roundTrip(f frame) (*Message, error) {
	if err := sendMessage(s, f); err != nil {
		if err != io.EOF {
			return nil, err
		}
		// The stream has ended; receiving tells why.
		if _, err = receiveMessage(s); err == nil || err == io.EOF {
			err = errStale
		}
		if c := status.Code(err); c == codes.Unavailable || c == codes.Canceled {
			err = errors.Join(errStale, err)
		}
		return nil, err
	}
	msg, err := receiveMessage(s)
	if err == io.EOF {
		err = status.Error(codes.Unavailable, "the plugin ended the stream")
	}
	return msg, InterruptedBy(err)
}

// InterruptedBy returns the error of a call whose request went out. A connection that this side closes meanwhile ends
// the call with the error that gRPC also gives to calls which it never began; it becomes Unavailable, which leaves open
// what the plugin did.
func InterruptedBy(err error) error {
	if status.Code(err) == codes.Canceled {
		return status.Error(codes.Unavailable, "the connection to the plugin was closed during the call")
	}
	return err
}

func failureFromMessage(msg *Message) error {
	defer msg.Release()
	var st spb.Status
	if err := proto.Unmarshal(msg.Head, &st); err != nil {
		return status.Error(codes.Internal, "malformed error of the plugin")
	}
	return status.ErrorProto(&st)
}

func (p *Pool) takeStream(ctx context.Context) (s *stream, reused bool, err error) {
	p.mu.Lock()
	if p.closed {
		p.mu.Unlock()
		return nil, false, ErrClosed
	}
	if n := len(p.idle); n > 0 {
		s = p.idle[n-1]
		p.idle = p.idle[:n-1]
		p.mu.Unlock()
		return s, true, nil
	}
	p.mu.Unlock()
	s, err = p.openStream(ctx)
	return s, false, err
}

// openStream makes a stream that outlives the call for which it is opened; only the wait for it ends with callCtx.
func (p *Pool) openStream(callCtx context.Context) (*stream, error) {
	ctx, cancel := context.WithCancel(metadata.NewOutgoingContext(context.Background(), p.md))
	stop := context.AfterFunc(callCtx, cancel)
	cs, err := p.conn.NewStream(ctx, &openDesc, OpenMethod, grpc.CallContentSubtype(Subtype))
	if !stop() {
		cancel()
		return nil, status.FromContextError(callCtx.Err()).Err()
	}
	if err != nil {
		cancel()
		return nil, err
	}
	return &stream{ClientStream: cs, cancel: cancel}, nil
}

func (p *Pool) returnStream(s *stream) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		s.cancel()
		return
	}
	p.idle = append(p.idle, s)
}

// Idle is the number of open streams that carry no call.
func (p *Pool) Idle() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.idle)
}

// Close ends the idle streams; calls that are under way finish, later ones fail with ErrClosed.
func (p *Pool) Close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	for _, s := range p.idle {
		s.cancel()
	}
	p.idle = nil
}
