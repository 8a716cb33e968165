package conformance

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"

	"github.com/patchbay-dev/patchbay/sdk/errs"
	"github.com/patchbay-dev/patchbay/sdk/registry"
)

// RegistryConfig tells how to use a registry plugin. The suite reads only.
type RegistryConfig struct {
	// JSON is a config block that the plugin accepts; empty means one without members. Invalid are blocks that it must
	// refuse, beyond those that the suite makes from the schema.
	JSON    string
	Invalid []string
	Access  registry.Access
	// Ref is a reference with a tag that exists, and Platform one that it has; without Ref nothing is asked of a registry.
	Ref, Platform string
	// Missing are references that do not exist, at registries that answer.
	Missing []string
	// Failures are references, by the code that resolving them must end with.
	Failures map[string]codes.Code
	// Slow is a reference whose registry does not answer within 10 seconds; empty leaves those checks out.
	Slow string
	// Secrets are the secrets that the plugin gets to see: texts that are found nowhere else.
	Secrets []string
	// BaseDir is the directory of the configuration file.
	BaseDir string
	// Logs returns what the plugin has logged so far; nil if that cannot be known.
	Logs func() string
	// Timeout bounds each call (30 s). Prompt bounds the end of a call whose context has ended, and the removal of an
	// instance that serves no call (5 s).
	Timeout, Prompt time.Duration
}

type registryRun struct {
	*base
	cfg RegistryConfig
}

// Registry runs all checks of the registry kind over a connection to a plugin. The plugin is stopped at the end; its
// process is the caller's to end.
func Registry(ctx context.Context, conn grpc.ClientConnInterface, cfg RegistryConfig) Report {
	b, done := newBase(conn, registry.Kind, registry.Service, common{
		json: cfg.JSON, invalid: cfg.Invalid, baseDir: cfg.BaseDir, logs: cfg.Logs, timeout: cfg.Timeout, prompt: cfg.Prompt, secrets: cfg.Secrets,
	})
	defer done()
	r := &registryRun{base: b, cfg: cfg}
	b.answers = func(ctx context.Context, id string) bool {
		_, err := r.loginHosts(ctx, id)
		return isPresent(err)
	}
	return r.runSuite(ctx, suite{checks: []check{
		{name: "unknown-instance", do: r.unknownInstance},
		{name: "bad-reference", do: r.badReference},
		{name: "bad-request", do: r.badRequest},
		{name: "credentials", do: r.checkCredentials},
		{name: "resolve", do: r.resolveAll},
		{name: "tags", do: r.checkTags},
		{name: "config", do: r.checkConfig},
		{name: "missing", do: r.checkMissing},
		{name: "failures", do: r.checkFailures},
		{name: "concurrency", do: r.checkConcurrency},
		{name: "cancel", do: cancelEarly(r.cutShort)},
		{name: "deadline", do: expireEarly(r.cutShort)},
	}})
}

func (r *registryRun) clientAt(id string) *registry.Client { return registry.NewClient(r.conn, id) }

func (r *registryRun) loginHosts(ctx context.Context, id string) ([]string, error) {
	ctx, cancel := r.withTimeout(ctx)
	defer cancel()
	hosts, err := r.clientAt(id).Hosts(ctx)
	return hosts, r.inspectError("hosts", err)
}

func (r *registryRun) resolveReference(ctx context.Context, id string, req registry.ResolveRequest) (*registry.Resolved, error) {
	ctx, cancel := r.withTimeout(ctx)
	defer cancel()
	req.Access = r.cfg.Access
	got, err := r.clientAt(id).Resolve(ctx, req)
	return got, r.inspectError("resolve", err)
}

func (r *registryRun) unknownInstance(ctx context.Context) error {
	return errors.Join(
		r.checkUnknownInstances(func(id string) error { _, err := r.loginHosts(ctx, id); return err }),
		r.checkUnknownInstances(func(id string) error {
			_, err := r.resolveReference(ctx, id, registry.ResolveRequest{Ref: "registry.invalid/a:1"})
			return err
		}))
}

// callersFault tells what is wrong with the refusal of a bad call.
func callersFault(what string, err error) error {
	if errors.Is(err, errPanic) {
		return err
	}
	if e := errs.From(err); e == nil || e.Source != errs.Caller {
		return fmt.Errorf("%s should be refused as the caller's fault; got: %v", what, err)
	}
	return nil
}

func (r *registryRun) badReference(ctx context.Context) error {
	for _, ref := range []string{
		"", " ", "https://registry.invalid/a:1", "registry.invalid/UPPER:1", "registry.invalid/a:", "registry.invalid/a@sha256:abc",
		"registry.invalid/../a:1", "registry.invalid/a:1\r\nx", "registry.invalid/" + strings.Repeat("a/", 5000) + "a",
	} {
		_, err := r.resolveReference(ctx, r.main, registry.ResolveRequest{Ref: ref})
		if err := callersFault(fmt.Sprintf("the reference %.60q", ref), err); err != nil {
			return err
		}
	}
	return nil
}

func (r *registryRun) badRequest(ctx context.Context) error {
	ctx, cancel := r.withTimeout(ctx)
	defer cancel()
	for _, req := range []registry.TagsRequest{
		{Repository: "registry.invalid/a"}, {Repository: "registry.invalid/a", Limit: registry.MaxTags + 1},
		{Repository: "registry.invalid/a", Limit: 1, Cursor: "conformance \x00"}, {Repository: "registry.invalid/a:1", Limit: 1},
	} {
		_, err := r.clientAt(r.main).Tags(ctx, req)
		if err := callersFault(fmt.Sprintf("the list %+v", req), r.inspectError("tags", err)); err != nil {
			return err
		}
	}
	_, err := r.clientAt(r.main).Resolve(ctx, registry.ResolveRequest{Ref: "registry.invalid/a:1", Platform: "no platform"})
	return callersFault("a platform that is none", r.inspectError("resolve", err))
}

func (r *registryRun) checkCredentials(ctx context.Context) error {
	ctx, cancel := r.withTimeout(ctx)
	defer cancel()
	asked := []string{"registry.invalid", "second.invalid:5000"}
	got, err := r.clientAt(r.main).Credentials(ctx, r.cfg.Access, asked)
	if r.inspectError("credentials", err) != nil {
		return err
	}
	for _, h := range got {
		if !slices.Contains(asked, h) {
			return fmt.Errorf("credentials for %q, which was not asked for", h)
		}
	}
	return nil
}

var digestPattern = regexp.MustCompile(`^[a-z0-9]+:[0-9a-f]{32,}$`)
