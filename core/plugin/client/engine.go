package client

import (
	"context"
	"io"
	"time"

	"google.golang.org/grpc"

	"github.com/patchbay-dev/patchbay/core/plugin/catalog"
	"github.com/patchbay-dev/patchbay/sdk/engine"
)

// Engine is a container engine as services see it. Errors are faults, save those that the caller's own function, reader or
// writer returned, which come back unchanged; catalog.ErrRetired is in the chain if a reload took the instance away.
//
// Info, Containers, Inspect, Images, Stats and Tag are bounded by the instance's timeout and count towards its
// concurrency. Pull, Compose, Run, Archive, Restore, Events and Logs last until their context ends and do not count. What they have
// started ends with the context.
type Engine interface {
	engine.Reader
	engine.Runner
	engine.Archiver
	engine.LogReader
	engine.CommandRunner
}

type engineFacade struct {
	handle  *catalog.Handle
	observe Observer
}

// NewEngine makes the facade for a handle. observe may be nil. It is called for all methods but Events and a Logs that follows, with the
// name of the method in lower case.
func NewEngine(h *catalog.Handle, observe Observer) Engine {
	if observe == nil {
		observe = ignoreObservation
	}
	return &engineFacade{handle: h, observe: observe}
}

// withClient runs call with the present instance and its client.
func (e *engineFacade) withClient(ctx context.Context, call func(*catalog.Instance, *engine.Client) error) error {
	in, release, err := e.handle.Acquire(ctx)
	if err != nil {
		return callFault(ctx, e.handle.Ref(), err)
	}
	defer release()
	c, err := in.Client(func(conn grpc.ClientConnInterface, id string) io.Closer { return engine.NewClient(conn, id) })
	if err != nil {
		return callFault(ctx, e.handle.Ref(), err)
	}
	return call(in, c.(*engine.Client))
}

// callBounded makes a call that needs a slot and is bounded by the instance's timeout.
func (e *engineFacade) callBounded(ctx context.Context, operation string, call func(context.Context, *engine.Client) error) error {
	ctx, span := startSpan(ctx, e.handle.Ref(), operation)
	began := time.Now()
	err := e.withClient(ctx, func(in *catalog.Instance, c *engine.Client) error {
		bounded, cancel := withCallTimeout(ctx, in, 0)
		defer cancel()
		leave, err := in.Slot(bounded)
		if err == nil {
			defer leave()
			err = call(bounded, c)
		}
		if err != nil {
			return callFault(ctx, e.handle.Ref(), err)
		}
		return nil
	})
	endSpan(span, err)
	e.observe(e.handle.Ref(), operation, time.Since(began), 0, err)
	return err
}

// callerError is the first error that the caller's own function, reader or writer returned during a call.
type callerError struct{ err error }

// keepFirst stores err if it is the first one, and returns it.
func (o *callerError) keepFirst(err error) error {
	if err != nil && o.err == nil {
		o.err = err
	}
	return err
}

// callUnbounded makes a call that only its context bounds, which is ctx with the span of the call.
func (e *engineFacade) callUnbounded(ctx context.Context, operation string,
	call func(context.Context, *engine.Client, *callerError) error) error {
	ctx, span := startSpan(ctx, e.handle.Ref(), operation)
	began := time.Now()
	err := e.withClient(ctx, func(_ *catalog.Instance, c *engine.Client) error {
		var mine callerError
		err := call(ctx, c, &mine)
		switch {
		case mine.err != nil:
			return mine.err
		case err != nil:
			return callFault(ctx, e.handle.Ref(), err)
		}
		return nil
	})
	endSpan(span, err)
	e.observe(e.handle.Ref(), operation, time.Since(began), 0, err)
	return err
}

func (e *engineFacade) Info(ctx context.Context, composeBin string) (out *engine.Info, err error) {
	err = e.callBounded(ctx, "info", func(ctx context.Context, c *engine.Client) (err error) {
		out, err = c.Info(ctx, composeBin)
		return err
	})
	return out, err
}

func (e *engineFacade) Containers(ctx context.Context, f engine.Filter) (out []engine.Container, err error) {
	err = e.callBounded(ctx, "containers", func(ctx context.Context, c *engine.Client) (err error) {
		out, err = c.Containers(ctx, f)
		return err
	})
	return out, err
}

func (e *engineFacade) Inspect(ctx context.Context, id string) (out *engine.Detail, err error) {
	err = e.callBounded(ctx, "inspect", func(ctx context.Context, c *engine.Client) (err error) {
		out, err = c.Inspect(ctx, id)
		return err
	})
	return out, err
}

func (e *engineFacade) Images(ctx context.Context, refs []string) (out []*engine.Image, err error) {
	err = e.callBounded(ctx, "images", func(ctx context.Context, c *engine.Client) (err error) {
		out, err = c.Images(ctx, refs)
		return err
	})
	return out, err
}

