package crawl

import (
	"context"
	"errors"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
)

// run is one crawl under way. Its fields are changed between levels only.
type run struct {
	crawler *Crawler
	opts    Options
	fetcher *fetcher
	// home is the host whose pages are not external.
	home   string
	limit  int
	text   int
	seen   map[string]bool
	listed map[string]listedAs
	// broken: what lies behind some page cannot be known.
	broken bool
	// visited and found count pages, for the progress of the options.
	visited, found atomic.Int64
	result         *Result
}

// Run crawls. It fails if the options make no sense or ctx ends before the time-out of the options; all else that goes
// wrong stands in the result.
func (c *Crawler) Run(ctx context.Context, o Options) (*Result, error) {
	if err := o.checkOptions(); err != nil {
		return nil, err
	}
	inner, cancel := context.WithCancel(ctx)
	if o.Timeout > 0 {
		inner, cancel = context.WithTimeout(ctx, o.Timeout)
	}
	defer cancel()
	start := canonicalAddress(o.Start)
	r := &run{
		crawler: c, opts: o, limit: min(o.Limit, c.cfg.MaxPages), seen: map[string]bool{start: true}, listed: map[string]listedAs{},
		result: &Result{Base: start, Pages: []Page{}, Failed: []Failure{}, Unlisted: map[string]int{}},
	}
	r.fetcher = newFetcher(c, &o)
	r.visitLevels(inner, &visit{url: start, start: true})
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return r.result, nil
}

// visitLevels visits the start, then what it links to, and so on.
func (r *run) visitLevels(ctx context.Context, start *visit) {
	frontier, visited := []*visit{start}, 1
	r.found.Store(1)
	for depth := 0; len(frontier) > 0 && ctx.Err() == nil; depth++ {
		last := depth == r.opts.MaxDepth
		var next []*visit
		for batch := range slices.Chunk(frontier, batchSize) {
			r.visitAll(ctx, r.worthVisiting(batch, last))
			if depth == 0 {
				r.noteStart(start)
			}
			for _, v := range batch {
				r.listVisit(v)
				if !last {
					next = append(next, r.followLinks(v, r.limit-visited-len(next))...)
				}
				v.releaseContent()
			}
			if depth == 0 {
				next = append(next, r.followSitemaps(ctx, start, r.limit-visited-len(next))...)
			}
			r.found.Store(int64(visited + len(next)))
		}
		frontier = next
		visited += len(next)
	}
	r.result.Complete = ctx.Err() == nil && !r.broken && start.err == nil
}

// worthVisiting returns the visits to be made. Of the last level of a crawl that only lists addresses, pages of other
// domains are listed unseen.
func (r *run) worthVisiting(batch []*visit, last bool) []*visit {
	if !last || r.opts.Format != "" {
		return batch
	}
	var out []*visit
	for _, v := range batch {
		if u, err := url.Parse(v.url); err == nil && r.isHome(u) {
			out = append(out, v)
		}
	}
	return out
}

// releaseContent drops the content of a visit that is in the result; its address and error stay.
func (v *visit) releaseContent() { v.page, v.links, v.known = Page{}, nil, nil }

// noteStart notes where the start page really is.
func (r *run) noteStart(start *visit) {
	r.result.Base, r.result.Start = start.url, start.err
	r.seen[start.url] = true
	if u, err := url.Parse(start.url); err == nil {
		r.home = siteDomain(u)
	}
}

// visitAll visits pages side by side.
func (r *run) visitAll(ctx context.Context, all []*visit) {
	waiting := make(chan *visit)
	var done sync.WaitGroup
	for range min(workers, len(all)) {
		done.Go(func() {
			for v := range waiting {
				r.visitPage(ctx, v)
				if n := r.visited.Add(1); r.opts.Progress != nil {
					r.opts.Progress(int(n), int(r.found.Load()))
				}
			}
		})
	}
	for _, v := range all {
		if ctx.Err() != nil {
			v.err = errNoTime
			continue
		}
		waiting <- v
	}
	close(waiting)
	done.Wait()
}

// visitPage gets one page, behind its redirects.
func (r *run) visitPage(ctx context.Context, v *visit) {
	v.seen = true
	for range maxHops + 1 {
		v.location = ""
		v.err = r.fetcher.fetchPage(ctx, v)
		if v.location == "" {
			if v.start && v.again {
				v.err = errTooManyHops
			}
			v.behindFailure()
			return
		}
		u, err := url.Parse(v.location)
		if err != nil || !v.start && !r.permitsPage(u) {
			v.err = errLeadsOut
			return
		}
		v.url = canonicalAddress(u)
	}
	v.err = errTooManyHops
}

// behindFailure takes the links that a page had where it may be there another time.
func (v *visit) behindFailure() {
	if v.err == nil || v.start || v.noText || isGone(v.err) || v.known == nil {
		return
	}
	v.links, v.stale = v.known.Links, true
}

// worthKeeping are the links that a later crawl would follow, each once.
func (r *run) worthKeeping(links []string) []string {
	var out []string
	bytes := 0
	taken := map[string]bool{}
	for _, link := range links {
		u, err := url.Parse(link)
		if err != nil || !r.permitsPage(u) {
			continue
		}
		address := canonicalAddress(u)
		if taken[address] || len(address) > maxAddress {
			continue
		}
		if bytes += len(address); len(out) == maxKept || bytes > maxKeptBytes {
			break
		}
		taken[address] = true
		out = append(out, address)
	}
	return out
}

// followLinks makes visits of a page's links, at most room of them.
func (r *run) followLinks(v *visit, room int) []*visit {
	var out []*visit
	u, err := url.Parse(v.url)
	if err != nil || v.err != nil && !v.noText && !v.stale && !errors.Is(v.err, errNoIndex) || !r.isInside(u) {
		return nil
	}
	for _, link := range v.links {
		if len(out) >= room || len(out) >= r.opts.MaxBreadth {
			break
		}
		if next := r.newVisit(link); next != nil {
			out = append(out, next)
		}
	}
	return out
}

// newVisit makes a visit of an address that may be visited and was not seen before, else nil.
func (r *run) newVisit(link string) *visit {
	u, err := url.Parse(link)
	if err != nil || !r.permitsPage(u) {
		return nil
	}
	address := canonicalAddress(u)
	if r.seen[address] || len(address) > maxAddress {
		return nil
	}
	r.seen[address] = true
	return &visit{url: address}
}

// isInside reports whether the links of a page count: those of the start's domain and of domains that were named.
func (r *run) isInside(u *url.URL) bool {
	return r.isHome(u) || len(r.opts.SelectDomains) > 0 && matchesAny(r.opts.SelectDomains, u.Hostname())
}

func (r *run) isHome(u *url.URL) bool {
	d := siteDomain(u)
	return d == r.home || strings.HasSuffix(d, "."+r.home)
}

// permitsPage reports whether a page may be visited and listed.
func (r *run) permitsPage(u *url.URL) bool {
	o, host := &r.opts, u.Hostname()
	switch {
	case u.Scheme != "http" && u.Scheme != "https", host == "", u.User != nil, matchesAny(o.ExcludeDomains, host),
		matchesAny(o.ExcludePaths, pathAndQuery(u)):
		return false
	case len(o.SelectPaths) > 0 && !matchesAny(o.SelectPaths, pathAndQuery(u)):
		return false
	case len(o.SelectDomains) > 0:
		return matchesAny(o.SelectDomains, host)
	}
	return o.External || r.isHome(u)
}
