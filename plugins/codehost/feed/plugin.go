// Package feed is the code host plugin for whatever publishes its releases as an Atom or RSS feed.
package feed

import (
	"context"
	"errors"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/patchbay-dev/patchbay/plugins/internal/httpx"
	"github.com/patchbay-dev/patchbay/sdk/codehost"
	"github.com/patchbay-dev/patchbay/sdk/framework"
	"github.com/patchbay-dev/patchbay/sdk/schema"
)

// Config is the config block of an instance.
type Config struct {
	URL     string            `patchbay:"url" doc:"Address of the feed of a repository, with {repo}, or {owner} and {name}, in it, such as https://codeberg.org/{repo}/releases.rss."`
	Feeds   map[string]string `patchbay:"feeds" doc:"Other feeds, by the name owner/name that the feed shows."`
	Timeout time.Duration     `patchbay:"timeout,default=15s" doc:"Longest time for one request."`
}

// Plugin declares the plugin.
func Plugin() framework.Plugin {
	return framework.Plugin{
		Name:    "feed",
		Version: "1.0.0",
		Summary: "Releases from Atom and RSS feeds, such as those of GitLab, Codeberg and PyPI.",
		Documentation: "No account is needed. Addresses that work: `https://codeberg.org/{repo}/releases.rss`, `https://gitlab.com/{repo}/-/tags?format=atom`, " +
			"`https://github.com/{repo}/releases.atom`, and for Python packages `https://pypi.org/rss/project/{name}/releases.xml`.",
		Kinds: []framework.Kind{codehost.New(codehost.Definition[Config]{Build: buildHost, Capabilities: []string{codehost.CapReleases}})},
	}
}

const (
	maxTimeout = 5 * time.Minute
	// maxBody is the largest feed that is read, in bytes.
	maxBody = 8 << 20
	// maxRedirects is how many redirects are followed for one feed.
	maxRedirects = 3
	// maxFeeds is how many feeds of their own an instance may have.
	maxFeeds = 1000
)

var fullNamePattern = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_.-]{0,99}/[A-Za-z0-9_.-]{1,100}$`)
})

func isFullName(repo string) bool {
	_, name, _ := strings.Cut(repo, "/")
	return fullNamePattern().MatchString(repo) && name != "." && name != ".." && !strings.Contains(repo, "..")
}

// parseAddress checks the address of a feed.
func parseAddress(raw string) (*url.URL, error) {
	u, err := url.Parse(raw)
	if err != nil || u.Host == "" || u.User != nil || u.Scheme != "https" && u.Scheme != "http" {
		return nil, errors.New("must be an absolute http(s) address without a user")
	}
	u.Fragment = ""
	return u, nil
}

func buildHost(inst codehost.Instance, cfg Config) (codehost.Open, schema.Diagnostics) {
	var diags schema.Diagnostics
	h := &host{template: cfg.URL, feeds: map[string]namedFeed{}, now: time.Now}
	if cfg.URL == "" && len(cfg.Feeds) == 0 {
		diags = append(diags, schema.Errorf(nil, "one of url and feeds is required")...)
	}
	if cfg.URL != "" {
		if _, err := h.expandTemplate("owner/name"); err != nil {
			diags = append(diags, schema.Errorf(schema.At("url"), "%v", err)...)
		} else if !strings.Contains(cfg.URL, "{repo}") && !strings.Contains(cfg.URL, "{name}") {
			diags = append(diags, schema.Errorf(schema.At("url"), "must hold {repo}, or {owner} and {name}")...)
		}
	}
	if len(cfg.Feeds) > maxFeeds {
		diags = append(diags, schema.Errorf(schema.At("feeds"), "has more than %d feeds", maxFeeds)...)
	}
	for _, name := range slices.Sorted(maps.Keys(cfg.Feeds)) {
		address, err := parseAddress(cfg.Feeds[name])
		switch {
		case !isFullName(name):
			diags = append(diags, schema.Errorf(schema.At("feeds"), "the name %q must be owner/name", name)...)
		case err != nil:
			diags = append(diags, schema.Errorf(schema.At("feeds"), "%s: %v", name, err)...)
		}
		h.feeds[strings.ToLower(name)] = namedFeed{name: name, address: address}
	}
	if cfg.Timeout <= 0 || cfg.Timeout > maxTimeout {
		diags = append(diags, schema.Errorf(schema.At("timeout"), "must be more than 0 and at most %s", maxTimeout)...)
	}
	if diags.HasErrors() {
		return nil, diags
	}
	return func(context.Context) (codehost.CodeHost, error) {
		client, err := httpx.New(httpx.Config{
			UserAgent: inst.UserAgent, Timeout: cfg.Timeout, MaxBody: maxBody, Compression: true, Proxy: true, MaxRedirects: maxRedirects,
			Own: h.ownAddresses(),
		})
		h.http = client
		return h, err
	}, diags
}

// ownAddresses returns the addresses whose host stands in the configuration. One that depends on the repository is its reader's.
func (h *host) ownAddresses() (own []*url.URL) {
	for _, f := range h.feeds {
		own = append(own, f.address)
	}
	if h.template == "" {
		return own
	}
	one, err := h.expandTemplate("owner/name")
	other, otherErr := h.expandTemplate("another/project")
	if err == nil && otherErr == nil && httpx.SameOrigin(one, other) {
		own = append(own, one)
	}
	return own
}

// namedFeed is a feed of its own.
type namedFeed struct {
	name    string
	address *url.URL
}

// host implements codehost.CodeHost.
type host struct {
	http     *httpx.Client
	template string
	// feeds are by name in lower case.
	feeds map[string]namedFeed
	now   func() time.Time
}

// Close lets idle connections go.
func (h *host) Close() error { return h.http.Close() }

// expandTemplate returns the address of a repository's feed by the template.
func (h *host) expandTemplate(repo string) (*url.URL, error) {
	owner, name, _ := strings.Cut(repo, "/")
	return parseAddress(strings.NewReplacer("{repo}", owner+"/"+name, "{owner}", owner, "{name}", name).Replace(h.template))
}
