package engine_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"reflect"
	"strings"
	"testing"
	"testing/iotest"

	"google.golang.org/grpc/codes"

	"github.com/patchbay-dev/patchbay/sdk/engine"
	"github.com/patchbay-dev/patchbay/sdk/errs"
	"github.com/patchbay-dev/patchbay/sdk/framework"
	"github.com/patchbay-dev/patchbay/sdk/plugintest"
	"github.com/patchbay-dev/patchbay/sdk/schema"
)

// mirror answers with values in which no member is zero, and keeps what it was asked.
type mirror struct {
	pull    engine.PullRequest
	compose engine.ComposeRequest
	run     engine.RunRequest
	filter  engine.Filter
	data    []byte
	fail    error
}

var (
	labels      = map[string]string{"a": "b", "c": ""}
	mounts      = []engine.Mount{{Type: "volume", Name: "n", Source: "/s", Destination: "/d", ReadOnly: true}, {Type: "bind"}}
	imageConfig = engine.ImageConfig{Env: []string{"A=b"}, Command: []string{"c"}, Entrypoint: []string{"e"}, User: "u", WorkingDir: "/w"}
	container   = engine.Container{ID: "i", Name: "n", Image: "r:1", ImageID: "sha256:x", State: "running", Status: "Up", Labels: labels,
		CreatedAt: 1, Mounts: mounts}
	detail = engine.Detail{
		Container: container, Health: "healthy", HealthLog: "ok", StartPeriodMS: 1, IntervalMS: 2, TimeoutMS: 3, Retries: 4, RestartCount: 5,
		ExitCode:  137,
		OOMKilled: true, Error: "e", StartedAt: 6, RestartPolicy: "always",
		Config: &engine.ContainerConfig{
			ImageConfig: imageConfig, NetworkMode: "a", PIDMode: "b", IPCMode: "c", VolumesFrom: []string{"v"}, Networks: []string{"n"},
			Ports:       []string{":1:2/tcp"},
			MemoryBytes: 1, NanoCPUs: 2, PIDsLimit: 3, Privileged: true, CapAdd: []string{"X"}, CapDrop: []string{"Y"},
		},
	}
	image = engine.Image{
		ID: "sha256:x", RepoTags: []string{"r:1"}, RepoDigests: []string{"r@sha256:y"}, OS: "linux", Arch: "arm", Variant: "v7", Labels: labels,
		SizeBytes: 1 << 40, CreatedAt: 2, Config: &imageConfig,
	}
	samples = []engine.Sample{
		{ContainerID: "i", SampledAt: 1, CPUPercent: 0, HasCPU: true, MemUsed: 2, MemLimit: 3, NetRx: 4, NetTx: 5, HasBlock: true, BlockRead: 0,
			BlockWrite: 7, PIDs: 8},
		{ContainerID: "j", SampledAt: 1},
	}
	info = engine.Info{Version: "1", APIVersion: "2", OS: "linux", Arch: "arm", Variant: "v7",
		Compose: &engine.Compose{Version: "3", PullPolicy: true}, ComposeError: "e", ID: "x"}
	event    = engine.Event{Type: "container", Action: "start", ID: "i", Labels: labels, At: 9}
	progress = engine.PullProgress{CurrentBytes: 1, TotalBytes: 2, CompletedLayers: 3, TotalLayers: 4,
		Active: []engine.Layer{{ID: "l", Status: "s", CurrentBytes: 5, TotalBytes: 6}}, Status: "t"}
	lines  = []engine.Line{{Text: "one"}, {Stderr: true, Text: "two"}}
	result = engine.ComposeResult{Command: []string{"c", "up"}, ExitCode: 1, Tail: "t"}
)

