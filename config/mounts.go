package config

import (
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"strings"
)

// Mount is where a service wants to be reached.
type Mount struct {
	Service string
	// BaseURL is a path ("/search": on any host) or an absolute http or https URL (on that host only).
	BaseURL string
	// Range is the place of the setting, as Block.RangeOf returns it.
	Range Range
}

// reservedPaths returns the paths that are the core's on every host, as are all paths below them.
func reservedPaths() []string {
	return []string{"/system", "/assets", "/manifest.webmanifest", "/sw.js", "/.well-known"}
}

// CheckMounts reports base URLs that are malformed, reserved for the core, or used by two services. The path of one
// service may be below that of another.
func CheckMounts(mounts []Mount) Diagnostics {
	var ds Diagnostics
	taken := map[string]Mount{}
	for _, m := range mounts {
		host, path, err := ParseBaseURL(m.BaseURL)
		if err != nil {
			ds = append(ds, ErrorAt(m.Range, "Invalid base_url", "base_url "+err.Error()+`. Write for example "/`+m.Service+`".`)...)
			continue
		}
		if r := reservedPath(path); r != "" {
			ds = append(ds, ErrorAt(m.Range, "Reserved path", fmt.Sprintf("%s belongs to the core. Write for example %q.", r, "/"+m.Service))...)
			continue
		}
		key := host + path
		if first, ok := taken[key]; ok {
			ds = append(ds, ErrorAt(m.Range, "Path taken twice", fmt.Sprintf(
				"service %q already has %s (%s). Give each service a path or a host of its own.", first.Service, key, first.Range.Short()))...)
			continue
		}
		taken[key] = m
	}
	ds.Sort()
	return ds
}

func reservedPath(path string) string {
	for _, r := range reservedPaths() {
		if path == r || strings.HasPrefix(path, r+"/") {
			return r
		}
	}
	return ""
}

var pathPattern = regexp.MustCompile(`^(/[A-Za-z0-9._~-]+)+$`)

// ParseBaseURL splits a base URL into the host, in lower case and without a default port (empty for any host), and
// the path, which is "/" or begins with "/" and does not end with one. The error continues the name of the setting.
func ParseBaseURL(text string) (host, path string, err error) {
	path = text
	if !strings.HasPrefix(text, "/") {
		u, err := url.Parse(text)
		if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" {
			return "", "", errors.New("must be a path that begins with / or an absolute http or https URL")
		}
		if u.User != nil || u.RawQuery != "" || u.ForceQuery || strings.Contains(text, "#") {
			return "", "", errors.New("must have no user, no query and no fragment")
		}
		host, path = originHost(u), u.EscapedPath()
		if path == "" {
			path = "/"
		}
	}
	return host, path, checkPath(path)
}

func originHost(u *url.URL) string {
	host := strings.ToLower(u.Host)
	if u.Scheme == "http" {
		return strings.TrimSuffix(host, ":80")
	}
	return strings.TrimSuffix(host, ":443")
}

func checkPath(path string) error {
	switch {
	case path == "/":
		return nil
	case strings.HasSuffix(path, "/"):
		return errors.New("must not end with /")
	case strings.ContainsAny(path, "?#"):
		return errors.New("must have no query and no fragment")
	case !pathPattern.MatchString(path):
		return errors.New("may only have letters, digits and . _ ~ - between single slashes")
	}
	for segment := range strings.SplitSeq(path, "/") {
		if segment == "." || segment == ".." {
			return errors.New("must not have . or .. as a part")
		}
	}
	return nil
}