func (e *engineFacade) Stats(ctx context.Context, ids []string) (out []engine.Sample, err error) {
	err = e.callBounded(ctx, "stats", func(ctx context.Context, c *engine.Client) (err error) {
		out, err = c.Stats(ctx, ids)
		return err
	})
	return out, err
}

func (e *engineFacade) Tag(ctx context.Context, image, ref string) error {
	return e.callBounded(ctx, "tag", func(ctx context.Context, c *engine.Client) error { return c.Tag(ctx, image, ref) })
}

func (e *engineFacade) Pull(ctx context.Context, req engine.PullRequest,
	send func(engine.PullProgress) error) (out *engine.Image, err error) {
	err = e.callUnbounded(ctx, "pull", func(ctx context.Context, c *engine.Client, mine *callerError) (err error) {
		out, err = c.Pull(ctx, req, func(p engine.PullProgress) error { return mine.keepFirst(send(p)) })
		return err
	})
	return out, err
}

func (e *engineFacade) Compose(ctx context.Context, req engine.ComposeRequest,
	send func(engine.Line) error) (out *engine.ComposeResult, err error) {
	err = e.callUnbounded(ctx, "compose", func(ctx context.Context, c *engine.Client, mine *callerError) (err error) {
		out, err = c.Compose(ctx, req, func(l engine.Line) error { return mine.keepFirst(send(l)) })
		return err
	})
	return out, err
}

func (e *engineFacade) Run(ctx context.Context, req engine.RunRequest) (out *engine.RunResult, err error) {
	err = e.callUnbounded(ctx, "run", func(ctx context.Context, c *engine.Client, _ *callerError) (err error) {
		out, err = c.Run(ctx, req)
		return err
	})
	return out, err
}

func (e *engineFacade) Archive(ctx context.Context, container, path string, w io.Writer) error {
	return e.callUnbounded(ctx, "archive", func(ctx context.Context, c *engine.Client, mine *callerError) error {
		return c.Archive(ctx, container, path, writer(func(p []byte) (int, error) {
			n, err := w.Write(p)
			return n, mine.keepFirst(err)
		}))
	})
}

func (e *engineFacade) Restore(ctx context.Context, container, path string, r io.Reader) error {
	return e.callUnbounded(ctx, "restore", func(ctx context.Context, c *engine.Client, mine *callerError) error {
		return c.Restore(ctx, container, path, reader(func(p []byte) (int, error) {
			n, err := r.Read(p)
			if err != nil && err != io.EOF {
				_ = mine.keepFirst(err)
			}
			return n, err
		}))
	})
}

type (
	writer func([]byte) (int, error)
	reader func([]byte) (int, error)
)

func (w writer) Write(p []byte) (int, error) { return w(p) }
func (r reader) Read(p []byte) (int, error)  { return r(p) }

func (e *engineFacade) Logs(ctx context.Context, req engine.LogRequest, send func(engine.LogLine) error) error {
	if req.Follow {
		return e.follow(ctx, func(ctx context.Context, c *engine.Client, mine *callerError) error {
			return c.Logs(ctx, req, func(l engine.LogLine) error { return mine.keepFirst(send(l)) })
		})
	}
	return e.callUnbounded(ctx, "logs", func(ctx context.Context, c *engine.Client, mine *callerError) error {
		return c.Logs(ctx, req, func(l engine.LogLine) error { return mine.keepFirst(send(l)) })
	})
}

// lookEvery is how often a call that follows checks whether a reload has replaced the instance.
const lookEvery = 500 * time.Millisecond

// Events ends with catalog.ErrRetired when a reload replaces or removes the instance, whose removal waits for its calls. The
// caller then calls again.
func (e *engineFacade) Events(ctx context.Context, send func(engine.Event) error) error {
	return e.follow(ctx, func(ctx context.Context, c *engine.Client, mine *callerError) error {
		return c.Events(ctx, func(ev engine.Event) error { return mine.keepFirst(send(ev)) })
	})
}

// follow makes a call that ends with catalog.ErrRetired when a reload replaces or removes the instance.
func (e *engineFacade) follow(ctx context.Context, call func(context.Context, *engine.Client, *callerError) error) error {
	return e.withClient(ctx, func(in *catalog.Instance, c *engine.Client) error {
		following, end := context.WithCancelCause(ctx)
		defer end(nil)
		go e.cancelWhenReplaced(following, in, end)
		var mine callerError
		err := call(following, c, &mine)
		switch {
		case mine.err != nil:
			return mine.err
		case ctx.Err() == nil && context.Cause(following) == catalog.ErrRetired:
			return catalog.ErrRetired
		case err == nil:
			return nil
		}
		return callFault(ctx, e.handle.Ref(), err)
	})
}

// cancelWhenReplaced calls end with catalog.ErrRetired when in is no longer the handle's instance.
func (e *engineFacade) cancelWhenReplaced(ctx context.Context, in *catalog.Instance, end context.CancelCauseFunc) {
	t := time.NewTicker(lookEvery)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-t.C:
			if e.handle.Current() != in {
				end(catalog.ErrRetired)
				return
			}
		}
	}
}
