package testplugin

import (
	"context"
	"os"
	"strings"
	"syscall"
	"time"

	"google.golang.org/grpc/codes"

	"github.com/patchbay-dev/patchbay/sdk/codehost"
	"github.com/patchbay-dev/patchbay/sdk/dns"
	"github.com/patchbay-dev/patchbay/sdk/errs"
	"github.com/patchbay-dev/patchbay/sdk/framework"
	"github.com/patchbay-dev/patchbay/sdk/registry"
	"github.com/patchbay-dev/patchbay/sdk/schema"
	"github.com/patchbay-dev/patchbay/sdk/translator"
)

// Outcomes of calls to the plugin in the mode Upstream: a reference, repository or input that ends with one of these
// words ends the call so. All others succeed.
const (
	EndLimited = "limited"
	EndDenied  = "denied"
	EndMissing = "missing"
	EndDown    = "down"
	EndHang    = "hang"
	EndPanic   = "panic"
	EndCrash   = "crash"
)

// FailAs before the name of a class of fault.UpstreamClasses, at the end of a text, ends a call of any kind with such a failure.
const FailAs = "fail."

// failures are what upstreams answer, by class.
func failures() map[string]*errs.Error {
	limited := errs.New(errs.Upstream, codes.ResourceExhausted, errs.ReasonStatus, "10.0.0.7: slow down")
	limited.RetryAfter = LimitedFor
	return map[string]*errs.Error{
		"limited_until": limited,
		"limited":       errs.New(errs.Upstream, codes.ResourceExhausted, errs.ReasonStatus, "10.0.0.7: slow down"),
		"no_access":     errs.New(errs.Upstream, codes.PermissionDenied, errs.ReasonStatus, "10.0.0.7: no scope"),
		"not_found":     errs.New(errs.Upstream, codes.NotFound, errs.ReasonStatus, "10.0.0.7: no such thing"),
		"timeout":       errs.Unavailable(errs.ReasonTimeout, "10.0.0.7: slow"),
		"unreachable":   errs.Unavailable(errs.ReasonConnect, "10.0.0.7: refused"),
		"lost":          errs.Unavailable(errs.ReasonLost, "10.0.0.7: reset"),
		"wrong_answer":  errs.Unavailable(errs.ReasonProtocol, "10.0.0.7: not JSON"),
		"down":          errs.Unavailable(errs.ReasonStatus, "10.0.0.7: 503"),
		"refused":       errs.New(errs.Upstream, codes.InvalidArgument, errs.ReasonStatus, "10.0.0.7: 422"),
	}
}

// LimitedFor is when a call that ended with EndLimited may be made again.
const LimitedFor = 90 * time.Second

func upstreamPlugin() framework.Plugin {
	reg := registry.Definition[struct{}]{Build: func(registry.Instance, struct{}) (registry.Open, schema.Diagnostics) {
		return func(context.Context) (registry.Registry, error) { return images{}, nil }, nil
	}}
	host := codehost.Definition[struct{}]{Build: func(codehost.Instance, struct{}) (codehost.Open, schema.Diagnostics) {
		return func(context.Context) (codehost.CodeHost, error) { return repos{}, nil }, nil
	}}
	vendor := dns.Definition[struct{}]{CreateZones: true, MailRouting: true,
		Build: func(dns.Instance, struct{}) (dns.Open, schema.Diagnostics) {
			return func(context.Context) (dns.Provider, error) { return records{}, nil }, nil
		}}
	model := translator.Definition[struct{}]{Build: func(translator.Instance, struct{}) (translator.Open, schema.Diagnostics) {
		return func(context.Context) (translator.Translator, error) { return words{}, nil }, nil
	}}
	kinds := []framework.Kind{registry.New(reg), codehost.New(host), dns.New(vendor), translator.New(model)}
	return framework.Plugin{Name: "testplugin", Version: "1.0.0", Kinds: kinds}
}

