package testplugin

import (
	"context"
	"errors"
	"io"
	"os"
	"strings"
	"time"

	"github.com/patchbay-dev/patchbay/core/event"
	"github.com/patchbay-dev/patchbay/sdk/engine"
	"github.com/patchbay-dev/patchbay/sdk/errs"
	"github.com/patchbay-dev/patchbay/sdk/framework"
	"github.com/patchbay-dev/patchbay/sdk/schema"
)

// Names by which the plugin in the mode ContainerEngine is told what to do: as the id of Inspect, the reference of Pull, or
// the container of Archive and Restore. All others are answered.
const (
	Hanging = "hang"
	Crash   = "crash"
	Missing = "missing"
	// Endless goes on until the caller ends it.
	Endless = "endless"
)

// EndlessPulls is the reference by which Images tells, as many entries long, how many endless calls are being served.
const EndlessPulls = "endless-calls"

func enginePlugin() framework.Plugin {
	def := engine.Definition[struct{}]{Build: func(engine.Instance, struct{}) (engine.Open, schema.Diagnostics) {
		return func(context.Context) (engine.Engine, error) {
			return &containerEngine{endless: make(chan struct{}, 100)}, nil
		}, nil
	}}
	return framework.Plugin{Name: "testplugin", Version: "1.0.0", Kinds: []framework.Kind{engine.New(def)}}
}

type containerEngine struct {
	wellbeing
	endless chan struct{}
}

func (c *containerEngine) behaveAs(ctx context.Context, name string) error {
	if strings.Contains(name, FailAs) {
		return endAs(ctx, name)
	}
	switch name {
	case Hanging:
		<-ctx.Done()
		return ctx.Err()
	case Crash:
		os.Exit(3)
	case Missing:
		return errs.NotFound("NOT_FOUND", "there is no %s", name)
	}
	return nil
}

// streamForever calls do until it fails or ctx ends.
func (c *containerEngine) streamForever(ctx context.Context, do func() error) error {
	c.endless <- struct{}{}
	defer func() { <-c.endless }()
	for ctx.Err() == nil {
		if err := do(); err != nil {
			return err
		}
		_ = event.Sleep(ctx, 10*time.Millisecond)
	}
	return ctx.Err()
}

func (c *containerEngine) Info(context.Context, string) (*engine.Info, error) {
	return &engine.Info{Version: "1", OS: "linux", Arch: "amd64"}, nil
}

func (c *containerEngine) Containers(context.Context, engine.Filter) ([]engine.Container, error) {
	return []engine.Container{{ID: "a", State: "running"}}, nil
}

func (c *containerEngine) Inspect(ctx context.Context, id string) (*engine.Detail, error) {
	return &engine.Detail{Container: engine.Container{ID: id}}, c.behaveAs(ctx, id)
}

func (c *containerEngine) Images(_ context.Context, refs []string) ([]*engine.Image, error) {
	out := make([]*engine.Image, len(refs))
	for i, ref := range refs {
		if ref == EndlessPulls {
			out[i] = &engine.Image{SizeBytes: int64(len(c.endless))}
		}
	}
	return out, nil
}

func (c *containerEngine) Stats(context.Context, []string) ([]engine.Sample, error) { return nil, nil }

func (c *containerEngine) Events(ctx context.Context, send func(engine.Event) error) error {
	return c.streamForever(ctx, func() error { return send(engine.Event{Type: engine.EventReady}) })
}

func (c *containerEngine) Pull(ctx context.Context, req engine.PullRequest, send func(engine.PullProgress) error) (*engine.Image, error) {
	if req.Ref == Endless {
		return nil, c.streamForever(ctx, func() error { return send(engine.PullProgress{}) })
	}
	return &engine.Image{ID: req.Ref}, c.behaveAs(ctx, req.Ref)
}

func (c *containerEngine) Tag(context.Context, string, string) error { return nil }

func (c *containerEngine) Compose(_ context.Context, req engine.ComposeRequest,
	send func(engine.Line) error) (*engine.ComposeResult, error) {
	err := errors.Join(send(engine.Line{Text: "one"}), send(engine.Line{Text: "two", Stderr: true}))
	return &engine.ComposeResult{Command: []string{req.Bin}, ExitCode: 1, Tail: "two"}, err
}

func (c *containerEngine) Run(ctx context.Context, req engine.RunRequest) (*engine.RunResult, error) {
	return &engine.RunResult{ExitCode: 1, Output: req.Image}, c.behaveAs(ctx, req.Image)
}

func (c *containerEngine) Archive(ctx context.Context, container, _ string, w io.Writer) error {
	if container == Endless {
		return c.streamForever(ctx, func() error { _, err := w.Write(make([]byte, 1<<16)); return err })
	}
	if err := c.behaveAs(ctx, container); err != nil {
		return err
	}
	_, err := w.Write(make([]byte, 1<<20))
	return err
}

func (c *containerEngine) Restore(ctx context.Context, container, _ string, r io.Reader) error {
	if err := c.behaveAs(ctx, container); err != nil {
		return err
	}
	n, err := io.Copy(io.Discard, r)
	if err == nil && n == 0 {
		return errs.BadInput("NO_ARCHIVE", "nothing came")
	}
	return err
}
