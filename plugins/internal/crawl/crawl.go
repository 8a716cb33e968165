// Package crawl follows the links of a site: level by level from a start page, within limits and filters, and without
// going where robots.txt or the guard of the HTTP client forbids it.
//
// Redirects are visits of their own: the target passes the same filters, robots.txt and guard as a link does. No cookie
// is kept and nothing but the address, the kinds of content that are wanted and the user agent is sent.
package crawl

import (
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"time"

	"github.com/patchbay-dev/patchbay/plugins/internal/extract"
	"github.com/patchbay-dev/patchbay/plugins/internal/httpx"
)

// Config configures a Crawler. Client is required, the rest has defaults.
type Config struct {
	// Client reaches the pages: its guard decides where that is possible, its MaxBody bounds a page. It must not follow
	// redirects by itself.
	Client *httpx.Client
	// UserAgent is what robots.txt is read for; its first word counts.
	UserAgent string
	// Parallel is how many requests to one host run at once (2), over all crawls.
	Parallel int
	// Delay is the pause between the starts of two requests to one host; 0 means none.
	Delay time.Duration
	// PageTimeout bounds each request (20 s).
	PageTimeout time.Duration
	// MaxPages bounds the pages of one crawl (500), whatever its limit says.
	MaxPages int
}

const (
	defaultParallel    = 2
	defaultPageTimeout = 20 * time.Second
	defaultMaxPages    = 500
	// workers is how many pages of one crawl are under way at once, over all hosts.
	workers = 8
	// maxHops is how many redirects in a row are followed.
	maxHops = 5
	// batchSize is how many pages are visited before what they hold is put into the result or dropped. It bounds the
	// memory for a level of many large pages.
	batchSize = 32
	// maxKept and maxKeptBytes are how many links of a page are kept for a later crawl, and how long they may be together.
	maxKept      = 2000
	maxKeptBytes = 256 << 10
	maxAddress   = 4096
	maxFailed    = 100
)

// WithMaxPages returns a Crawler with another bound for the pages of one crawl. The bounds for hosts hold for both together.
func (c *Crawler) WithMaxPages(n int) *Crawler {
	cfg := c.cfg
	cfg.MaxPages = n
	return &Crawler{cfg: cfg, gates: c.gates}
}

// Crawler crawls. It is safe for concurrent use and holds nothing that must be closed.
type Crawler struct {
	cfg   Config
	gates *gates
}

// New checks cfg and makes a Crawler.
func New(cfg Config) (*Crawler, error) {
	if cfg.Client == nil {
		return nil, errors.New("make crawler: it needs an HTTP client")
	}
	if cfg.Parallel < 0 || cfg.Delay < 0 || cfg.PageTimeout < 0 || cfg.MaxPages < 0 {
		return nil, errors.New("make crawler: limits cannot be negative")
	}
	if cfg.UserAgent == "" {
		cfg.UserAgent = "patchbay"
	}
	if cfg.Parallel == 0 {
		cfg.Parallel = defaultParallel
	}
	if cfg.PageTimeout == 0 {
		cfg.PageTimeout = defaultPageTimeout
	}
	if cfg.MaxPages == 0 {
		cfg.MaxPages = defaultMaxPages
	}
	return &Crawler{cfg: cfg, gates: newGates(cfg.Parallel, cfg.Delay)}, nil
}

// Options are one crawl.
type Options struct {
	// Start is an http or https address.
	Start *url.URL
	// MaxDepth is how many links away from Start to go, MaxBreadth how many new links of one page count, Limit how many
	// pages in all; each at least 1.
	MaxDepth, MaxBreadth, Limit int
	// The patterns are looked for anywhere in a path or host name. A link must match one of the Select patterns, if there
	// are any, and none of the others. Start is exempt from being visited by them, but not from being listed.
	SelectPaths, SelectDomains, ExcludePaths, ExcludeDomains []*regexp.Regexp
	// External includes pages of other domains. Their own links are followed only if SelectDomains names the domain.
	External bool
	// Timeout ends the crawl with what there is; 0 leaves it to the context.
	Timeout time.Duration
	// Format is that of the texts; empty only lists addresses, and then the last level is not visited.
	Format extract.Format
	// MaxText bounds all texts together, in bytes; 0 means none. A page that does not fit counts as failed.
	MaxText int
	// Known, if set, tells what was kept of a page: the host is then asked only for what has changed since, and pages
	// come with what the next crawl needs to know. It is called from several goroutines.
	Known func(address string) (Known, bool)
	// Progress, if set, is told after each page how many were visited and how many are found so far. It is called from
	// several goroutines.
	Progress func(visited, found int)
}

// Known is what an earlier crawl has kept of a page: the validators of its answer, either may be empty, and its links.
type Known struct {
	ETag, LastModified string
	// Links are those that the crawl follows, at most 2000.
	Links []string
}

// Page is one page that was found. Title, Text and Images are there if texts were asked for, unless the host says that
// the page is Unchanged since it was kept. Known is there if it was asked for.
type Page struct {
	URL       string
	Title     string
	Text      string
	Images    []string
	Known     Known
	Unchanged bool
}

// Failure is a page that could not be had. Err may be shown to whoever asked for the crawl. Gone tells that the host has
// no such page for a crawler, or none with text; otherwise it may be there another time.
type Failure struct {
	URL  string
	Err  error
	Gone bool
	// Reason is Err in one word: noindex, robots, status, redirect, no_text, timeout, too_large or failed.
	Reason string
}

// Result is what a crawl found, in the order of discovery. Failed holds at most 100.
type Result struct {
	// Base is the address of the start page, after redirects.
	Base   string
	Pages  []Page
	Failed []Failure
	// Unlisted counts further failures by their reasons.
	Unlisted map[string]int
	// Start is why the start page could not be had, or nil.
	Start error
	// Complete tells that the start could be had, the time sufficed, and all failures are in Failed: what is neither
	// there nor in Pages then is not on the site, as far as the options reach. Behind a page that failed are the links
	// that it had, if it is Known.
	Complete bool
}

func (o Options) checkOptions() error {
	switch {
	case o.Start == nil || o.Start.Scheme != "http" && o.Start.Scheme != "https" || o.Start.Host == "":
		return errors.New("start must be an http or https address")
	case o.MaxDepth < 1 || o.MaxBreadth < 1 || o.Limit < 1:
		return fmt.Errorf("depth, breadth and limit must be at least 1")
	}
	return nil
}
