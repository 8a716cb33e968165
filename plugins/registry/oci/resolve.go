package oci

import (
	"cmp"
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"time"

	"google.golang.org/grpc/codes"

	"github.com/patchbay-dev/patchbay/plugins/internal/texts"
	"github.com/patchbay-dev/patchbay/sdk/errs"
	sharedv1 "github.com/patchbay-dev/patchbay/sdk/proto/patchbay/shared/v1"
	"github.com/patchbay-dev/patchbay/sdk/registry"
)

// Resolve implements registry.Registry.
func (r *reader) Resolve(ctx context.Context, req registry.ResolveRequest) (*registry.Resolved, error) {
	n, err := parseRef(req.Ref)
	if err != nil {
		return nil, err
	}
	want, err := parsePlatform(req.Platform)
	if err != nil {
		return nil, err
	}
	s, err := r.sessionFor(n, req.Access)
	if err != nil {
		return nil, err
	}
	head, err := s.readDigest(ctx, n)
	if err != nil {
		return nil, err
	}
	if head != nil && (req.DigestOnly || slices.Contains(req.Known, head.digest)) {
		return &registry.Resolved{Digest: head.digest, MediaType: head.mediaType}, nil
	}
	if head != nil {
		n.digest = head.digest
	}
	m, err := s.fetchManifest(ctx, n)
	if err != nil {
		return nil, err
	}
	return s.readDetails(ctx, n, m, want)
}

// readDigest asks for the digest alone, conditionally where the registry has answered before: then it need not read the manifest. It is
// nil where the registry does not say the digest in this way.
func (s *session) readDigest(ctx context.Context, n name) (*manifest, error) {
	ref := n.String()
	last := s.lastHead(ref)
	got, err := s.askRegistry(ctx, question{method: http.MethodHead, repo: n.path, path: "manifests/" + n.manifestReference(),
		accept: accepted, etag: last.expectedETag()})
	if e := errs.From(err); e != nil {
		if status := e.Upstream.GetHttpStatus(); status == http.StatusMethodNotAllowed || status == http.StatusNotImplemented ||
			status == http.StatusNotFound {
			// Some registries answer HEAD for what they have to fetch first with 404.
			return nil, nil
		}
		return nil, err
	}
	digest, expected := got.header.Get("Docker-Content-Digest"), n.digest
	if got.unchanged {
		digest, expected = cmp.Or(digest, last.digest), last.digest
	}
	switch {
	case !validDigest(digest):
		return nil, nil
	case expected != "" && digest != expected:
		return nil, s.protocolError("%s: the registry names another digest than the one that was asked for", n)
	case got.unchanged:
		return &manifest{digest: last.digest, mediaType: last.mediaType}, nil
	}
	m := &manifest{digest: digest, mediaType: mediaType(got.header)}
	s.rememberHead(ref, headAnswer{m.digest, m.mediaType}, got.header.Get("Etag"))
	return m, nil
}

// fetchManifest fetches what a reference names and compares its digest with what was promised.
func (s *session) fetchManifest(ctx context.Context, n name) (*manifest, error) {
	got, err := s.askRegistry(ctx, question{method: http.MethodGet, repo: n.path, path: "manifests/" + n.manifestReference(),
		accept: accepted, limit: maxManifest})
	if err != nil {
		return nil, err
	}
	promised := n.digest
	if promised == "" {
		promised = got.header.Get("Docker-Content-Digest")
	}
	digest := computeDigest(got.body, promised)
	if promised != "" && promised != digest {
		return nil, s.protocolError("%s: the manifest does not have the digest that was promised", n)
	}
	return s.parseManifest(got.header, got.body, digest)
}

