package fake

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"google.golang.org/grpc/codes"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/sdk/errs"
	"github.com/patchbay-dev/patchbay/sdk/registry"
)

// RegistryMissing is the error for what does not exist.
func RegistryMissing(ref string) error {
	return fault.FromPlugin("registry.fake", upstreamError(codes.NotFound, 404, ref, "there is no such image"))
}

// RegistryDenied is the error of a registry that wants other credentials.
func RegistryDenied(ref string) error {
	return fault.FromPlugin("registry.fake", upstreamError(codes.Unauthenticated, 401, ref, "the registry wants credentials"))
}

// RegistryLimited is the error of a registry that limits requests; 0 means that it did not say for how long.
func RegistryLimited(ref string, after time.Duration) error {
	e := upstreamError(codes.ResourceExhausted, 429, ref, "the registry is rate limited")
	e.RetryAfter = after
	return fault.FromPlugin("registry.fake", e)
}

// RegistryUnreachable is the error of a registry that does not answer.
func RegistryUnreachable(ref string) error {
	host, _, _ := strings.Cut(ref, "/")
	return fault.FromPlugin("registry.fake", errs.Unavailable(errs.ReasonConnect, "%s: cannot connect", host))
}

// Hosts implements client.Registry.
func (r *Registry) Hosts(context.Context) ([]string, error) { return slices.Clone(r.hosts), nil }

// Resolve implements client.Registry.
func (r *Registry) Resolve(ctx context.Context, req registry.ResolveRequest) (*registry.Resolved, error) {
	c := RegistryCall{Method: "resolve", Ref: req.Ref, Known: slices.Clone(req.Known), Platform: req.Platform, DockerConfig: req.DockerConfig}
	if err := r.beginCall(ctx, c); err != nil {
		return nil, err
	}
	defer r.mu.Unlock()
	image, err := r.findImage(req.Ref)
	if err != nil {
		return nil, err
	}
	out := &registry.Resolved{Digest: image.Digest, MediaType: "application/vnd.oci.image.index.v1+json"}
	if _, digest, ok := strings.Cut(req.Ref, "@"); ok {
		out.Digest = digest
	}
	if slices.Contains(req.Known, out.Digest) {
		return out, nil
	}
	out.Detailed, out.Platforms = true, slices.Clone(image.Platforms)
	out.PlatformDigest = choosePlatform(image.Platforms, req.Platform)
	return out, nil
}

// choosePlatform returns the exact platform, or the only one of the same os and architecture.
func choosePlatform(all []registry.Platform, platform string) string {
	var close []registry.Platform
	for _, p := range all {
		if p.String() == platform {
			return p.Digest
		}
		if strings.HasPrefix(platform+"/", p.OS+"/"+p.Arch+"/") {
			close = append(close, p)
		}
	}
	if len(close) == 1 {
		return close[0].Digest
	}
	return ""
}

// Tags implements client.Registry. Cursors are numbers.
func (r *Registry) Tags(ctx context.Context, req registry.TagsRequest) (*registry.TagsPage, error) {
	if err := r.beginCall(ctx, RegistryCall{Method: "tags", Ref: req.Repository, DockerConfig: req.DockerConfig}); err != nil {
		return nil, err
	}
	defer r.mu.Unlock()
	tags, ok := r.tags[req.Repository]
	if !ok {
		return nil, RegistryMissing(req.Repository)
	}
	from, _ := strconv.Atoi(req.Cursor)
	from = min(max(from, 0), len(tags))
	to := min(from+max(req.Limit, 1), len(tags))
	out := &registry.TagsPage{Tags: slices.Clone(tags[from:to])}
	if to < len(tags) {
		out.Next = strconv.Itoa(to)
	}
	return out, nil
}

// Config implements client.Registry.
func (r *Registry) Config(ctx context.Context, req registry.ConfigRequest) (*registry.ImageConfig, error) {
	c := RegistryCall{Method: "config", Ref: req.Ref, Platform: req.Platform, DockerConfig: req.DockerConfig}
	if err := r.beginCall(ctx, c); err != nil {
		return nil, err
	}
	defer r.mu.Unlock()
	image, err := r.findImage(req.Ref)
	if err != nil {
		return nil, err
	}
	out := image.Config
	if out.Digest == "" {
		out.Digest = image.Digest
	}
	return &out, nil
}

// Credentials implements client.Registry.
func (r *Registry) Credentials(_ context.Context, _ registry.Access, hosts []string) (out []string, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, h := range hosts {
		if slices.Contains(r.credentials, h) {
			out = append(out, h)
		}
	}
	return out, nil
}
