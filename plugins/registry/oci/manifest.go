package oci

import (
	"crypto/sha256"
	"crypto/sha512"
	"encoding/hex"
	"encoding/json"
	"mime"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/patchbay-dev/patchbay/sdk/errs"
	"github.com/patchbay-dev/patchbay/sdk/registry"
)

// Media types of manifests, and those of configurations that name a platform.
const (
	ociIndex       = "application/vnd.oci.image.index.v1+json"
	dockerList     = "application/vnd.docker.distribution.manifest.list.v2+json"
	ociManifest    = "application/vnd.oci.image.manifest.v1+json"
	dockerManifest = "application/vnd.docker.distribution.manifest.v2+json"
	ociConfig      = "application/vnd.oci.image.config.v1+json"
	dockerConfig   = "application/vnd.docker.container.image.v1+json"
	// oldConfig is what early versions of Docker wrote.
	oldConfig = "application/octet-stream"
)

const accepted = ociIndex + ", " + dockerList + ", " + ociManifest + ", " + dockerManifest

var digestPattern = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(sha256:[0-9a-f]{64}|sha512:[0-9a-f]{128})$`) })

func validDigest(digest string) bool { return digestPattern().MatchString(digest) }

// computeDigest returns the digest of body in the algorithm of another digest, sha256 without one.
func computeDigest(body []byte, like string) string {
	if strings.HasPrefix(like, "sha512:") {
		sum := sha512.Sum512(body)
		return "sha512:" + hex.EncodeToString(sum[:])
	}
	sum := sha256.Sum256(body)
	return "sha256:" + hex.EncodeToString(sum[:])
}

// descriptor points at a manifest or a configuration.
type descriptor struct {
	MediaType   string            `json:"mediaType"`
	Digest      string            `json:"digest"`
	Annotations map[string]string `json:"annotations"`
	Platform    *struct {
		OS           string `json:"os"`
		Architecture string `json:"architecture"`
		Variant      string `json:"variant"`
	} `json:"platform"`
}

// manifest is an index or a manifest of one image, as far as it matters here.
type manifest struct {
	digest, mediaType string
	Schema            int          `json:"schemaVersion"`
	MediaType         string       `json:"mediaType"`
	Manifests         []descriptor `json:"manifests"`
	Config            *descriptor  `json:"config"`
}

func (m *manifest) isIndex() bool { return m.mediaType == ociIndex || m.mediaType == dockerList }

// parseManifest reads a body that has the digest.
func (s *session) parseManifest(header http.Header, body []byte, digest string) (*manifest, error) {
	m := &manifest{digest: digest}
	if err := json.Unmarshal(body, m); err != nil {
		return nil, s.protocolError("%s gave a manifest that is not JSON", s)
	}
	m.mediaType = mediaType(header)
	if !slices.Contains([]string{ociIndex, dockerList, ociManifest, dockerManifest}, m.mediaType) {
		m.mediaType = m.MediaType
	}
	// The member mediaType may be missing in manifests of OCI.
	if m.mediaType == "" && m.Manifests != nil {
		m.mediaType = ociIndex
	} else if m.mediaType == "" {
		m.mediaType = ociManifest
	}
	switch {
	case m.Schema != 2:
		return nil, s.protocolError("%s gave a manifest of a version that is not supported", s)
	case !m.isIndex() && (m.Config == nil || !validDigest(m.Config.Digest)):
		return nil, s.protocolError("%s gave a manifest without a configuration", s)
	}
	for _, d := range m.Manifests {
		if !validDigest(d.Digest) {
			return nil, s.protocolError("%s gave an index with an entry that has no digest", s)
		}
	}
	return m, nil
}

func mediaType(header http.Header) string {
	kind, _, _ := mime.ParseMediaType(header.Get("Content-Type"))
	return kind
}

// imagePlatforms returns the entries of an index that are images.
func (m *manifest) imagePlatforms() (out []registry.Platform) {
	for _, d := range m.Manifests {
		p := d.Platform
		if d.Annotations["vnd.docker.reference.type"] == "attestation-manifest" || p == nil || p.OS == "" || p.Architecture == "" ||
			p.OS == "unknown" || p.Architecture == "unknown" {
			continue
		}
		out = append(out, registry.Platform{OS: p.OS, Arch: p.Architecture, Variant: p.Variant, Digest: d.Digest})
	}
	return out
}

// chooseDigest finds the digest for a platform: the exact one, or the only one of the same os and architecture.
func chooseDigest(all []registry.Platform, want registry.Platform) string {
	var close []registry.Platform
	for _, p := range all {
		if p.OS != want.OS || p.Arch != want.Arch {
			continue
		}
		if p.Variant == want.Variant {
			return p.Digest
		}
		close = append(close, p)
	}
	if len(close) == 1 {
		return close[0].Digest
	}
	return ""
}

var platformPattern = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[a-z0-9_.-]+/[a-z0-9_.-]+(/[a-z0-9_.-]+)?$`) })

// parsePlatform reads os/arch or os/arch/variant; empty is the zero value.
func parsePlatform(text string) (registry.Platform, error) {
	if text == "" {
		return registry.Platform{}, nil
	}
	text = strings.ToLower(text)
	if len(text) > 100 || !platformPattern().MatchString(text) {
		return registry.Platform{}, errs.BadInput(registry.ReasonInvalidRequest, "the platform must be os/arch or os/arch/variant")
	}
	parts := append(strings.Split(text, "/"), "")
	p := registry.Platform{OS: parts[0], Arch: parts[1], Variant: parts[2]}
	switch p.Arch {
	case "x86_64", "x86-64":
		p.Arch = "amd64"
	case "aarch64":
		p.Arch = "arm64"
	}
	return p, nil
}
