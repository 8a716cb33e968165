package conformance

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc/codes"

	"github.com/patchbay-dev/patchbay/sdk/conformance/report"
	"github.com/patchbay-dev/patchbay/sdk/errs"
	"github.com/patchbay-dev/patchbay/sdk/framework"
	"github.com/patchbay-dev/patchbay/sdk/registry"
	"github.com/patchbay-dev/patchbay/sdk/schema"
)

const (
	indexDigest = "sha256:1111111111111111111111111111111111111111111111111111111111111111"
	childDigest = "sha256:2222222222222222222222222222222222222222222222222222222222222222"
)

// goodRegistry keeps the contract; tests change single parts of it.
type goodRegistry struct {
	resolve     func(context.Context, registry.ResolveRequest) (*registry.Resolved, error)
	tags        func(context.Context, registry.TagsRequest) (*registry.TagsPage, error)
	config      func(context.Context, registry.ConfigRequest) (*registry.ImageConfig, error)
	credentials func([]string) []string
}

func upstreamError(code codes.Code) error {
	return errs.New(errs.Upstream, code, errs.ReasonStatus, "no")
}

func newGoodRegistry() *goodRegistry {
	g := &goodRegistry{credentials: func([]string) []string { return nil }}
	g.resolve = g.look
	g.tags = func(_ context.Context, req registry.TagsRequest) (*registry.TagsPage, error) {
		switch {
		case strings.Contains(req.Repository, ":"):
			return nil, errs.BadInput(registry.ReasonInvalidReference, "no")
		case req.Cursor == "":
			return &registry.TagsPage{Tags: []string{"0"}, Next: "2"}, nil
		case req.Cursor == "2":
			return &registry.TagsPage{Tags: []string{"1"}}, nil
		}
		return nil, errs.BadInput(registry.ReasonInvalidRequest, "no")
	}
	g.config = func(context.Context, registry.ConfigRequest) (*registry.ImageConfig, error) {
		return &registry.ImageConfig{Digest: childDigest}, nil
	}
	return g
}

func (g *goodRegistry) look(ctx context.Context, req registry.ResolveRequest) (*registry.Resolved, error) {
	_, id, _ := strings.Cut(req.Ref, "one.example/app")
	switch {
	case id == ":missing":
		return nil, upstreamError(codes.NotFound)
	case id == ":busy":
		return nil, upstreamError(codes.ResourceExhausted)
	case id == ":slow":
		<-ctx.Done()
		return nil, ctx.Err()
	case id != ":1" && id != "@"+indexDigest, req.Platform == "no platform":
		return nil, errs.BadInput(registry.ReasonInvalidReference, "no")
	}
	out := &registry.Resolved{Digest: indexDigest, MediaType: "index"}
	if !slices.Contains(req.Known, indexDigest) {
		out.Detailed, out.PlatformDigest = true, childDigest
		out.Platforms = []registry.Platform{{OS: "linux", Arch: "amd64", Digest: childDigest}}
	}
	return out, nil
}

func (g *goodRegistry) Hosts(context.Context) ([]string, error) { return nil, nil }

func (g *goodRegistry) Resolve(ctx context.Context, req registry.ResolveRequest) (*registry.Resolved, error) {
	return g.resolve(ctx, req)
}

func (g *goodRegistry) Tags(ctx context.Context, req registry.TagsRequest) (*registry.TagsPage, error) {
	return g.tags(ctx, req)
}

func (g *goodRegistry) Config(ctx context.Context, req registry.ConfigRequest) (*registry.ImageConfig, error) {
	return g.config(ctx, req)
}

func (g *goodRegistry) Credentials(_ context.Context, _ registry.Access, hosts []string) ([]string, error) {
	return g.credentials(hosts), nil
}

func (g *goodRegistry) run(t *testing.T) report.Report {
	t.Helper()
	def := registry.Definition[struct{}]{Build: func(registry.Instance, struct{}) (registry.Open, schema.Diagnostics) {
		return func(context.Context) (registry.Registry, error) { return g, nil }, nil
	}}
	return runSuite(t, framework.Plugin{Name: "good", Version: "1.0.0", Kinds: []framework.Kind{registry.New(def)}}, RegistryConfig{
		Ref: "one.example/app:1", Platform: "linux/amd64", Missing: []string{"one.example/app:missing"}, Slow: "one.example/app:slow",
		Failures: map[string]codes.Code{"one.example/app:busy": codes.ResourceExhausted}, Secrets: []string{"hunter2"}, Prompt: time.Second,
	}, Registry)
}

