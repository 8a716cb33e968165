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

	"github.com/patchbay-dev/patchbay/sdk/conformance/internal/suite"
	"github.com/patchbay-dev/patchbay/sdk/conformance/report"
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
	*suite.Run
	cfg RegistryConfig
}

// Registry runs all checks of the registry kind over a connection to a plugin. The plugin is stopped at the end; its
// process is the caller's to end.
func Registry(ctx context.Context, conn grpc.ClientConnInterface, cfg RegistryConfig) report.Report {
	b, done := suite.New(conn, registry.Kind, registry.Service, suite.Settings{
		JSON: cfg.JSON, Invalid: cfg.Invalid, BaseDir: cfg.BaseDir, Logs: cfg.Logs, Timeout: cfg.Timeout, Prompt: cfg.Prompt,
		Secrets: cfg.Secrets,
	})
	defer done()
	r := &registryRun{Run: b, cfg: cfg}
	b.Answers = func(ctx context.Context, id string) bool {
		_, err := r.loginHosts(ctx, id)
		return suite.IsPresent(err)
	}
	return r.Perform(ctx, suite.Checks{List: []suite.Check{
		{Name: "unknown-instance", Perform: r.unknownInstance},
		{Name: "bad-reference", Perform: r.badReference},
		{Name: "bad-request", Perform: r.badRequest},
		{Name: "credentials", Perform: r.checkCredentials},
		{Name: "resolve", Perform: r.resolveAll},
		{Name: "tags", Perform: r.checkTags},
		{Name: "config", Perform: r.checkConfig},
		{Name: "missing", Perform: r.checkMissing},
		{Name: "failures", Perform: r.checkFailures},
		{Name: "concurrency", Perform: r.checkConcurrency},
		{Name: "cancel", Perform: suite.CancelEarly(r.cutShort)},
		{Name: "deadline", Perform: suite.ExpireEarly(r.cutShort)},
	}})
}

func (r *registryRun) clientAt(id string) *registry.Client { return registry.NewClient(r.Conn, id) }

func (r *registryRun) loginHosts(ctx context.Context, id string) ([]string, error) {
	ctx, cancel := r.WithTimeout(ctx)
	defer cancel()
	hosts, err := r.clientAt(id).Hosts(ctx)
	return hosts, r.InspectError("hosts", err)
}

func (r *registryRun) resolveReference(ctx context.Context, id string, req registry.ResolveRequest) (*registry.Resolved, error) {
	ctx, cancel := r.WithTimeout(ctx)
	defer cancel()
	req.Access = r.cfg.Access
	got, err := r.clientAt(id).Resolve(ctx, req)
	return got, r.InspectError("resolve", err)
}

func (r *registryRun) unknownInstance(ctx context.Context) error {
	return errors.Join(
		r.CheckUnknownInstances(func(id string) error { _, err := r.loginHosts(ctx, id); return err }),
		r.CheckUnknownInstances(func(id string) error {
			return suite.ErrorAlone(r.resolveReference(ctx, id, registry.ResolveRequest{Ref: "registry.invalid/a:1"}))
		}))
}

func (r *registryRun) badReference(ctx context.Context) error {
	for _, ref := range []string{
		"", " ", "https://registry.invalid/a:1", "registry.invalid/UPPER:1", "registry.invalid/a:", "registry.invalid/a@sha256:abc",
		"registry.invalid/../a:1", "registry.invalid/a:1\r\nx", "registry.invalid/" + strings.Repeat("a/", 5000) + "a",
	} {
		_, err := r.resolveReference(ctx, r.MainID, registry.ResolveRequest{Ref: ref})
		if err := suite.RequireCallerFault(fmt.Sprintf("the reference %.60q", ref), err); err != nil {
			return err
		}
	}
	return nil
}

func (r *registryRun) badRequest(ctx context.Context) error {
	ctx, cancel := r.WithTimeout(ctx)
	defer cancel()
	for _, req := range []registry.TagsRequest{
		{Repository: "registry.invalid/a"}, {Repository: "registry.invalid/a", Limit: registry.MaxTags + 1},
		{Repository: "registry.invalid/a", Limit: 1, Cursor: "conformance \x00"}, {Repository: "registry.invalid/a:1", Limit: 1},
	} {
		_, err := r.clientAt(r.MainID).Tags(ctx, req)
		if err := suite.RequireCallerFault(fmt.Sprintf("the list %+v", req), r.InspectError("tags", err)); err != nil {
			return err
		}
	}
	_, err := r.clientAt(r.MainID).Resolve(ctx, registry.ResolveRequest{Ref: "registry.invalid/a:1", Platform: "no platform"})
	return suite.RequireCallerFault("a platform that is none", r.InspectError("resolve", err))
}

func (r *registryRun) checkCredentials(ctx context.Context) error {
	ctx, cancel := r.WithTimeout(ctx)
	defer cancel()
	asked := []string{"registry.invalid", "second.invalid:5000"}
	got, err := r.clientAt(r.MainID).Credentials(ctx, r.cfg.Access, asked)
	if r.InspectError("credentials", err) != nil {
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