func (s *session) readDetails(ctx context.Context, n name, m *manifest, want registry.Platform) (*registry.Resolved, error) {
	out := &registry.Resolved{Digest: m.digest, MediaType: m.mediaType, Detailed: true}
	if m.isIndex() {
		out.Platforms = m.imagePlatforms()
		out.PlatformDigest = chooseDigest(out.Platforms, want)
		return out, nil
	}
	out.PlatformDigest = m.digest
	if m.Config.MediaType == oldConfig {
		return out, nil
	}
	if m.Config.MediaType != ociConfig && m.Config.MediaType != dockerConfig {
		return nil, errs.New(errs.Upstream, codes.FailedPrecondition, "NO_IMAGE",
			"%s is no image that an engine can run: its configuration is %s", n, texts.Truncate(cmp.Or(m.Config.MediaType, "missing"), 100))
	}
	c, err := s.fetchConfig(ctx, n, m)
	if err != nil {
		return nil, err
	}
	if c.OS != "" && c.Architecture != "" {
		out.Platforms = []registry.Platform{{OS: c.OS, Arch: c.Architecture, Variant: c.Variant, Digest: m.digest}}
	}
	return out, nil
}

// imageConfig is the configuration of an image, as far as it matters here.
type imageConfig struct {
	OS           string `json:"os"`
	Architecture string `json:"architecture"`
	Variant      string `json:"variant"`
	Created      string `json:"created"`
	Config       struct {
		Labels map[string]string `json:"Labels"`
	} `json:"config"`
}

func (s *session) fetchConfig(ctx context.Context, n name, m *manifest) (*imageConfig, error) {
	digest := m.Config.Digest
	got, err := s.askRegistry(ctx, question{method: http.MethodGet, repo: n.path, path: "blobs/" + digest, limit: maxConfig})
	if err != nil {
		return nil, err
	}
	if computeDigest(got.body, digest) != digest {
		return nil, s.protocolError("%s: the configuration does not have the digest that was promised", n)
	}
	c := &imageConfig{}
	if err := json.Unmarshal(got.body, c); err != nil {
		return nil, s.protocolError("%s: the configuration of the image cannot be read", n)
	}
	return c, nil
}

// Config implements registry.Registry.
func (r *reader) Config(ctx context.Context, req registry.ConfigRequest) (*registry.ImageConfig, error) {
	n, err := parseRef(req.Ref)
	if err != nil {
		return nil, err
	}
	want, err := parsePlatform(req.Platform)
	if err != nil {
		return nil, err
	}
	s, err := r.sessionFor(n, req.Access)
	if err != nil {
		return nil, err
	}
	m, err := s.fetchSingle(ctx, n, want)
	if err != nil {
		return nil, err
	}
	c, err := s.fetchConfig(ctx, n, m)
	if err != nil {
		return nil, err
	}
	out := &registry.ImageConfig{Digest: m.digest, OS: c.OS, Arch: c.Architecture, Variant: c.Variant, Labels: c.Config.Labels}
	if at, err := time.Parse(time.RFC3339Nano, c.Created); err == nil && at.Unix() > 0 {
		out.Created = at.UTC()
	}
	return out, nil
}

// fetchSingle returns the manifest of one image: the one that is named, or that of a platform within an index.
func (s *session) fetchSingle(ctx context.Context, n name, want registry.Platform) (*manifest, error) {
	m, err := s.fetchManifest(ctx, n)
	if err != nil || !m.isIndex() {
		return m, err
	}
	all := m.imagePlatforms()
	digest := chooseDigest(all, want)
	if want == (registry.Platform{}) && len(all) == 1 {
		digest = all[0].Digest
	}
	if digest == "" {
		e := errs.New(errs.Upstream, codes.NotFound, "NO_PLATFORM", "%s: there is no image for the platform %q", n, want.String())
		e.Upstream = &sharedv1.UpstreamError{HttpStatus: http.StatusOK, Host: s.host}
		return nil, e
	}
	n.digest = digest
	if m, err = s.fetchManifest(ctx, n); err == nil && m.isIndex() {
		return nil, s.protocolError("%s: an index names another index where an image should be", n)
	}
	return m, err
}