func endAs(ctx context.Context, text string) error {
	if _, class, asked := strings.Cut(text, FailAs); asked {
		return failures()[class]
	}
	code := map[string]codes.Code{EndLimited: codes.ResourceExhausted, EndDenied: codes.Unauthenticated, EndMissing: codes.NotFound,
		EndDown: codes.Unavailable}
	for word, c := range code {
		if strings.HasSuffix(text, word) {
			e := errs.New(errs.Upstream, c, errs.ReasonStatus, "%s as asked", word)
			if word == EndLimited {
				e.RetryAfter = LimitedFor
			}
			return e
		}
	}
	switch {
	case strings.HasSuffix(text, EndHang):
		<-ctx.Done()
		return ctx.Err()
	case strings.HasSuffix(text, EndPanic):
		panic("as asked")
	case strings.HasSuffix(text, EndCrash):
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
		select {}
	}
	return nil
}

type images struct{ wellbeing }

// Hosts implements registry.Registry.
func (images) Hosts(context.Context) ([]string, error) { return []string{"one.example"}, nil }

// Resolve implements registry.Registry.
func (images) Resolve(ctx context.Context, req registry.ResolveRequest) (*registry.Resolved, error) {
	return &registry.Resolved{
		Digest: "sha256:1", MediaType: req.DockerConfig, Detailed: true, PlatformDigest: strings.Join(req.Known, ","),
		Platforms: []registry.Platform{{OS: "linux", Arch: "arm64", Variant: "v8", Digest: "sha256:2"}},
	}, endAs(ctx, req.Ref)
}

// Tags implements registry.Registry.
func (images) Tags(ctx context.Context, req registry.TagsRequest) (*registry.TagsPage, error) {
	return &registry.TagsPage{Tags: []string{"a", req.Cursor}, Next: "next"}, endAs(ctx, req.Repository)
}

// Config implements registry.Registry.
func (images) Config(ctx context.Context, req registry.ConfigRequest) (*registry.ImageConfig, error) {
	return &registry.ImageConfig{
		Digest: "sha256:2", OS: "linux", Arch: req.Platform, Labels: map[string]string{"a": "b"},
		Created: time.UnixMilli(1_700_000_000_123).UTC(),
	}, endAs(ctx, req.Ref)
}

// Credentials implements registry.Registry.
func (images) Credentials(_ context.Context, _ registry.Access, hosts []string) ([]string, error) {
	return hosts[:1], nil
}

type repos struct{ wellbeing }

// Resolve implements codehost.CodeHost.
func (repos) Resolve(ctx context.Context, token schema.Secret, input string) (*codehost.Resolution, error) {
	repo := codehost.Repo{FullName: "a/b", Visibility: token.Reveal(), LastActivity: time.UnixMilli(1_700_000_000_123).UTC()}
	return &codehost.Resolution{Kind: codehost.KindOwner, Owner: "a", Repos: []codehost.Repo{repo}, Warnings: []string{"w"}}, endAs(ctx, input)
}

// Hooks implements codehost.CodeHost.
func (repos) Hooks(ctx context.Context, _ schema.Secret, repo string) ([]codehost.Hook, error) {
	return []codehost.Hook{{ID: "1", URL: "https://one.example/", Events: []string{"package"}, Active: true, ContentType: "json"}},
		endAs(ctx, repo)
}

// CreateHook implements codehost.CodeHost.
func (r repos) CreateHook(ctx context.Context, token schema.Secret, repo string, spec codehost.HookSpec) (*codehost.Hook, error) {
	return r.UpdateHook(ctx, token, repo, "1", spec)
}

// UpdateHook implements codehost.CodeHost.
func (repos) UpdateHook(ctx context.Context, _ schema.Secret, repo, id string, spec codehost.HookSpec) (*codehost.Hook, error) {
	return &codehost.Hook{ID: id, URL: spec.URL, Events: spec.Events, Active: spec.Active, ContentType: spec.Secret.Reveal()}, endAs(ctx, repo)
}

// DeleteHook implements codehost.CodeHost.
func (repos) DeleteHook(ctx context.Context, _ schema.Secret, repo, _ string) error {
	return endAs(ctx, repo)
}

// ParseWebhook implements codehost.CodeHost.
func (repos) ParseWebhook(_ context.Context, d codehost.Delivery) (*codehost.Webhook, error) {
	if d.Signature != d.Secret.Reveal() {
		return nil, codehost.InvalidSignature("wrong as asked")
	}
	return &codehost.Webhook{
		Event: d.Event, Action: string(d.Body), Owner: "a", FullName: "a/b", Package: "c", PackageType: "container", Tags: []string{"1"},
		Digest: "sha256:1",
	}, nil
}
