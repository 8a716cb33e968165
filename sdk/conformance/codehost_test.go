package conformance

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc/codes"

	"github.com/patchbay-dev/patchbay/sdk/codehost"
	"github.com/patchbay-dev/patchbay/sdk/conformance/report"
	"github.com/patchbay-dev/patchbay/sdk/errs"
	"github.com/patchbay-dev/patchbay/sdk/framework"
	"github.com/patchbay-dev/patchbay/sdk/schema"
)

const hostToken = schema.Secret("token-of-the-host")

// goodHost keeps the contract; tests change single parts of it. A signature is the secret and the body.
type goodHost struct {
	resolve func(context.Context, schema.Secret, string) (*codehost.Resolution, error)
	parse   func(codehost.Delivery) (*codehost.Webhook, error)
	edit    func(*codehost.Hook)
	remove  error
	denied  error

	// meta changes what an answer says of a list.
	meta           func(list string, m *codehost.Meta)
	releaseID      string
	noTag          error
	keepsReactions bool
	// page is where a sign-in begins; "" for the right one. refusedCode answers every code.
	page        string
	refusedCode error

	mu    sync.Mutex
	hooks []codehost.Hook
	left  []string
}

func newGoodHost() *goodHost {
	g := &goodHost{edit: func(*codehost.Hook) {}, remove: upstreamError(codes.NotFound), denied: upstreamError(codes.Unauthenticated),
		noTag: upstreamError(codes.NotFound), refusedCode: upstreamError(codes.Unauthenticated), releaseID: "3"}
	g.resolve = g.look
	g.parse = g.read
	return g
}

func (g *goodHost) look(ctx context.Context, _ schema.Secret, input string) (*codehost.Resolution, error) {
	switch input {
	case "me":
		return &codehost.Resolution{Kind: codehost.KindOwner, Owner: "me", Repos: []codehost.Repo{{FullName: "me/a"}, {FullName: "me/b"}}}, nil
	case "me/a":
		return &codehost.Resolution{Kind: codehost.KindRepo, Owner: "me", Repos: []codehost.Repo{{FullName: "me/a"}}}, nil
	case "me/none":
		return nil, upstreamError(codes.NotFound)
	case "slow":
		<-ctx.Done()
		return nil, ctx.Err()
	}
	return nil, errs.BadInput(codehost.ReasonInvalidInput, "no")
}

func (g *goodHost) read(d codehost.Delivery) (*codehost.Webhook, error) {
	if d.Signature != d.Secret.Reveal()+string(d.Body) {
		return nil, codehost.InvalidSignature("no")
	}
	if string(d.Body) == "bad" {
		return nil, codehost.InvalidPayload("no")
	}
	return &codehost.Webhook{Event: d.Event, Tags: []string{"1"}}, nil
}

func (g *goodHost) Resolve(ctx context.Context, token schema.Secret, input string) (*codehost.Resolution, error) {
	return g.resolve(ctx, token, input)
}

func (g *goodHost) Hooks(_ context.Context, token schema.Secret, repo string) ([]codehost.Hook, error) {
	if token != hostToken {
		return nil, g.denied
	}
	if repo != "me/a" {
		return nil, upstreamError(codes.NotFound)
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	return slices.Clone(g.hooks), nil
}

func (g *goodHost) CreateHook(ctx context.Context, token schema.Secret, repo string, spec codehost.HookSpec) (*codehost.Hook, error) {
	g.mu.Lock()
	g.hooks = append(g.hooks, codehost.Hook{ID: "7"})
	g.mu.Unlock()
	return g.UpdateHook(ctx, token, repo, "7", spec)
}

func (g *goodHost) UpdateHook(_ context.Context, _ schema.Secret, _, id string, spec codehost.HookSpec) (*codehost.Hook, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	h := codehost.Hook{ID: id, URL: spec.URL, Events: spec.Events, Active: spec.Active}
	g.edit(&h)
	g.hooks[0] = h
	return &h, nil
}

func (g *goodHost) DeleteHook(context.Context, schema.Secret, string, string) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if len(g.hooks) == 0 {
		return g.remove
	}
	g.hooks = nil
	return nil
}

func (g *goodHost) ParseWebhook(_ context.Context, d codehost.Delivery) (*codehost.Webhook, error) {
	return g.parse(d)
}

func (g *goodHost) run(t *testing.T) report.Report {
	t.Helper()
	def := codehost.Definition[struct{}]{Capabilities: everyCapability,
		Build: func(codehost.Instance, struct{}) (codehost.Open, schema.Diagnostics) {
			return func(context.Context) (codehost.CodeHost, error) { return g, nil }, nil
		}}
	good := codehost.Delivery{Event: "package", Body: []byte("{}"), Secret: "hook-secret", Signature: "hook-secret{}"}
	bad := codehost.Delivery{Event: "package", Body: []byte("bad"), Secret: "hook-secret", Signature: "hook-secretbad"}
	return runSuite(t, framework.Plugin{Name: "good", Version: "1.0.0", Kinds: []framework.Kind{codehost.New(def)}}, CodeHostConfig{
		Token: hostToken, Repo: "me/a", ReleasesOf: "me/a", Missing: "me/none", Slow: "slow", Prompt: time.Second,
		Inputs: map[string]string{"me": codehost.KindOwner, "me/a": codehost.KindRepo},
		Deliveries: []CodeHostDelivery{{Delivery: good, Want: &codehost.Webhook{Event: "package", Tags: []string{"1"}}},
			{Delivery: bad, Reason: codehost.ReasonInvalidPayload}},
	}, CodeHost)
}

