package crawl

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/gocolly/colly/v2"

	"github.com/patchbay-dev/patchbay/plugins/internal/extract"
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
)

// visit is one page on its way. Only the goroutine that visits it touches it meanwhile.
type visit struct {
	url   string
	start bool
	page  Page
	links []string
	err   error
	// location is where the page redirects to, absolute.
	location string
	// again: the page was visited before; noText: there is something, but nothing to read.
	again, noText bool
	// known is what was kept of the page, or nil; stale tells that links are those, because the page failed.
	known *Known
	stale bool
}

// statusError is the status of an answer that is no page.
type statusError int

func (e statusError) Error() string { return fmt.Sprintf("page answered with status %d", int(e)) }

// gone tells whether a failure means that the host has no such page for a crawler.
func gone(err error) bool {
	var status statusError
	if errors.As(err, &status) {
		switch status {
		case http.StatusUnauthorized, http.StatusForbidden, http.StatusNotFound, http.StatusGone, http.StatusUnavailableForLegalReasons:
			return true
		}
	}
	for _, e := range []error{errRobots, errLeadsOut, errTooManyHops, errNoText, extract.ErrNoText} {
		if errors.Is(err, e) {
			return true
		}
	}
	return false
}

const keyVisit = "visit"

// fetcher gets single pages, with colly's ways of robots.txt, of addresses and of links.
type fetcher struct {
	collector *colly.Collector
	format    extract.Format
	known     func(address string) (Known, bool)
}

func newFetcher(ctx context.Context, c *Crawler, o *Options) *fetcher {
	f := &fetcher{collector: colly.NewCollector(), format: o.Format, known: o.Known}
	// All that matters is set here, after the environment was read.
	k := f.collector
	k.UserAgent, k.Context = c.cfg.UserAgent, ctx
	k.IgnoreRobotsTxt, k.AllowURLRevisit, k.Async, k.ParseHTTPErrorResponse, k.DetectCharset, k.CheckHead = false, false, false, false, false, false
	k.CacheDir, k.MaxDepth, k.MaxRequests, k.MaxBodySize = "", 0, 0, 0
	k.AllowedDomains, k.DisallowedDomains = nil, nil
	k.SetClient(&http.Client{Transport: &transport{ctx: ctx, crawler: c}, CheckRedirect: redirect})
	k.OnHTML("a[href], area[href]", link)
	k.OnResponse(f.response)
	k.OnError(failed)
	return f
}

func visitOf(ctx *colly.Context) *visit {
	v, _ := ctx.GetAny(keyVisit).(*visit)
	return v
}

// fetch gets one page, without following a redirect: that is then in v.location.
func (f *fetcher) fetch(v *visit) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = errBroken
		}
	}()
	v.page, v.links, v.noText, v.err = Page{}, nil, false, nil
	ctx := colly.NewContext()
	ctx.Put(keyVisit, v)
	err = f.collector.Request(http.MethodGet, v.url, nil, ctx, f.conditions(v))
	var again *colly.AlreadyVisitedError
	switch {
	case v.location != "", v.page.Unchanged:
		return nil
	case v.err != nil:
		return v.err
	case errors.As(err, &again):
		v.again = true
	case errors.Is(err, errNoText):
		v.noText = true
	}
	return readableError(err)
}

// conditions looks up what was kept of a page and makes the headers that ask for it only if it has changed.
func (f *fetcher) conditions(v *visit) http.Header {
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

// readableError makes a text for people of what colly and net/http say.
func readableError(err error) error {
	var own *errs.Error
	switch {
	case err == nil:
		return nil
	case errors.Is(err, colly.ErrRobotsTxtBlocked):
		return errRobots
	case errors.As(err, &own):
		return errors.New(own.Message)
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
		return errNoTime
	case errors.Is(err, errNoText):
		return errNoText
	case errors.Is(err, errNoRobots):
		return errNoRobots
	}
	return errBroken
}

// link notes one link of a page.
func link(e *colly.HTMLElement) {
	v := visitOf(e.Request.Ctx)
	if v == nil || len(v.links) >= maxLinks {
		return
	}
	raw := strings.TrimSpace(e.Attr("href"))
	if raw == "" || len(raw) > maxAddress {
		return
	}
	if address := e.Request.AbsoluteURL(raw); strings.HasPrefix(address, "http") {
		v.links = append(v.links, address)
	}
}

// response reads the text of a page.
func (f *fetcher) response(r *colly.Response) {
	v := visitOf(r.Ctx)
	if v == nil || f.format == "" {
		return
	}
	contentType := r.Headers.Get("Content-Type")
	if strings.Contains(strings.ToLower(contentType), "charset") {
		// Whatever the header says, colly has turned the body into UTF-8.
		media, _, _ := strings.Cut(contentType, ";")
		contentType = strings.TrimSpace(media) + "; charset=utf-8"
	}
	page, err := extract.Decode(r.Body, contentType, r.Request.URL, f.format)
	if err != nil {
		v.err, v.noText = err, true
		return
	}
	v.page = Page{URL: v.url, Title: page.Title, Text: page.Text, Images: page.Images}
	if f.known != nil {
		v.page.Known = Known{ETag: r.Headers.Get("ETag"), LastModified: r.Headers.Get("Last-Modified")}
	}
}

// failed notes a redirect and a page that has not changed, which colly takes for failures, or an error status.
func failed(r *colly.Response, _ error) {
	v := visitOf(r.Ctx)
	if v == nil || r.StatusCode == 0 || r.Headers == nil {
		return
	}
	to := r.Headers.Get("Location")
	if u, err := r.Request.URL.Parse(to); err == nil && to != "" && r.StatusCode < 400 {
		v.location = u.String()
		return
	}
	if r.StatusCode == http.StatusNotModified && v.known != nil {
		v.page, v.links = Page{URL: v.url, Known: *v.known, Unchanged: true}, v.known.Links
		return
	}
	v.err = statusError(r.StatusCode)
}
