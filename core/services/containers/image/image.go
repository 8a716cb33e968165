// Package image reads references of container images.
package image

import (
	"errors"
	"fmt"
	"strings"

	"github.com/distribution/reference"
)

// maxRef is the longest reference in bytes.
const maxRef = 1024

// Ref is a reference in its parts.
type Ref struct {
	// Host is the registry, such as docker.io or localhost:5000; Path the repository within it.
	Host, Path string
	// Tag is empty for a reference that names a digest alone; "latest" where nothing is named.
	Tag string
	// Digest is sha256:… or empty. It goes before the tag: that only says where the digest came from.
	Digest string
}

// Parse reads a reference as compose files and engines have it, such as nginx, ghcr.io/a/b:1.2 or a/b@sha256:….
func Parse(s string) (Ref, error) {
	s = strings.TrimSpace(s)
	if s == "" {
		return Ref{}, errors.New("the image reference is empty")
	}
	if len(s) > maxRef {
		return Ref{}, fmt.Errorf("the image reference is longer than %d bytes", maxRef)
	}
	named, err := reference.ParseNormalizedNamed(s)
	if err != nil {
		return Ref{}, fmt.Errorf("read the image reference %q: %w", s, err)
	}
	named = reference.TagNameOnly(named)
	r := Ref{Host: reference.Domain(named), Path: reference.Path(named)}
	if t, ok := named.(reference.Tagged); ok {
		r.Tag = t.Tag()
	}
	if d, ok := named.(reference.Digested); ok {
		r.Digest = d.Digest().String()
	}
	return r, nil
}

// Repo is host/path.
func (r Ref) Repo() string { return r.Host + "/" + r.Path }

// WithTag is the full reference of another tag of the repository.
func (r Ref) WithTag(tag string) string { return r.Repo() + ":" + tag }

// WithDigest is the full reference of a digest of the repository.
func (r Ref) WithDigest(digest string) string { return r.Repo() + "@" + digest }

// Unpinned is the reference without its digest, for asking what its tag stands for.
func (r Ref) Unpinned() Ref {
	r.Digest = ""
	return r
}

// String is the full reference.
func (r Ref) String() string {
	text := r.Repo()
	if r.Tag != "" {
		text += ":" + r.Tag
	}
	if r.Digest != "" {
		text += "@" + r.Digest
	}
	return text
}

// ValidTag reports whether a tag may stand in a reference.
func ValidTag(tag string) bool { return tag != "" && reference.TagRegexp.FindString(tag) == tag }

// ValidDigest reports whether a digest is sha256 with 64 hexadecimal digits.
func ValidDigest(d string) bool {
	hex, ok := strings.CutPrefix(d, "sha256:")
	return ok && len(hex) == 64 && strings.Trim(hex, "0123456789abcdef") == ""
}

// SameRepo reports whether a name, as engines write it, is the repository: the full name, or the short one of the default
// registry.
func SameRepo(repo, name string) bool {
	if name == repo {
		return true
	}
	short, ok := strings.CutPrefix(repo, "docker.io/")
	return ok && (name == short || "library/"+name == short || name == "index.docker.io/"+short)
}