func (m *mirror) Info(context.Context, string) (*engine.Info, error) { return &info, m.fail }
func (m *mirror) Containers(_ context.Context, f engine.Filter) ([]engine.Container, error) {
	m.filter = f
	return []engine.Container{container}, m.fail
}
func (m *mirror) Inspect(context.Context, string) (*engine.Detail, error) { return &detail, m.fail }
func (m *mirror) Images(context.Context, []string) ([]*engine.Image, error) {
	return []*engine.Image{nil, &image}, m.fail
}
func (m *mirror) Stats(context.Context, []string) ([]engine.Sample, error) { return samples, m.fail }
func (m *mirror) Events(_ context.Context, send func(engine.Event) error) error {
	return errors.Join(send(event), m.fail)
}
func (m *mirror) Pull(_ context.Context, req engine.PullRequest, send func(engine.PullProgress) error) (*engine.Image, error) {
	m.pull = req
	if err := send(progress); err != nil || m.fail != nil {
		return nil, errors.Join(err, m.fail)
	}
	return &image, nil
}
func (m *mirror) Tag(context.Context, string, string) error { return m.fail }
func (m *mirror) Compose(_ context.Context, req engine.ComposeRequest, send func(engine.Line) error) (*engine.ComposeResult, error) {
	m.compose = req
	for _, l := range lines {
		if err := send(l); err != nil {
			return nil, err
		}
	}
	return &result, m.fail
}
func (m *mirror) Archive(_ context.Context, _, _ string, w io.Writer) error {
	_, err := w.Write(m.data)
	return errors.Join(err, m.fail)
}
func (m *mirror) Restore(_ context.Context, _, _ string, r io.Reader) (err error) {
	m.data, err = io.ReadAll(r)
	return errors.Join(err, m.fail)
}

func (m *mirror) Run(_ context.Context, req engine.RunRequest) (*engine.RunResult, error) {
	m.run = req
	return &engine.RunResult{ExitCode: 3, Output: "o"}, m.fail
}

func open(t *testing.T) (*engine.Client, *mirror) {
	t.Helper()
	m := &mirror{}
	def := engine.Definition[struct{}]{Build: func(engine.Instance, struct{}) (engine.Open, schema.Diagnostics) {
		return func(context.Context) (engine.Engine, error) { return m, nil }, nil
	}}
	l := plugintest.Load(t, framework.Plugin{Name: "mirror", Version: "1.0.0", Kinds: []framework.Kind{engine.New(def)}})
	return engine.NewClient(l.Conn, l.Configure(t, plugintest.Config(t, engine.Kind, "a", "{}"))), m
}

func same[T any](t *testing.T, what string, want, got T, err error) {
	t.Helper()
	if err != nil {
		t.Errorf("%s: %v", what, err)
	}
	if !reflect.DeepEqual(want, got) {
		t.Errorf("%s: %+v, want %+v", what, got, want)
	}
}

func TestEverythingCrossesTheWire(t *testing.T) {
	c, m := open(t)
	ctx := t.Context()
	gotInfo, err := c.Info(ctx, "c")
	same(t, "info", &info, gotInfo, err)
	filter := engine.Filter{Labels: []string{"a=b"}, IDs: []string{"i"}}
	all, err := c.Containers(ctx, filter)
	same(t, "containers", []engine.Container{container}, all, err)
	same(t, "filter", filter, m.filter, nil)
	gotDetail, err := c.Inspect(ctx, "i")
	same(t, "inspect", &detail, gotDetail, err)
	images, err := c.Images(ctx, []string{"a", "b"})
	same(t, "images", []*engine.Image{nil, &image}, images, err)
	gotSamples, err := c.Stats(ctx, []string{"i"})
	same(t, "stats", samples, gotSamples, err)
	enough := errors.New("enough")
	var gotEvent engine.Event
	if err := c.Events(ctx, func(e engine.Event) error { gotEvent = e; return enough }); err != enough {
		t.Error(err)
	}
	same(t, "event", event, gotEvent, nil)
	pull := engine.PullRequest{Ref: "r:1", Platform: "linux/arm/v7", DockerConfig: "/c"}
	var gotProgress engine.PullProgress
	gotImage, err := c.Pull(ctx, pull, func(p engine.PullProgress) error { gotProgress = p; return nil })
	same(t, "image", &image, gotImage, err)
	same(t, "progress", progress, gotProgress, nil)
	same(t, "pull", pull, m.pull, nil)
	compose := engine.ComposeRequest{
		Bin: "docker compose", Action: engine.ActionRecreate, Project: "p", WorkingDir: "/w", Files: []string{"/f"}, EnvFiles: []string{"/e"},
		Profiles: []string{"x"}, Services: []string{"s"}, DockerConfig: "/c", DryRun: true,
	}
	var gotLines []engine.Line
	gotResult, err := c.Compose(ctx, compose, func(l engine.Line) error { gotLines = append(gotLines, l); return nil })
	same(t, "result", &result, gotResult, err)
	same(t, "lines", lines, gotLines, nil)
	same(t, "compose", compose, m.compose, nil)
	run := engine.RunRequest{Image: "r:1", Args: []string{"version", "-x"}, Name: "n"}
	gotRun, err := c.Run(ctx, run)
	same(t, "run", &engine.RunResult{ExitCode: 3, Output: "o"}, gotRun, err)
	same(t, "run request", run, m.run, nil)
	if err := c.Tag(ctx, "a", "b"); err != nil {
		t.Error(err)
	}
}

