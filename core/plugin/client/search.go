// Package client has, for each kind, the Go interface by which services call providers, and its facade.
//
// A facade adds to the kind's client what every call needs: the present instance, which a reload may have replaced, a
// deadline, errors of package fault, and metrics.
package client

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
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
	"github.com/patchbay-dev/patchbay/sdk/tracing"
)

// DefaultTimeout bounds a call where neither the instance nor the operation has a timeout.
const DefaultTimeout = 60 * time.Second

// Search is a search backend as services see it. Errors are faults: UpstreamUnavailable, PluginUnavailable,
// InvalidRequest, NotFound; catalog.ErrRetired if a reload took the instance away.
type Search interface {
	// Describe returns what the backend can do.
	Describe() (*search.Descriptor, error)
	// Invoke performs one operation. The caller releases the reply. req.Body must not be changed before Invoke returns,
	// and never after an error.
	Invoke(ctx context.Context, req *search.Request) (*search.Reply, error)
	// Stream performs one operation whose answer is streamed. Only ctx bounds it: an upstream may think for minutes. The
	// caller closes the stream.
	Stream(ctx context.Context, req *search.Request) (SearchStream, error)
	// KeyStatus asks the upstream about a credential.
	KeyStatus(ctx context.Context, credential schema.Secret) (*search.KeyStatus, error)
	// IndexStatus reports on the index of a backend with the capability INDEX.
	IndexStatus(ctx context.Context) (*search.IndexStatus, error)
	// Reindex starts to index everything again at such a backend, and does not wait for the end.
	Reindex(ctx context.Context) error
}

// SearchStream is an answer of server-sent events.
type SearchStream interface {
	Head() search.Head
	// Next returns the next chunk, or io.EOF after the last one.
	Next() ([]byte, error)
	// Usage returns what the upstream charged. It is known after io.EOF, and nil if the upstream did not report it.
	Usage() *search.Usage
	Close()
}

// Observer is called after each call with its duration and that of the upstream's part. err is nil for an answer of any
// status.
type Observer func(ref, operation string, took, upstream time.Duration, err error)

type searchFacade struct {
	handle  *catalog.Handle
	observe Observer
	// about describes the backend if it is not yet the handle's instance.
	about *pluginv1.Kind
}

// NewSearch makes the facade for a handle. observe may be nil.
func NewSearch(h *catalog.Handle, observe Observer) Search { return NewSearchOf(h, nil, observe) }

// NewSearchOf makes the facade for a handle whose next instance is in. It describes in from the beginning.
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

