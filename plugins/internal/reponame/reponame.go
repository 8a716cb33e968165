// Package reponame reads names and addresses of repositories as people type them.
package reponame

import (
	"net/url"
	"regexp"
	"strings"
	"sync"

	"github.com/patchbay-dev/patchbay/sdk/codehost"
	"github.com/patchbay-dev/patchbay/sdk/errs"
)

var (
	ownerPattern = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_-]{0,99}$`) })
	namePattern  = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9._-]{1,100}$`) })
)

// IsOwner reports whether a text can be the name of an owner.
func IsOwner(name string) bool { return ownerPattern().MatchString(name) }

func isName(name string) bool { return namePattern().MatchString(name) && name != "." && name != ".." }

// IsFullName reports whether a text can be owner/name.
func IsFullName(full string) bool {
	owner, name, ok := strings.Cut(full, "/")
	return ok && ownerPattern().MatchString(owner) && isName(name)
}

// ParseInput reads what a person typed: owner/name, an address of a repository or an owner, or an owner alone; then name
// is empty. web is the host that addresses must name.
func ParseInput(input, web string) (owner, name string, err error) {
	text, isAddress, ok := cutSite(strings.TrimSpace(input), web)
	if !ok {
		return "", "", errs.BadInput(codehost.ReasonInvalidInput, "the address is not one of %s", web)
	}
	parts := strings.Split(strings.Trim(text, "/"), "/")
	if isAddress && len(parts) > 1 && (parts[0] == "orgs" || parts[0] == "users") {
		parts = parts[1:2]
	}
	// An address may go on within the repository.
	if len(parts) > 2 && !isAddress {
		parts = nil
	}
	switch {
	case len(parts) == 1 && ownerPattern().MatchString(parts[0]):
		return parts[0], "", nil
	case len(parts) >= 2 && ownerPattern().MatchString(parts[0]):
		if name := strings.TrimSuffix(parts[1], ".git"); isName(name) {
			return parts[0], name, nil
		}
	}
	return "", "", errs.BadInput(codehost.ReasonInvalidInput, "write owner/repository, an owner, or the address of one of them")
}

// cutSite returns the input without scheme and host. ok is false for an address of another host than web.
func cutSite(input, web string) (text string, isAddress, ok bool) {
	if rest, found := strings.CutPrefix(input, "git@"); found {
		host, text, _ := strings.Cut(rest, ":")
		return text, true, sameHost(host, web)
	}
	if strings.Contains(input, "://") {
		u, err := url.Parse(input)
		if err != nil || u.Scheme != "https" && u.Scheme != "http" && u.Scheme != "ssh" && u.Scheme != "git" {
			return "", true, false
		}
		host := u.Host
		if u.Scheme == "ssh" {
			host = u.Hostname()
		}
		return u.Path, true, sameHost(host, web)
	}
	if host, rest, found := strings.Cut(input, "/"); found && sameHost(host, web) {
		return rest, true, true
	}
	return input, false, true
}

func sameHost(host, web string) bool {
	return strings.EqualFold(strings.TrimPrefix(strings.ToLower(host), "www."), web)
}
