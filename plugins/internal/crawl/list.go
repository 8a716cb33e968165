package crawl

import (
	"errors"
	"net/url"
)

// listedAs is how an address is in the result.
type listedAs struct {
	// page is its place among the pages, -1 for one that failed.
	page int
	// alias reports whether another page stands there that wants to be known by this address.
	alias bool
}

// listVisit puts a page that was visited into the result, under the address by which it wants to be known.
func (r *run) listVisit(v *visit) {
	u, err := url.Parse(v.url)
	if err != nil || v.again || !r.permitsPage(u) {
		return
	}
	address, alias := v.url, false
	if other := r.canonicalAddress(v, u); other != "" {
		address, alias = other, true
	}
	if at, ok := r.listed[address]; ok {
		if at.alias && !alias && v.err == nil {
			r.text -= len(r.result.Pages[at.page].Text)
			r.result.Pages[at.page], r.listed[address] = r.takePage(v), listedAs{page: at.page}
		}
		return
	}
	r.listed[address] = listedAs{page: -1}
	isMap := r.opts.Format == ""
	if isMap && (v.noText || (!v.seen || errors.Is(v.err, errNoTime)) && namesFile(u)) {
		return
	}
	if !isMap && v.err == nil && r.opts.MaxText > 0 && r.text+len(v.page.Text) > r.opts.MaxText {
		v.err, r.broken = errNoRoom, true
	}
	if v.err != nil && (!isMap || !errors.Is(v.err, errNoTime)) {
		r.listFailure(v)
		return
	}
	r.listed[address] = listedAs{page: len(r.result.Pages), alias: alias}
	page := r.takePage(v)
	if page.URL = address; alias {
		// What the host said of the other address is no use for this one.
		page.Known.ETag, page.Known.LastModified = "", ""
	}
	r.result.Pages = append(r.result.Pages, page)
}

// takePage returns what the result is to have of a page.
func (r *run) takePage(v *visit) Page {
	if r.opts.Format == "" {
		return Page{URL: v.url}
	}
	if r.opts.Known != nil {
		v.page.Known.Links = r.worthKeeping(v.links)
	}
	r.text += len(v.page.Text)
	return v.page
}

// listFailure puts a page that could not be had into the result, as long as there is room. One that is gone may be left out
// without loss: then a page that is not in the result is not on the site.
func (r *run) listFailure(v *visit) {
	f := Failure{URL: v.url, Err: v.err, Gone: v.noText || isGone(v.err), Reason: leftOutReason(v)}
	if len(r.result.Failed) < maxFailed {
		r.result.Failed = append(r.result.Failed, f)
		return
	}
	r.result.Unlisted[f.Reason]++
	r.broken = r.broken || !f.Gone
}

// leftOutReason returns in one word why a page could not be had.
func leftOutReason(v *visit) string {
	var status statusError
	switch {
	case errors.Is(v.err, errNoIndex):
		return "noindex"
	case errors.Is(v.err, errRobots), errors.Is(v.err, errNoRobots):
		return "robots"
	case errors.As(v.err, &status):
		return "status"
	case errors.Is(v.err, errLeadsOut), errors.Is(v.err, errTooManyHops):
		return "redirect"
	case v.noText:
		return "no_text"
	case errors.Is(v.err, errNoTime):
		return "timeout"
	case errors.Is(v.err, errNoRoom):
		return "too_large"
	}
	return "failed"
}

// canonicalAddress returns the other address by which a page at own wants to be known, or nothing. An address that the crawl may
// not list, or that there is no page at, does not count, nor one of another host: that may not have such a text.
func (r *run) canonicalAddress(v *visit, own *url.URL) string {
	u, err := url.Parse(v.canonical)
	if v.canonical == "" || v.err != nil || err != nil || !r.permitsPage(u) || siteDomain(normalizeURL(u)) != siteDomain(own) {
		return ""
	}
	address := canonicalAddress(u)
	if address == v.url || len(address) > maxAddress {
		return ""
	}
	if rules := r.fetcher.rules.findRules(u.Scheme + "://" + u.Host); rules != nil && !rules.Allows(u) {
		return ""
	}
	if at, ok := r.listed[address]; ok && at.page < 0 {
		return ""
	}
	return address
}
