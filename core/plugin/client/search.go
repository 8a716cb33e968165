// Package client is how services call providers: one Go interface and facade for each kind.
//
// A facade adds to the kind's client what the host owes every call: the instance that a reload may have replaced, a
// deadline, errors in the words of package fault, and metrics.
package client

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/plugin/catalog"
	"github.com/patchbay-dev/patchbay/sdk/errs"
	"github.com/patchbay-dev/patchbay/sdk/exchange"
	pluginv1 "github.com/patchbay-dev/patchbay/sdk/proto/patchbay/plugin/v1"
	"github.com/patchbay-dev/patchbay/sdk/schema"
	"github.com/patchbay-dev/patchbay/sdk/search"
)

// DefaultTimeout bounds a call where neither the instance nor the operation says otherwise.
const DefaultTimeout = 60 * time.Second

// Search is a search backend as services see it. Errors are faults: UpstreamUnavailable, PluginUnavailable,
// InvalidRequest, NotFound; catalog.ErrRetired if a reload took the instance away.
type Search interface {
	// Describe tells what the backend can do.
	Describe() (*search.Descriptor, error)
	// Invoke performs one operation. The caller releases the reply. req.Body must stay unchanged, for good after an
	// error.
	Invoke(ctx context.Context, req *search.Request) (*search.Reply, error)
	// Stream performs one operation whose answer is streamed. Only ctx bounds it: an upstream may think for minutes. The
	// caller closes the stream.
	Stream(ctx context.Context, req *search.Request) (SearchStream, error)
	// KeyStatus asks the upstream about a credential.
	KeyStatus(ctx context.Context, credential schema.Secret) (*search.KeyStatus, error)
}

// SearchStream is an answer of server-sent events.
type SearchStream interface {
	Head() search.Head
	// Next returns the next chunk, or io.EOF after the last one.
	Next() ([]byte, error)
	// Usage is what the upstream charged, known after io.EOF; nil where it did not say.
	Usage() *search.Usage
	Close()
}

// Observer hears how long a call took, the plugin's own time without the upstream's included. err is nil for an
// answer of any status.
type Observer func(ref, operation string, took, upstream time.Duration, err error)

type searchFacade struct {
	handle  *catalog.Handle
	observe Observer
	// about describes the backend where it is not what the handle leads to at present.
	about *pluginv1.Kind
}

// NewSearch makes the facade for a handle. observe may be nil.
func NewSearch(h *catalog.Handle, observe Observer) Search { return NewSearchOf(h, nil, observe) }

// NewSearchOf makes the facade for a handle that is about to lead to in. It describes in from the beginning.
func NewSearchOf(h *catalog.Handle, in *catalog.Instance, observe Observer) Search {
	if observe == nil {
		observe = ignoreObservation
	}
	s := &searchFacade{handle: h, observe: observe}
	if in != nil {
		s.about = in.About
	}
	return s
}

func (s *searchFacade) Describe() (*search.Descriptor, error) {
	if s.about != nil {
		return search.ParseDescriptor(s.about)
	}
	in := s.handle.Current()
	if in == nil {
		return nil, catalog.ErrRetired
	}
	return search.ParseDescriptor(in.About)
}

// use finds the instance and its client for one call.
func (s *searchFacade) use(ctx context.Context) (*catalog.Instance, *search.Client, func(), error) {
	in, release, err := s.handle.Acquire(ctx)
	if err != nil {
		return nil, nil, nil, err
	}
	c, err := in.Client(func(conn grpc.ClientConnInterface, id string) io.Closer {
		streams := in.Concurrency
		if !hasExchange(in) {
			streams = -1
		}
		return search.NewClient(conn, id, streams)
	})
	if err != nil {
		release()
		return nil, nil, nil, err
	}
	return in, c.(*search.Client), release, nil
}

// bound gives a call the shortest of what the instance and the caller allow, else DefaultTimeout.
func bound(ctx context.Context, in *catalog.Instance, asked time.Duration) (context.Context, context.CancelFunc) {
	limit := in.Timeout
	if limit <= 0 || asked > 0 && asked < limit {
		limit = asked
	}
	if limit <= 0 {
		limit = DefaultTimeout
	}
	return context.WithTimeout(ctx, limit)
}

// hasExchange reports whether calls go over pooled streams, which bound how many there are at once by themselves.
func hasExchange(in *catalog.Instance) bool {
	return slices.Contains(in.About.GetCapabilities(), search.CapExchange)
}

