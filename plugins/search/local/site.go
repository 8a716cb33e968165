package local

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/patchbay-dev/patchbay/plugins/internal/httpx"
	"github.com/patchbay-dev/patchbay/sdk/schema"
)

const (
	maxSites = 50
	maxStart = 2000
	dirSites = "sites"
)

// siteAddress is where a site begins.
type siteAddress struct {
	url *url.URL
	// below fits the paths of the pages that belong to the site.
	below *regexp.Regexp
}

// directoryName names the site's directory.
func (s siteAddress) directoryName() string {
	sum := sha256.Sum256([]byte(s.url.String()))
	return hex.EncodeToString(sum[:12])
}

// shownName returns the address without its query, which may hold a secret.
func (s siteAddress) shownName() string {
	return s.url.Scheme + "://" + s.url.Host + s.url.EscapedPath()
}

// pathPatterns are the patterns for the crawler.
func (s siteAddress) pathPatterns() []*regexp.Regexp { return []*regexp.Regexp{s.below} }

// plainAddress is an address without its query.
func plainAddress(address string) string {
	address, _, _ = strings.Cut(address, "?")
	return address
}

func newSites(cfg Config) ([]siteAddress, schema.Diagnostics) {
	var out []siteAddress
	var diags schema.Diagnostics
	if len(cfg.Sites) > maxSites {
		diags = append(diags, schema.Errorf(schema.At("sites"), "name at most %d sites", maxSites)...)
	}
	guard, err := httpx.NewGuard(httpx.GuardConfig{Allow: cfg.AllowHosts})
	if err != nil {
		// What is wrong with allow_hosts is told where the rest of it is looked at.
		guard = nil
	}
	taken := map[string]bool{}
	for i, raw := range cfg.Sites {
		s, err := newSite(raw, guard)
		if err == nil && taken[s.url.String()] {
			err = errors.New("site is named twice")
		}
		if err != nil {
			diags = append(diags, schema.Errorf(schema.At("sites").Index(i), "%v", err)...)
			continue
		}
		taken[s.url.String()] = true
		out = append(out, s)
	}
	return out, diags
}

func newSite(raw string, guard *httpx.Guard) (siteAddress, error) {
	u, err := url.Parse(strings.TrimSpace(raw))
	switch {
	case err != nil, u.Scheme != "http" && u.Scheme != "https", u.Hostname() == "", len(raw) > maxStart:
		return siteAddress{}, errors.New("a site must be an http or https address")
	case u.User != nil:
		return siteAddress{}, errors.New("a site's address must not hold a user or password")
	}
	if guard != nil {
		if err := guard.CheckURL(u); err != nil {
			return siteAddress{}, err
		}
	}
	u.Host, u.Fragment, u.RawFragment = strings.ToLower(u.Host), "", ""
	if u.Path == "" {
		u.Path = "/"
	}
	dir := path.Dir(u.Path)
	if strings.HasSuffix(u.Path, "/") {
		dir = strings.TrimSuffix(u.Path, "/")
	}
	return siteAddress{url: u, below: regexp.MustCompile("^" + regexp.QuoteMeta(strings.TrimSuffix(dir, "/")+"/"))}, nil
}

// openSites opens what is kept of the sites, and removes what was kept of others.
func openSites(dataDir string, addresses []siteAddress) ([]*site, error) {
	top := filepath.Join(dataDir, dirSites)
	wanted := map[string]bool{}
	var out []*site
	for _, a := range addresses {
		wanted[a.directoryName()] = true
		s, err := openSite(filepath.Join(top, a.directoryName()), a)
		if err != nil {
			return nil, err
		}
		out = append(out, s)
	}
	entries, err := os.ReadDir(top)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, errors.New("open sites: their directory cannot be read")
	}
	for _, e := range entries {
		if !wanted[e.Name()] {
			_ = os.RemoveAll(filepath.Join(top, e.Name()))
		}
	}
	return out, nil
}
