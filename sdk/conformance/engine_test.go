package conformance

import (
	"context"
	"errors"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc/codes"

	"github.com/patchbay-dev/patchbay/sdk/engine"
	"github.com/patchbay-dev/patchbay/sdk/errs"
	"github.com/patchbay-dev/patchbay/sdk/framework"
	"github.com/patchbay-dev/patchbay/sdk/schema"
)

// goodEngine is an engine that keeps the contract; tests change single parts of it.
type goodEngine struct {
	info       func(bin string) (*engine.Info, error)
	containers func(f engine.Filter) []engine.Container
	inspect    func(id string) (*engine.Detail, error)
	images     func(refs []string) []*engine.Image
	stats      func(ids []string) []engine.Sample
	events     func(ctx context.Context, send func(engine.Event) error) error
	pull       func(req engine.PullRequest) error
	tag        func() error
	compose    func(req engine.ComposeRequest, send func(engine.Line) error) (*engine.ComposeResult, error)
	copy       func() error
	logs       func() error
	run        func() error
}

const goodBin = "good compose"

var goodContainer = engine.Container{ID: "c1", ImageID: "sha256:i1", State: "running"}

func missing(what string) error { return errs.NotFound("NOT_FOUND", "there is no %s", what) }

func newGoodEngine() *goodEngine {
	return &goodEngine{
		info: func(bin string) (*engine.Info, error) {
			out := &engine.Info{Version: "1", OS: "linux", Arch: "amd64"}
			switch bin {
			case "":
			case goodBin:
				out.Compose = &engine.Compose{Version: "2", PullPolicy: true}
			default:
				out.ComposeError = "it is not there"
			}
			return out, nil
		},
		containers: func(f engine.Filter) []engine.Container {
			if len(f.Labels)+len(f.IDs) > 0 {
				return nil
			}
			return []engine.Container{goodContainer}
		},
		inspect: func(id string) (*engine.Detail, error) {
			if id != goodContainer.ID {
				return nil, missing("container")
			}
			return &engine.Detail{Container: goodContainer, RestartPolicy: "no"}, nil
		},
		images: func(refs []string) []*engine.Image {
			out := make([]*engine.Image, len(refs))
			for i, ref := range refs {
				if ref == goodContainer.ImageID {
					out[i] = &engine.Image{ID: ref}
				}
			}
			return out
		},
		stats: func([]string) []engine.Sample { return nil },
		events: func(ctx context.Context, send func(engine.Event) error) error {
			if err := send(engine.Event{Type: engine.EventReady}); err != nil {
				return err
			}
			<-ctx.Done()
			return ctx.Err()
		},
		pull: func(req engine.PullRequest) error {
			if _, err := os.Stat(req.DockerConfig); err != nil {
				return errs.BadInput("NO_CONFIG", "it is not there")
			}
			return errs.Unavailable(errs.ReasonStatus, "the registry is down")
		},
		tag: func() error { return missing("image") },
		compose: func(req engine.ComposeRequest, _ func(engine.Line) error) (*engine.ComposeResult, error) {
			if req.Bin != goodBin {
				return nil, errs.New(errs.Caller, codes.FailedPrecondition, "NO_COMPOSE", "it is not there")
			}
			command := append(strings.Fields(req.Bin), "-p", req.Project, "-f", req.Files[0])
			if req.Action == engine.ActionRecreate || req.Action == engine.ActionStart {
				command = append(command, "up", "-d", "--pull", "never", "--no-deps")
			} else {
				command = append(command, req.Action)
			}
			return &engine.ComposeResult{Command: append(command, req.Services...)}, nil
		},
		copy: func() error { return missing("container") },
		logs: func() error { return missing("container") },
		run:  func() error { return missing("image") },
	}
}

func (g *goodEngine) Info(_ context.Context, bin string) (*engine.Info, error) { return g.info(bin) }

func (g *goodEngine) Containers(_ context.Context, f engine.Filter) ([]engine.Container, error) {
	return g.containers(f), nil
}
func (g *goodEngine) Inspect(_ context.Context, id string) (*engine.Detail, error) {
	return g.inspect(id)
}
func (g *goodEngine) Images(_ context.Context, refs []string) ([]*engine.Image, error) {
	return g.images(refs), nil
}
func (g *goodEngine) Stats(_ context.Context, ids []string) ([]engine.Sample, error) {
	return g.stats(ids), nil
}

// Logs implements engine.LogReader.
func (g *goodEngine) Logs(context.Context, engine.LogRequest, func(engine.LogLine) error) error {
	return g.logs()
}

// Run implements engine.CommandRunner.
func (g *goodEngine) Run(context.Context, engine.RunRequest) (*engine.RunResult, error) {
	return &engine.RunResult{}, g.run()
}

func (g *goodEngine) Events(ctx context.Context, send func(engine.Event) error) error {
	return g.events(ctx, send)
}
func (g *goodEngine) Pull(_ context.Context, req engine.PullRequest, _ func(engine.PullProgress) error) (*engine.Image, error) {
	return nil, g.pull(req)
}
func (g *goodEngine) Tag(context.Context, string, string) error { return g.tag() }
func (g *goodEngine) Compose(_ context.Context, req engine.ComposeRequest, send func(engine.Line) error) (*engine.ComposeResult, error) {
	return g.compose(req, send)
}
func (g *goodEngine) Archive(context.Context, string, string, io.Writer) error { return g.copy() }
func (g *goodEngine) Restore(context.Context, string, string, io.Reader) error { return g.copy() }