func TestGoodCodeHostPasses(t *testing.T) {
	wantWhole(t, newGoodHost().run(t))
}

func TestWrongCodeHosts(t *testing.T) {
	parses := func(pick string, then func(codehost.Delivery) (*codehost.Webhook, error)) func(*goodHost) {
		return func(g *goodHost) {
			g.parse = func(d codehost.Delivery) (*codehost.Webhook, error) {
				if string(d.Body) == pick {
					return then(d)
				}
				return g.read(d)
			}
		}
	}
	resolves := func(pick string, then func(context.Context, schema.Secret) (*codehost.Resolution, error)) func(*goodHost) {
		return func(g *goodHost) {
			g.resolve = func(ctx context.Context, token schema.Secret, input string) (*codehost.Resolution, error) {
				if input == pick {
					return then(ctx, token)
				}
				return g.look(ctx, token, input)
			}
		}
	}
	for _, tt := range []struct {
		name   string
		want   []string
		change func(*goodHost)
	}{
		{"reads before it checks", []string{"forged"},
			parses("not json", func(codehost.Delivery) (*codehost.Webhook, error) { return nil, codehost.InvalidPayload("no") })},
		{"believes all", []string{"forged"}, parses("not json",
			func(codehost.Delivery) (*codehost.Webhook, error) { return &codehost.Webhook{}, nil })},
		{"signature without space", []string{"deliveries"},
			parses("{} ", func(d codehost.Delivery) (*codehost.Webhook, error) { return &codehost.Webhook{}, nil })},
		{"loses tags", []string{"deliveries"}, parses("{}", func(d codehost.Delivery) (*codehost.Webhook, error) {
			w, err := newGoodHost().read(d)
			if err == nil {
				w.Tags = nil
			}
			return w, err
		})},
		{"a bad payload is a failure", []string{"deliveries", "errors"}, parses("bad", func(d codehost.Delivery) (*codehost.Webhook, error) {
			return nil, errs.New(errs.Plugin, codes.Internal, "not so good", "no")
		})},
		{"an owner as a repository", []string{"resolve"}, resolves("me", func(context.Context, schema.Secret) (*codehost.Resolution, error) {
			return &codehost.Resolution{Kind: codehost.KindRepo, Owner: "me", Repos: []codehost.Repo{{FullName: "me/a"}}}, nil
		})},
		{"a repository twice", []string{"resolve"}, resolves("me", func(context.Context, schema.Secret) (*codehost.Resolution, error) {
			return &codehost.Resolution{Kind: codehost.KindOwner, Owner: "me", Repos: []codehost.Repo{{FullName: "me/a"}, {FullName: "me/a"}}}, nil
		})},
		{"believes any input", []string{"bad-request"},
			resolves("a b", func(context.Context, schema.Secret) (*codehost.Resolution, error) { return &codehost.Resolution{}, nil })},
		{"missing is the caller's fault", []string{"missing"},
			resolves("me/none", func(context.Context, schema.Secret) (*codehost.Resolution, error) {
				return nil, errs.NotFound("NO", "no")
			})},
		{"goes on after the end", []string{"cancel", "deadline"},
			resolves("slow", func(context.Context, schema.Secret) (*codehost.Resolution, error) {
				time.Sleep(3 * time.Second)
				return nil, errors.New("late")
			})},
		{"panics", []string{"panics"}, resolves("me/none", func(context.Context, schema.Secret) (*codehost.Resolution, error) { panic("oh") })},
		{"the token in an error", []string{"credential"},
			resolves("me/none", func(_ context.Context, token schema.Secret) (*codehost.Resolution, error) {
				return nil, errs.New(errs.Upstream, codes.NotFound, errs.ReasonStatus, "%s", strings.Clone(token.Reveal()))
			})},
		{"accepts a wrong token", []string{"token", "account"}, func(g *goodHost) { g.denied = nil }},
		{"the secret as the address", []string{"hooks"}, func(g *goodHost) { g.edit = func(h *codehost.Hook) { h.URL = "x" } }},
		{"a page without the challenge", []string{"oauth"},
			func(g *goodHost) { g.page = "https://code.example.com/authorize?response_type=code" }},
		{"a code of nobody", []string{"oauth"}, func(g *goodHost) { g.refusedCode = nil }},
		{"deletes twice", []string{"hooks"}, func(g *goodHost) { g.remove = nil }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			g := newGoodHost()
			tt.change(g)
			rep := g.run(t)
			if got := names(rep); fmt.Sprint(got) != fmt.Sprint(tt.want) {
				t.Errorf("failed are %v, want %v: %v", got, tt.want, rep.Err())
			}
		})
	}
}
