package crawl

import (
	"net/url"
	"regexp"
	"strings"
)

// canonicalAddress is the form in which addresses are compared and shown: without a fragment, and never without a path.
func canonicalAddress(u *url.URL) string { return normalizeURL(u).String() }

// normalizeURL returns u in the form of canonical.
func normalizeURL(u *url.URL) *url.URL {
	c := *u
	c.Fragment, c.RawFragment = "", ""
	c.Host = strings.ToLower(c.Host)
	if port := c.Port(); port != "" && port == map[string]string{"http": "80", "https": "443"}[c.Scheme] {
		c.Host = strings.TrimSuffix(c.Host, ":"+port)
	}
	if c.Path == "" {
		c.Path = "/"
	}
	return &c
}

// siteDomain is what two pages of one site have in common: the host, with its port if that is unusual.
func siteDomain(u *url.URL) string { return strings.TrimPrefix(strings.ToLower(u.Host), "www.") }

// pathAndQuery is what the patterns for paths are looked for in.
func pathAndQuery(u *url.URL) string {
	if u.Path == "" {
		return "/"
	}
	return u.Path
}

func matchesAny(patterns []*regexp.Regexp, s string) bool {
	for _, p := range patterns {
		if p.MatchString(s) {
			return true
		}
	}
	return false
}