func TestTarStreams(t *testing.T) {
	c, m := open(t)
	for _, size := range []int{0, 1, 1 << 18, 5<<20 + 7} {
		data := bytes.Repeat([]byte("x"), size)
		for _, r := range []io.Reader{bytes.NewReader(data), iotest.DataErrReader(bytes.NewReader(data)),
			iotest.HalfReader(bytes.NewReader(data))} {
			if err := c.Restore(t.Context(), "a", "/data", r); err != nil || !bytes.Equal(m.data, data) {
				t.Errorf("restore of %d: %d, %v", size, len(m.data), err)
			}
		}
		var out bytes.Buffer
		if err := c.Archive(t.Context(), "a", "/data", &out); err != nil || !bytes.Equal(out.Bytes(), data) {
			t.Errorf("archive of %d: %d, %v", size, out.Len(), err)
		}
	}
	// A stream that the caller's reader breaks off is not one that has ended.
	m.data = nil
	r := io.MultiReader(strings.NewReader("half"), iotest.ErrReader(io.ErrUnexpectedEOF))
	if err := c.Restore(t.Context(), "a", "/data", r); err != io.ErrUnexpectedEOF {
		t.Error(err)
	}
}

func TestErrorsHaveASource(t *testing.T) {
	c, m := open(t)
	ctx := t.Context()
	calls := map[string]func() error{
		"info":       func() error { _, err := c.Info(ctx, ""); return err },
		"containers": func() error { _, err := c.Containers(ctx, engine.Filter{}); return err },
		"images":     func() error { _, err := c.Images(ctx, []string{"a", "b"}); return err },
		"events":     func() error { return c.Events(ctx, func(engine.Event) error { return nil }) },
		"pull": func() error {
			_, err := c.Pull(ctx, engine.PullRequest{Ref: "a"}, func(engine.PullProgress) error { return nil })
			return err
		},
		"tag":     func() error { return c.Tag(ctx, "a", "b") },
		"run":     func() error { _, err := c.Run(ctx, engine.RunRequest{Image: "a", Name: "b"}); return err },
		"archive": func() error { return c.Archive(ctx, "a", "/b", io.Discard) },
		"restore": func() error { return c.Restore(ctx, "a", "/b", strings.NewReader("x")) },
	}
	for _, tt := range []struct {
		give   error
		code   codes.Code
		source errs.Source
	}{
		{errors.New("plain"), codes.Internal, errs.Plugin},
		{errs.NotFound("NO", "no"), codes.NotFound, errs.Caller},
		{errs.Unavailable(errs.ReasonConnect, "down"), codes.Unavailable, errs.Upstream},
	} {
		m.fail = tt.give
		for name, call := range calls {
			if e := errs.From(call()); e == nil || e.Code != tt.code || e.Source != tt.source {
				t.Errorf("%s with %v: %+v", name, tt.give, e)
			}
		}
	}
	// Events that end by themselves are an error: the caller would miss what comes.
	m.fail = nil
	if e := errs.From(calls["events"]()); e.Code != codes.Unavailable || e.Reason != errs.ReasonProtocol {
		t.Errorf("%+v", e)
	}
	if e := errs.From(func() error { _, err := c.Images(ctx, []string{"a"}); return err }()); e.Source != errs.Plugin {
		t.Errorf("too many images: %+v", e)
	}
}
