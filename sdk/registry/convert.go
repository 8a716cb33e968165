package registry

import (
	"time"

	registryv1 "github.com/patchbay-dev/patchbay/sdk/proto/patchbay/registry/v1"
)

func (a Access) toProto() *registryv1.Access {
	if a == (Access{}) {
		return nil
	}
	return &registryv1.Access{DockerConfig: a.DockerConfig}
}

func accessFrom(p *registryv1.Access) Access { return Access{DockerConfig: p.GetDockerConfig()} }

func resolveFrom(p *registryv1.ResolveRequest) ResolveRequest {
	return ResolveRequest{Access: accessFrom(p.GetAccess()), Ref: p.GetRef(), Known: p.GetKnown(), Platform: p.GetPlatform(),
		DigestOnly: p.GetDigestOnly()}
}

func tagsFrom(p *registryv1.TagsRequest) TagsRequest {
	return TagsRequest{Access: accessFrom(p.GetAccess()), Repository: p.GetRepository(), Cursor: p.GetCursor(), Limit: int(p.GetLimit())}
}

func (r *Resolved) toProto() *registryv1.ResolveResponse {
	if r == nil {
		return nil
	}
	out := &registryv1.ResolveResponse{Digest: r.Digest, MediaType: r.MediaType, Detailed: r.Detailed, PlatformDigest: r.PlatformDigest}
	for _, p := range r.Platforms {
		out.Platforms = append(out.Platforms, &registryv1.Platform{Os: p.OS, Arch: p.Arch, Variant: p.Variant, Digest: p.Digest})
	}
	return out
}

func resolvedFrom(p *registryv1.ResolveResponse) *Resolved {
	out := &Resolved{Digest: p.GetDigest(), MediaType: p.GetMediaType(), Detailed: p.GetDetailed(), PlatformDigest: p.GetPlatformDigest()}
	for _, e := range p.GetPlatforms() {
		out.Platforms = append(out.Platforms, Platform{OS: e.GetOs(), Arch: e.GetArch(), Variant: e.GetVariant(), Digest: e.GetDigest()})
	}
	return out
}

func (c *ImageConfig) toProto() *registryv1.ConfigResponse {
	if c == nil {
		return nil
	}
	out := &registryv1.ConfigResponse{Digest: c.Digest, Os: c.OS, Arch: c.Arch, Variant: c.Variant, Labels: c.Labels}
	if !c.Created.IsZero() {
		out.CreatedUnixMs = c.Created.UnixMilli()
	}
	return out
}

func configFrom(p *registryv1.ConfigResponse) *ImageConfig {
	out := &ImageConfig{Digest: p.GetDigest(), OS: p.GetOs(), Arch: p.GetArch(), Variant: p.GetVariant(), Labels: p.GetLabels()}
	if ms := p.GetCreatedUnixMs(); ms != 0 {
		out.Created = time.UnixMilli(ms).UTC()
	}
	return out
}