// acquireClient returns the instance and its client for one call, and the function that ends the call.
func (s *searchFacade) acquireClient(ctx context.Context) (*catalog.Instance, *search.Client, func(), error) {
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

// withCallTimeout returns a context for one call. It ends after the shorter of the timeouts of the instance and the caller,
// or after DefaultTimeout if there is none.
func withCallTimeout(ctx context.Context, in *catalog.Instance, asked time.Duration) (context.Context, context.CancelFunc) {
	limit := in.Timeout
	if limit <= 0 || asked > 0 && asked < limit {
		limit = asked
	}
	if limit <= 0 {
		limit = DefaultTimeout
	}
	return context.WithTimeout(ctx, limit)
}

// hasExchange reports whether calls go over pooled streams, which bound the number of calls at once.
func hasExchange(in *catalog.Instance) bool {
	return slices.Contains(in.About.GetCapabilities(), search.CapExchange)
}

func (s *searchFacade) Invoke(ctx context.Context, req *search.Request) (reply *search.Reply, err error) {
	ctx, span := startSpan(ctx, s.handle.Ref(), req.Operation)
	defer func() {
		if reply != nil {
			setAnswer(span, reply.Status)
		}
		endSpan(span, err)
	}()
	in, c, release, err := s.acquireClient(ctx)
	if err != nil {
		return nil, callFault(ctx, s.handle.Ref(), err)
	}
	defer release()
	callCtx, cancel := withCallTimeout(ctx, in, req.Timeout)
	defer cancel()
	if !hasExchange(in) {
		leave, err := in.Slot(callCtx)
		if err != nil {
			return nil, callFault(ctx, s.handle.Ref(), err)
		}
		defer leave()
	}
	began := time.Now()
	reply, err = c.Invoke(callCtx, req)
	if err != nil {
		err = callFault(ctx, s.handle.Ref(), err)
		s.observe(s.handle.Ref(), req.Operation, time.Since(began), 0, err)
		return nil, err
	}
	s.observe(s.handle.Ref(), req.Operation, time.Since(began), reply.Upstream, nil)
	return reply, nil
}

// connectionClosing is the message of gRPC's error for a call on a connection that was closed before.
const connectionClosing = "grpc: the client connection is closing"

// callFault returns the error of a call to the instance ref as a fault. It is fault.ClientClosedRequest only if the caller cancelled ctx.
func callFault(ctx context.Context, ref string, err error) error {
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
	// Nothing was sent over a connection that was closing, such as that of a plugin that is being replaced.
	if st := status.Convert(err); st.Code() == codes.Canceled && st.Message() == connectionClosing {
		err = fmt.Errorf("%w (%w)", err, exchange.ErrUnsent)
	}
	// ctx was not cancelled, so the connection was closed during the call; or the restarted process lacks the instance.
	if errors.Is(err, exchange.ErrClosed) || status.Code(err) == codes.Canceled || errs.From(err).Reason == errs.ReasonUnknownInstance {
		return fault.NotRunning(ref, err)
	}
	return fault.FromPlugin(ref, err)
}

// setAnswer notes the HTTP status of an answer, which is an error of the upstream's from 500 on.
func setAnswer(span tracing.Span, status int) {
	span.SetInt("http.response.status_code", status)
	if status >= http.StatusInternalServerError {
		span.Fail(strconv.Itoa(status))
	}
}

// Stream ends the span of the call with the stream.
func (s *searchFacade) Stream(ctx context.Context, req *search.Request) (_ SearchStream, err error) {
	ctx, span := startSpan(ctx, s.handle.Ref(), req.Operation)
	defer func() {
		if err != nil {
			endSpan(span, err)
		}
	}()
	in, c, release, err := s.acquireClient(ctx)
	if err != nil {
		return nil, callFault(ctx, s.handle.Ref(), err)
	}
	leave, err := in.Slot(ctx)
	if err != nil {
		release()
		return nil, callFault(ctx, s.handle.Ref(), err)
	}
	done := func() { leave(); release() }
	began := time.Now()
	st, err := c.Stream(ctx, req)
	if err != nil {
		done()
		err = callFault(ctx, s.handle.Ref(), err)
		s.observe(s.handle.Ref(), req.Operation, time.Since(began), 0, err)
		return nil, err
	}
	s.observe(s.handle.Ref(), req.Operation, time.Since(began), st.Head.Upstream, nil)
	setAnswer(span, st.Head.Status)
	return &searchStream{ctx: ctx, ref: s.handle.Ref(), st: st, done: func() { done(); span.End() }}, nil
}

type searchStream struct {
	ctx  context.Context
	ref  string
	st   *search.Stream
	done func()
	once sync.Once
}

func (s *searchStream) Head() search.Head { return s.st.Head }

func (s *searchStream) Next() ([]byte, error) {
	p, err := s.st.Next()
	if err != nil && err != io.EOF {
		err = callFault(s.ctx, s.ref, err)
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

// callBackend makes one call that answers no request: no metric counts it.
func (s *searchFacade) callBackend(ctx context.Context, operation string, do func(context.Context, *search.Client) error) (err error) {
	ctx, span := startSpan(ctx, s.handle.Ref(), operation)
	defer func() { endSpan(span, err) }()
	in, c, release, err := s.acquireClient(ctx)
	if err != nil {
		return callFault(ctx, s.handle.Ref(), err)
	}
	defer release()
	callCtx, cancel := withCallTimeout(ctx, in, 0)
	defer cancel()
	if err := do(callCtx, c); err != nil {
		return callFault(ctx, s.handle.Ref(), err)
	}
	return nil
}

func (s *searchFacade) KeyStatus(ctx context.Context, credential schema.Secret) (st *search.KeyStatus, err error) {
	err = s.callBackend(ctx, "keystatus", func(ctx context.Context, c *search.Client) error {
		st, err = c.KeyStatus(ctx, credential)
		return err
	})
	return st, err
}

func (s *searchFacade) IndexStatus(ctx context.Context) (st *search.IndexStatus, err error) {
	err = s.callBackend(ctx, "indexstatus", func(ctx context.Context, c *search.Client) error {
		st, err = c.IndexStatus(ctx)
		return err
	})
	return st, err
}

func (s *searchFacade) Reindex(ctx context.Context) error {
	return s.callBackend(ctx, "reindex", func(ctx context.Context, c *search.Client) error { return c.Reindex(ctx) })
}