func names(rep report.Report) (out []string) {
	for _, f := range rep.Failed() {
		out = append(out, f.Name())
	}
	return out
}

func TestGoodRegistryPasses(t *testing.T) {
	wantWhole(t, newGoodRegistry().run(t))
}

func TestWrongRegistries(t *testing.T) {
	changed := func(edit func(registry.ResolveRequest, *registry.Resolved)) func(*goodRegistry) {
		return func(g *goodRegistry) {
			g.resolve = func(ctx context.Context, req registry.ResolveRequest) (*registry.Resolved, error) {
				out, err := g.look(ctx, req)
				if err == nil {
					edit(req, out)
				}
				return out, err
			}
		}
	}
	instead := func(ref string, do func(context.Context) (*registry.Resolved, error)) func(*goodRegistry) {
		return func(g *goodRegistry) {
			g.resolve = func(ctx context.Context, req registry.ResolveRequest) (*registry.Resolved, error) {
				if strings.HasSuffix(req.Ref, ref) {
					return do(ctx)
				}
				return g.look(ctx, req)
			}
		}
	}
	for _, tt := range []struct {
		name   string
		want   []string
		change func(*goodRegistry)
	}{
		{"no digest", []string{"resolve"}, changed(func(_ registry.ResolveRequest, r *registry.Resolved) { r.Digest = "x" })},
		{"no details", []string{"resolve"}, changed(func(_ registry.ResolveRequest, r *registry.Resolved) { r.Detailed = false })},
		{"details of what is known", []string{"resolve"}, changed(func(_ registry.ResolveRequest, r *registry.Resolved) { r.Detailed = true })},
		{"attestations", []string{"resolve"}, changed(func(_ registry.ResolveRequest, r *registry.Resolved) {
			r.Platforms = append(r.Platforms, registry.Platform{OS: "unknown", Arch: "unknown", Digest: childDigest})
		})},
		{"another digest by digest", []string{"resolve"}, changed(func(req registry.ResolveRequest, r *registry.Resolved) {
			if strings.Contains(req.Ref, "@") {
				r.Digest = childDigest
			}
		})},
		{"believes any reference", []string{"bad-reference"},
			instead("registry.invalid/UPPER:1", func(context.Context) (*registry.Resolved, error) { return &registry.Resolved{}, nil })},
		{"missing is a failure", []string{"missing"},
			instead(":missing", func(context.Context) (*registry.Resolved, error) { return nil, errors.New("no") })},
		{"busy is down", []string{"failures"}, instead(":busy",
			func(context.Context) (*registry.Resolved, error) { return nil, upstreamError(codes.Unavailable) })},
		{"goes on after the end", []string{"cancel", "deadline"}, instead(":slow", func(context.Context) (*registry.Resolved, error) {
			time.Sleep(3 * time.Second)
			return nil, errors.New("late")
		})},
		{"panics", []string{"panics"}, instead(":missing", func(context.Context) (*registry.Resolved, error) { panic("oh") })},
		{"secret in an error", []string{"credential"}, instead(":missing", func(context.Context) (*registry.Resolved, error) {
			return nil, errs.New(errs.Upstream, codes.NotFound, errs.ReasonStatus, "hunter2")
		})},
		{"pages without an end", []string{"bad-request", "tags"}, func(g *goodRegistry) {
			g.tags = func(context.Context, registry.TagsRequest) (*registry.TagsPage, error) {
				return &registry.TagsPage{Next: "2"}, nil
			}
		}},
		{"the tag is not listed", []string{"tags"}, func(g *goodRegistry) {
			good := g.tags
			g.tags = func(ctx context.Context, req registry.TagsRequest) (*registry.TagsPage, error) {
				page, err := good(ctx, req)
				if err == nil {
					page.Next = ""
				}
				return page, err
			}
		}},
		{"another image's configuration", []string{"config"}, func(g *goodRegistry) {
			g.config = func(context.Context, registry.ConfigRequest) (*registry.ImageConfig, error) {
				return &registry.ImageConfig{Digest: indexDigest}, nil
			}
		}},
		{"credentials for others", []string{"credentials"},
			func(g *goodRegistry) { g.credentials = func([]string) []string { return []string{"x"} } }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			g := newGoodRegistry()
			tt.change(g)
			rep := g.run(t)
			if got := names(rep); fmt.Sprint(got) != fmt.Sprint(tt.want) {
				t.Errorf("failed are %v, want %v: %v", got, tt.want, rep.Err())
			}
		})
	}
}