func (s *searchFacade) Invoke(ctx context.Context, req *search.Request) (*search.Reply, error) {
	in, c, release, err := s.use(ctx)
	if err != nil {
		return nil, s.fault(ctx, err)
	}
	defer release()
	callCtx, cancel := bound(ctx, in, req.Timeout)
	defer cancel()
	if !hasExchange(in) {
		leave, err := in.Slot(callCtx)
		if err != nil {
			return nil, s.fault(ctx, err)
		}
		defer leave()
	}
	began := time.Now()
	reply, err := c.Invoke(callCtx, req)
	if err != nil {
		err = s.fault(ctx, err)
		s.observe(s.handle.Ref(), req.Operation, time.Since(began), 0, err)
		return nil, err
	}
	s.observe(s.handle.Ref(), req.Operation, time.Since(began), reply.Upstream, nil)
	return reply, nil
}

func (s *searchFacade) fault(ctx context.Context, err error) error { return callFault(ctx, err) }

// connectionClosing is gRPC's error of a call on a connection that was closed before the call began.
const connectionClosing = "grpc: the client connection is closing"

// callFault puts an error into the words of package fault. A caller that went away is told apart from a plugin that did.
func callFault(ctx context.Context, err error) error {
	if errors.Is(err, catalog.ErrRetired) {
		return err
	}
	if ctx.Err() != nil && errors.Is(ctx.Err(), context.Canceled) {
		return fault.Wrap(ctx.Err(), fault.ClientClosedRequest, "The client closed the connection.")
	}
	var own *fault.Error
	if errors.As(err, &own) {
		return err
	}
	// A connection that is closing, with a plugin that is being replaced, takes no call: nothing was sent.
	if st := status.Convert(err); st.Code() == codes.Canceled && st.Message() == connectionClosing {
		err = fmt.Errorf("%w (%w)", err, exchange.ErrUnsent)
	}
	// Nobody cancelled the call, so the connection was closed under it; or the process came back without the instance.
	if errors.Is(err, exchange.ErrClosed) || status.Code(err) == codes.Canceled || errs.From(err).Reason == errs.ReasonUnknownInstance {
		return fault.Wrap(err, fault.PluginUnavailable, "The provider that answers this is not available.")
	}
	return fault.FromPlugin(err)
}

func (s *searchFacade) Stream(ctx context.Context, req *search.Request) (SearchStream, error) {
	in, c, release, err := s.use(ctx)
	if err != nil {
		return nil, s.fault(ctx, err)
	}
	leave, err := in.Slot(ctx)
	if err != nil {
		release()
		return nil, s.fault(ctx, err)
	}
	done := func() { leave(); release() }
	began := time.Now()
	st, err := c.Stream(ctx, req)
	if err != nil {
		done()
		err = s.fault(ctx, err)
		s.observe(s.handle.Ref(), req.Operation, time.Since(began), 0, err)
		return nil, err
	}
	s.observe(s.handle.Ref(), req.Operation, time.Since(began), st.Head.Upstream, nil)
	return &searchStream{facade: s, ctx: ctx, st: st, done: done}, nil
}

type searchStream struct {
	facade *searchFacade
	ctx    context.Context
	st     *search.Stream
	done   func()
	once   sync.Once
}

func (s *searchStream) Head() search.Head { return s.st.Head }

func (s *searchStream) Next() ([]byte, error) {
	p, err := s.st.Next()
	if err != nil && err != io.EOF {
		err = s.facade.fault(s.ctx, err)
	}
	return p, err
}

func (s *searchStream) Usage() *search.Usage {
	if s.st.Tail != nil && s.st.Tail.Usage != nil {
		return s.st.Tail.Usage
	}
	return s.st.Head.Usage
}

// Close may be called more than once.
func (s *searchStream) Close() {
	s.once.Do(func() {
		s.st.Close()
		s.done()
	})
}

func (s *searchFacade) KeyStatus(ctx context.Context, credential schema.Secret) (*search.KeyStatus, error) {
	in, c, release, err := s.use(ctx)
	if err != nil {
		return nil, s.fault(ctx, err)
	}
	defer release()
	callCtx, cancel := bound(ctx, in, 0)
	defer cancel()
	st, err := c.KeyStatus(callCtx, credential)
	if err != nil {
		return nil, s.fault(ctx, err)
	}
	return st, nil
}
