package oci

import (
	"errors"
	"net"
	"net/netip"
	"slices"
	"strings"

	"github.com/distribution/reference"

	"github.com/patchbay-dev/patchbay/sdk/errs"
	"github.com/patchbay-dev/patchbay/sdk/registry"
)

// name is a reference or, without tag and digest, a repository.
type name struct {
	// domain is the host in its usual form, such as docker.io; path the repository on it.
	domain, path string
	// tag and digest exclude each other: a digest says all.
	tag, digest string
}

// String is the full reference.
func (n name) String() string {
	switch {
	case n.digest != "":
		return n.domain + "/" + n.path + "@" + n.digest
	case n.tag != "":
		return n.domain + "/" + n.path + ":" + n.tag
	}
	return n.domain + "/" + n.path
}

// manifestReference returns what stands for the manifest in a request.
func (n name) manifestReference() string {
	if n.digest != "" {
		return n.digest
	}
	return n.tag
}

const maxName = 4096

// parseRef reads a reference; without tag and digest it means latest.
func parseRef(text string) (name, error) {
	n, named, err := parseName(text)
	if err != nil {
		return name{}, err
	}
	if d, ok := named.(reference.Digested); ok {
		n.digest = d.Digest().String()
		if !validDigest(n.digest) {
			return name{}, errs.BadInput(registry.ReasonInvalidReference, "the digest of the reference is of an unknown kind")
		}
		return n, nil
	}
	n.tag = "latest"
	if t, ok := named.(reference.Tagged); ok {
		n.tag = t.Tag()
	}
	return n, nil
}

// parseRepository reads a repository, which has neither tag nor digest.
func parseRepository(text string) (name, error) {
	n, named, err := parseName(text)
	if err == nil && !reference.IsNameOnly(named) {
		err = errs.BadInput(registry.ReasonInvalidReference, "a repository has neither tag nor digest")
	}
	return n, err
}

func parseName(text string) (name, reference.Named, error) {
	if len(text) > maxName {
		return name{}, nil, errs.BadInput(registry.ReasonInvalidReference, "the reference is longer than %d bytes", maxName)
	}
	named, err := reference.ParseNormalizedNamed(text)
	if err != nil {
		return name{}, nil, errs.BadInput(registry.ReasonInvalidReference, "%q is not an image reference", text)
	}
	return name{domain: strings.ToLower(reference.Domain(named)), path: reference.Path(named)}, named, nil
}

// hub is the usual form of the registry that is meant where a reference names none.
const hub = "docker.io"

// parseDomain reads a registry host as it stands in a list, also in the forms that clients know for hub.
func parseDomain(text string) (string, error) {
	text = strings.ToLower(strings.TrimSpace(text))
	if slices.Contains([]string{hub, "index.docker.io", "registry-1.docker.io"}, text) {
		return hub, nil
	}
	named, err := reference.ParseNormalizedNamed(text + "/x")
	if err != nil || reference.Domain(named) != text {
		return "", errors.New("is no registry host; write it as in an image's name, without a scheme")
	}
	return text, nil
}

// apiHost returns where a domain's registry answers.
func apiHost(domain string) string {
	if domain == hub {
		return "registry-1.docker.io"
	}
	return domain
}

// isLoopback reports whether a host is this machine by its very name.
func isLoopback(host string) bool {
	if h, _, err := net.SplitHostPort(host); err == nil {
		host = h
	}
	if host == "localhost" {
		return true
	}
	addr, err := netip.ParseAddr(strings.Trim(host, "[]"))
	return err == nil && addr.IsLoopback()
}