func (g *goodEngine) plugin() framework.Plugin {
	def := engine.Definition[struct{}]{Build: func(engine.Instance, struct{}) (engine.Open, schema.Diagnostics) {
		return func(context.Context) (engine.Engine, error) { return g, nil }, nil
	}}
	return framework.Plugin{Name: "good", Version: "1.0.0", Kinds: []framework.Kind{engine.New(def)}}
}

func TestGoodEnginePasses(t *testing.T) {
	wantWhole(t, runSuite(t, newGoodEngine().plugin(), EngineConfig{ComposeBin: goodBin}, Engine))
}

func TestWrongEngines(t *testing.T) {
	for _, tt := range []struct {
		name   string
		want   []string
		change func(*goodEngine)
	}{
		{"fails for an unknown command", []string{"info"}, func(g *goodEngine) {
			info := g.info
			g.info = func(bin string) (*engine.Info, error) {
				if bin != "" && bin != goodBin {
					return nil, missing("command")
				}
				return info(bin)
			}
		}},
		{"ignores filters", []string{"containers"}, func(g *goodEngine) {
			g.containers = func(engine.Filter) []engine.Container { return []engine.Container{goodContainer} }
		}},
		{"words of its own for states", []string{"containers"}, func(g *goodEngine) {
			g.containers = func(f engine.Filter) []engine.Container {
				if len(f.Labels)+len(f.IDs) > 0 {
					return nil
				}
				c := goodContainer
				c.State = "up"
				return []engine.Container{c}
			}
		}},
		{"answers for unknown containers", []string{"inspect"}, func(g *goodEngine) {
			g.inspect = func(string) (*engine.Detail, error) { return &engine.Detail{}, nil }
		}},
		{"inspects another", []string{"inspect"}, func(g *goodEngine) {
			g.inspect = func(id string) (*engine.Detail, error) {
				if id != goodContainer.ID {
					return nil, missing("container")
				}
				return &engine.Detail{Container: engine.Container{ID: "c2"}}, nil
			}
		}},
		{"leaves unknown images out", []string{"images"}, func(g *goodEngine) {
			g.images = func([]string) []*engine.Image { return []*engine.Image{{ID: goodContainer.ImageID}} }
		}},
		{"samples of unknown containers", []string{"stats"}, func(g *goodEngine) {
			g.stats = func(ids []string) []engine.Sample { return []engine.Sample{{ContainerID: ids[0]}} }
		}},
		{"events without a beginning", []string{"events"}, func(g *goodEngine) {
			g.events = func(ctx context.Context, send func(engine.Event) error) error {
				_ = send(engine.Event{Type: "container"})
				<-ctx.Done()
				return ctx.Err()
			}
		}},
		{"events without an end", []string{"cancel"}, func(g *goodEngine) {
			g.events = func(_ context.Context, send func(engine.Event) error) error {
				_ = send(engine.Event{Type: engine.EventReady})
				time.Sleep(3 * time.Second)
				return nil
			}
		}},
		{"takes a registry that is down for its own fault", []string{"pull-failure"}, func(g *goodEngine) {
			g.pull = func(req engine.PullRequest) error { return errors.New("down") }
		}},
		{"tags what is not there", []string{"tag"}, func(g *goodEngine) { g.tag = func() error { return nil } }},
		{"runs at a dry run", []string{"compose"}, func(g *goodEngine) {
			compose := g.compose
			g.compose = func(req engine.ComposeRequest, send func(engine.Line) error) (*engine.ComposeResult, error) {
				_ = send(engine.Line{Text: "running"})
				return compose(req, send)
			}
		}},
		{"touches other services", []string{"compose"}, func(g *goodEngine) {
			g.compose = func(req engine.ComposeRequest, _ func(engine.Line) error) (*engine.ComposeResult, error) {
				if req.Bin != goodBin {
					return nil, missing("command")
				}
				return &engine.ComposeResult{Command: append(strings.Fields(req.Bin), "-p", req.Project, "-f", req.Files[0], "up", "web")}, nil
			}
		}},
		{"restores nowhere", []string{"archive"}, func(g *goodEngine) { g.copy = func() error { return nil } }},
		{"reads the output of nothing", []string{"logs"}, func(g *goodEngine) { g.logs = func() error { return nil } }},
		{"runs a command of no image", []string{"run"}, func(g *goodEngine) { g.run = func() error { return nil } }},
		{"panics", []string{"panics"}, func(g *goodEngine) { g.tag = func() error { panic("oh") } }},
		{"password in an error", []string{"credential"}, func(g *goodEngine) {
			g.pull = func(req engine.PullRequest) error {
				raw, err := os.ReadFile(req.DockerConfig)
				if err != nil {
					return errs.BadInput("NO_CONFIG", "it is not there")
				}
				return errs.Unavailable(errs.ReasonStatus, "no answer to %s", raw)
			}
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			g := newGoodEngine()
			tt.change(g)
			rep := runSuite(t, g.plugin(), EngineConfig{ComposeBin: goodBin, Timeout: 10 * time.Second, Prompt: time.Second}, Engine)
			wantFailures(t, rep, tt.want...)
		})
	}
}
