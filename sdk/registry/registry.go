// Package registry is what the author of a registry plugin implements, and what a caller of one uses.
//
// A registry plugin reads image registries: what a tag stands for, which tags there are, what an image says of itself.
// It never pulls and never retries: retries, back-off and the cool-down of a host that limits requests are the host's.
package registry

import (
	"context"
	"time"

	"github.com/patchbay-dev/patchbay/sdk/framework"
	"github.com/patchbay-dev/patchbay/sdk/schema"
)

// Instance is what the host tells about a configured instance.
type Instance = framework.Instance

// Kind is the word for this kind in plugin.hcl; Service is its gRPC service.
const (
	Kind    = "registry"
	Service = "patchbay.registry.v1.Registry"
)

// MaxTags is the most tags that one page may hold.
const MaxTags = 1000

// Registry reads registries. Calls come concurrently. Errors are made with package errs: a registry that limits requests
// is RESOURCE_EXHAUSTED with RetryInfo if it said when, one that wants other credentials UNAUTHENTICATED or
// PERMISSION_DENIED, an image or tag that does not exist NOT_FOUND, one that is down, slow or talks nonsense UNAVAILABLE.
// All of these carry the source upstream and the HTTP status that came.
type Registry interface {
	// Hosts are the registry hosts that the instance serves, such as "ghcr.io" or "localhost:5000"; none means any.
	Hosts(ctx context.Context) ([]string, error)
	// Resolve tells what a reference stands for at present. It asks with HEAD, and fetches the manifest only if the digest is
	// not among those known.
	Resolve(ctx context.Context, req ResolveRequest) (*Resolved, error)
	// Tags lists one page of a repository's tags, in the registry's order.
	Tags(ctx context.Context, req TagsRequest) (*TagsPage, error)
	// Config reads the configuration of the image for one platform.
	Config(ctx context.Context, req ConfigRequest) (*ImageConfig, error)
	// Credentials tells for which of the given hosts there are credentials. It asks no registry.
	Credentials(ctx context.Context, access Access, hosts []string) ([]string, error)
}

// Access is how a call reaches registries. The zero value is anonymous.
type Access struct {
	// DockerConfig is the path of a Docker client configuration: the file config.json or the directory that holds it.
	// auths, credHelpers and credsStore are honoured. Empty means what the instance's configuration says.
	DockerConfig string
}

// ResolveRequest asks for one reference.
type ResolveRequest struct {
	Access
	// Ref is a full reference: host/repository:tag or host/repository@sha256:….
	Ref string
	// Known are digests of which the caller needs no details.
	Known []string
	// Platform is os/arch or os/arch/variant; it chooses Resolved.PlatformDigest.
	Platform string
	// DigestOnly asks for no details at all: the manifest is not fetched if the registry tells the digest without.
	DigestOnly bool
}

// Resolved is what a reference stands for.
type Resolved struct {
	// Digest is that of the manifest or index that the reference names.
	Digest    string
	MediaType string
	// Detailed tells that the manifest was fetched; the members below are empty otherwise.
	Detailed bool
	// Platforms are those of an index, or the one of a single manifest if its configuration names it. Attestations are
	// left out.
	Platforms []Platform
	// PlatformDigest is the digest of the manifest for the platform that was asked for: the exact one, or the only one of
	// the same os and architecture. It is Digest for a single manifest, and empty if there is none.
	PlatformDigest string
}

// Platform is one entry of an index.
type Platform struct {
	// OS, Arch and Variant are in the words of the OCI image specification, such as linux, arm64 and v8.
	OS, Arch, Variant string
	Digest            string
}

// String is os/arch or os/arch/variant.
func (p Platform) String() string {
	if p.Variant == "" {
		return p.OS + "/" + p.Arch
	}
	return p.OS + "/" + p.Arch + "/" + p.Variant
}

// TagsRequest asks for a page of tags.
type TagsRequest struct {
	Access
	// Repository is host/repository.
	Repository string
	// Cursor is that of the page before; empty for the first.
	Cursor string
	// Limit is how many tags are wanted, 1 to MaxTags. A registry may give fewer or more.
	Limit int
}

// TagsPage is a page of tags.
type TagsPage struct {
	Tags []string
	// Next is the cursor of the next page; empty on the last.
	Next string
}

// ConfigRequest asks for an image's configuration.
type ConfigRequest struct {
	Access
	// Ref is a full reference.
	Ref string
	// Platform chooses within an index; os/arch or os/arch/variant.
	Platform string
}

// ImageConfig is what an image says of itself.
type ImageConfig struct {
	// Digest is that of the platform's manifest.
	Digest            string
	OS, Arch, Variant string
	Labels            map[string]string
	// Created is zero if the image does not say.
	Created time.Time
}

// Definition declares a registry plugin whose config block is a C.
type Definition[C any] struct {
	// Build checks a configuration and returns what makes the registry. It is pure: no network, no files written. Both
	// Validate and Configure call it.
	Build func(inst Instance, cfg C) (Open, schema.Diagnostics)
}

// Open makes a registry ready for calls. One that is an io.Closer is closed when its instance is removed.
type Open func(ctx context.Context) (Registry, error)
