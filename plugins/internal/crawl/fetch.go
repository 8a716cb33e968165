package crawl

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"sync"

	"github.com/patchbay-dev/patchbay/plugins/internal/extract"
	"github.com/patchbay-dev/patchbay/plugins/internal/pagehead"
	"github.com/patchbay-dev/patchbay/plugins/internal/robots"
	"github.com/patchbay-dev/patchbay/sdk/errs"
)

var (
	errRobots      = errors.New("robots.txt forbids this page")
	errNoRobots    = errors.New("robots.txt of the host cannot be had")
	errNoTime      = errors.New("there was no time left for this page")
	errLeadsOut    = errors.New("page redirects to where the crawl does not go")
	errTooManyHops = errors.New("too many redirects")
	errNoRoom      = errors.New("answer would be too large; ask for fewer pages")
	errBroken      = errors.New("page cannot be read")
	errNoText      = errors.New("content is no text")
	errNoPage      = errors.New("content is no page")
	errNoIndex     = errors.New("page asks not to be found (noindex)")
)

// visit is one page on its way. Only the goroutine that visits it touches it meanwhile.
type visit struct {
	url   string
	start bool
	page  Page
	links []string
	err   error
	// location is where the page redirects to, absolute; canonical is the address that it wants to be known by, or empty.
	location, canonical string
	// again: the page was visited before; noText: there is something, but nothing to read.
	again, noText bool
	// seen: the host was asked for it.
	seen bool
	// known is what was kept of the page, or nil; stale tells that links are those, because the page failed.
	known *Known
	stale bool
}

// statusError is the status of an answer that is no page.
type statusError int

func (e statusError) Error() string { return fmt.Sprintf("page answered with status %d", int(e)) }

// isGone reports whether a failure means that the host has no such page for a crawler.
func isGone(err error) bool {
	var status statusError
	if errors.As(err, &status) {
		switch status {
		case http.StatusUnauthorized, http.StatusForbidden, http.StatusNotFound, http.StatusGone, http.StatusUnavailableForLegalReasons:
			return true
		}
	}
	for _, e := range []error{errRobots, errLeadsOut, errTooManyHops, errNoText, errNoPage, errNoIndex, extract.ErrNoText} {
		if errors.Is(err, e) {
			return true
		}
	}
	return false
}

// fetcher gets the single pages of one crawl, each address once.
type fetcher struct {
	crawler *Crawler
	format  extract.Format
	known   func(address string) (Known, bool)
	rules   robotsRules
	mu      sync.Mutex
	visited map[string]bool
}

func newFetcher(c *Crawler, o *Options) *fetcher {
	return &fetcher{
		crawler: c, format: o.Format, known: o.Known, visited: map[string]bool{}, rules: robotsRules{byHost: map[string]*robots.Rules{}},
	}
}

// fetchPage gets one page, without following a redirect: that is then in v.location.
func (f *fetcher) fetchPage(ctx context.Context, v *visit) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = errBroken
		}
	}()
	v.page, v.links, v.noText, v.canonical = Page{}, nil, false, ""
	conditions := f.conditionHeaders(v)
	u, err := url.Parse(v.url)
	if err != nil {
		return errBroken
	}
	if err := f.checkRobots(ctx, u); err != nil {
		return readableError(err)
	}
	if !f.takeTurn(v.url) {
		v.again = true
		return errBroken
	}
	a, err := f.sendRequest(ctx, u, conditions, readPage)
	if err != nil {
		v.noText = errors.Is(err, errNoText)
		return readableError(err)
	}
	return f.readAnswer(v, u, a)
}

// takeTurn reports whether the address was not fetched yet.
func (f *fetcher) takeTurn(address string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.visited[address] {
		return false
	}
	f.visited[address] = true
	return true
}

// conditionHeaders looks up what was kept of a page and makes the headers that ask for it only if it has changed.
func (f *fetcher) conditionHeaders(v *visit) http.Header {
	v.known = nil
	if f.known == nil {
		return nil
	}
	known, ok := f.known(v.url)
	if !ok {
		return nil
	}
	v.known = &known
	h := http.Header{}
	for name, value := range map[string]string{headerETag: known.ETag, headerModified: known.LastModified} {
		if value != "" {
			h.Set(name, value)
		}
	}
	return h
}

// readAnswer takes the text and the links of a page, or where it leads to by a redirect or by itself.
func (f *fetcher) readAnswer(v *visit, u *url.URL, a *answer) error {
	if to := a.redirectTarget(u); to != nil {
		v.location = to.String()
		return nil
	}
	head := pagehead.Read(a.body, a.header, u, f.crawler.cfg.UserAgent)
	if a.status == http.StatusNotModified && v.known != nil && !head.Robots.NoIndex {
		v.page, v.links = Page{URL: v.url, Known: *v.known, Unchanged: true}, v.known.Links
		return nil
	}
	if a.status < 200 || a.status > http.StatusNonAuthoritativeInfo {
		return statusError(a.status)
	}
	if to := head.RefreshFrom(u); to != nil {
		v.location = to.String()
		return nil
	}
	v.links, v.canonical = head.Links, head.Canonical
	if head.Robots.NoIndex {
		return errNoIndex
	}
	if f.format == "" {
		if v.noText = !isPage(a.header.Get("Content-Type")); v.noText {
			return errNoPage
		}
		return nil
	}
	page, err := extract.Decode(a.body, a.header.Get("Content-Type"), u, f.format)
	if err != nil {
		v.noText = true
		return err
	}
	v.page = Page{URL: v.url, Title: page.Title, Text: page.Text, Images: page.Images}
	if f.known != nil {
		v.page.Known = Known{ETag: a.header.Get("ETag"), LastModified: a.header.Get("Last-Modified")}
	}
	return nil
}

// readableError makes a text for people of what the HTTP client says.
func readableError(err error) error {
	var own *errs.Error
	switch {
	case errors.As(err, &own):
		return errors.New(own.Message)
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
		return errNoTime
	}
	for _, e := range []error{errRobots, errNoText, errNoRobots} {
		if errors.Is(err, e) {
			return e
		}
	}
	return errBroken
}
