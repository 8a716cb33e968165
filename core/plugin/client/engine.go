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
// Info, Containers, Inspect, Images, Stats and Tag are bounded by the instance's timeout and take part in its
// concurrency. Pull, Compose, Archive, Restore and Events last as long as their context and count for nothing: who calls
// them bounds them. What they have started ends with the context.
type Engine interface {
	engine.Reader
	engine.Runner
	engine.Archiver
}

type engineFacade struct {
	handle  *catalog.Handle
	observe Observer
}

// NewEngine makes the facade for a handle. observe may be nil; it hears of each call save Events, by the name of the
// method in lower case.
func NewEngine(h *catalog.Handle, observe Observer) Engine {
	if observe == nil {
		observe = ignoreObservation
	}
	return &engineFacade{handle: h, observe: observe}
}

// use finds the instance and its client for one call.
func (e *engineFacade) use(ctx context.Context, call func(*catalog.Instance, *engine.Client) error) error {
	in, release, err := e.handle.Acquire(ctx)
	if err != nil {
		return callFault(ctx, err)
	}
	defer release()
	c, err := in.Client(func(conn grpc.ClientConnInterface, id string) io.Closer { return engine.NewClient(conn, id) })
	if err != nil {
		return callFault(ctx, err)
	}
	return call(in, c.(*engine.Client))
}

// brief makes a call that waits for a slot and is bounded by the instance's timeout.
func (e *engineFacade) brief(ctx context.Context, operation string, call func(context.Context, *engine.Client) error) error {
	began := time.Now()
	err := e.use(ctx, func(in *catalog.Instance, c *engine.Client) error {
		bounded, cancel := bound(ctx, in, 0)
		defer cancel()
		leave, err := in.Slot(bounded)
		if err == nil {
			defer leave()
			err = call(bounded, c)
		}
		if err != nil {
			return callFault(ctx, err)
		}
		return nil
	})
	e.observe(e.handle.Ref(), operation, time.Since(began), 0, err)
	return err
}

// own keeps the error of the caller's own part of a call.
type own struct{ err error }

func (o *own) keep(err error) error {
	if err != nil && o.err == nil {
		o.err = err
	}
	return err
}

// long makes a call that only ctx bounds.
func (e *engineFacade) long(ctx context.Context, operation string, call func(*engine.Client, *own) error) error {
	began := time.Now()
	err := e.use(ctx, func(_ *catalog.Instance, c *engine.Client) error {
		var mine own
		err := call(c, &mine)
		switch {
		case mine.err != nil:
			return mine.err
		case err != nil:
			return callFault(ctx, err)
		}
		return nil
	})
	e.observe(e.handle.Ref(), operation, time.Since(began), 0, err)
	return err
}

func (e *engineFacade) Info(ctx context.Context, composeBin string) (out *engine.Info, err error) {
	err = e.brief(ctx, "info", func(ctx context.Context, c *engine.Client) (err error) {
		out, err = c.Info(ctx, composeBin)
		return err
	})
	return out, err
}

func (e *engineFacade) Containers(ctx context.Context, f engine.Filter) (out []engine.Container, err error) {
	err = e.brief(ctx, "containers", func(ctx context.Context, c *engine.Client) (err error) {
		out, err = c.Containers(ctx, f)
		return err
	})
	return out, err
}

func (e *engineFacade) Inspect(ctx context.Context, id string) (out *engine.Detail, err error) {
	err = e.brief(ctx, "inspect", func(ctx context.Context, c *engine.Client) (err error) {
		out, err = c.Inspect(ctx, id)
		return err
	})
	return out, err
}

func (e *engineFacade) Images(ctx context.Context, refs []string) (out []*engine.Image, err error) {
	err = e.brief(ctx, "images", func(ctx context.Context, c *engine.Client) (err error) {
		out, err = c.Images(ctx, refs)
		return err
	})
	return out, err
}

func (e *engineFacade) Stats(ctx context.Context, ids []string) (out []engine.Sample, err error) {
	err = e.brief(ctx, "stats", func(ctx context.Context, c *engine.Client) (err error) {
		out, err = c.Stats(ctx, ids)
		return err
	})
	return out, err
}

func (e *engineFacade) Tag(ctx context.Context, image, ref string) error {
	return e.brief(ctx, "tag", func(ctx context.Context, c *engine.Client) error { return c.Tag(ctx, image, ref) })
}

func (e *engineFacade) Pull(ctx context.Context, req engine.PullRequest, send func(engine.PullProgress) error) (out *engine.Image, err error) {
	err = e.long(ctx, "pull", func(c *engine.Client, mine *own) (err error) {
		out, err = c.Pull(ctx, req, func(p engine.PullProgress) error { return mine.keep(send(p)) })
		return err
	})
	return out, err
}

func (e *engineFacade) Compose(ctx context.Context, req engine.ComposeRequest, send func(engine.Line) error) (out *engine.ComposeResult, err error) {
	err = e.long(ctx, "compose", func(c *engine.Client, mine *own) (err error) {
		out, err = c.Compose(ctx, req, func(l engine.Line) error { return mine.keep(send(l)) })
		return err
	})
	return out, err
}

func (e *engineFacade) Archive(ctx context.Context, container, path string, w io.Writer) error {
	return e.long(ctx, "archive", func(c *engine.Client, mine *own) error {
		return c.Archive(ctx, container, path, writer(func(p []byte) (int, error) {
			n, err := w.Write(p)
			return n, mine.keep(err)
		}))
	})
}

func (e *engineFacade) Restore(ctx context.Context, container, path string, r io.Reader) error {
	return e.long(ctx, "restore", func(c *engine.Client, mine *own) error {
		return c.Restore(ctx, container, path, reader(func(p []byte) (int, error) {
			n, err := r.Read(p)
			if err != nil && err != io.EOF {
				_ = mine.keep(err)
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

// lookEvery is the pause between two looks whether a reload has replaced the instance.
const lookEvery = 500 * time.Millisecond

// Events ends with catalog.ErrRetired when a reload replaces or removes the instance: it would hold up its removal. Whoever
// gets it calls again.
func (e *engineFacade) Events(ctx context.Context, send func(engine.Event) error) error {
	return e.use(ctx, func(in *catalog.Instance, c *engine.Client) error {
		following, end := context.WithCancelCause(ctx)
		defer end(nil)
		go e.watch(following, in, end)
		var mine own
		err := c.Events(following, func(ev engine.Event) error { return mine.keep(send(ev)) })
		switch {
		case mine.err != nil:
			return mine.err
		case ctx.Err() == nil && context.Cause(following) == catalog.ErrRetired:
			return catalog.ErrRetired
		}
		return callFault(ctx, err)
	})
}

func (e *engineFacade) watch(ctx context.Context, in *catalog.Instance, end context.CancelCauseFunc) {
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
