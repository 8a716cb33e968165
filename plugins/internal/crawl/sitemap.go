package crawl

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/xml"
	"errors"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"golang.org/x/net/html/charset"

	"github.com/patchbay-dev/patchbay/plugins/internal/httpx"
)

const (
	// maxSitemaps is how many sitemaps of a site are read, the indexes of sitemaps among them, maxSitemap how much of each
	// as it is sent and maxUnpacked as it is unpacked, in bytes. maxEntries bounds the entries that are looked at.
	maxSitemaps = 50
	maxSitemap  = 10 << 20
	maxUnpacked = 50 << 20
	maxEntries  = 100_000
)

// sitemap is what one sitemap lists: pages, and further sitemaps where it is an index. entries counts both, those that are
// too long to be kept among them.
type sitemap struct {
	pages, sitemaps []string
	entries         int
}

// sitemapReader collects the addresses of pages from the sitemaps of a site.
type sitemapReader struct {
	fetcher *fetcher
	// wanted reports whether an address counts; most is how many are collected.
	wanted func(address string) bool
	most   int
	pages  []string
	// entries counts what was looked at; failed reports whether a sitemap may be there another time.
	entries int
	failed  bool
}

// readSitemaps reads the sitemaps that robots.txt names, or else the usual ones, and those that they lead to.
func (r *sitemapReader) readSitemaps(ctx context.Context, start *url.URL) {
	rules, err := r.fetcher.rulesFor(ctx, start)
	if err != nil {
		r.failed = true
		return
	}
	named := rules.Sitemaps
	if len(named) == 0 {
		named = usualSitemaps(start)
	}
	queue := appendSitemaps(nil, start, named)
	for n := 0; n < len(queue) && len(r.pages) < r.most && r.entries < maxEntries; n++ {
		found, err := r.fetcher.fetchSitemap(ctx, queue[n], maxEntries-r.entries)
		if err != nil {
			r.failed = r.failed || !isGone(err)
			continue
		}
		r.entries += found.entries
		r.collectAddresses(queue[n], found.pages)
		queue = appendSitemaps(queue, start, found.sitemaps)
	}
}

// appendSitemaps adds addresses that the queue has not yet, up to maxSitemaps, and drops the rest.
func appendSitemaps(queue []*url.URL, start *url.URL, addresses []string) []*url.URL {
	for _, address := range addresses {
		if len(queue) >= maxSitemaps {
			return queue
		}
		u, err := start.Parse(address)
		if err == nil && !slices.ContainsFunc(queue, func(other *url.URL) bool { return *other == *u }) {
			queue = append(queue, u)
		}
	}
	return queue
}

// collectAddresses takes the addresses of a sitemap that are wanted, as many as there is room for.
func (r *sitemapReader) collectAddresses(sitemap *url.URL, addresses []string) {
	for _, address := range addresses {
		if len(r.pages) >= r.most {
			return
		}
		if u, err := sitemap.Parse(address); err == nil && r.wanted(u.String()) {
			r.pages = append(r.pages, address)
		}
	}
}

// usualSitemaps are where sitemaps lie if nobody says so: in the folder of the start and at the top of its host.
func usualSitemaps(start *url.URL) []string {
	top := "/sitemap.xml"
	dir := start.EscapedPath()
	if own := dir[:strings.LastIndexByte(dir, '/')+1]; len(own) > 1 {
		return []string{own + "sitemap.xml", top}
	}
	return []string{top}
}

// fetchSitemap returns a sitemap with at most room entries, and follows redirects to it. It returns an empty one for another kind of file.
func (f *fetcher) fetchSitemap(ctx context.Context, u *url.URL, room int) (sitemap, error) {
	for range maxHops + 1 {
		a, err := f.sendRequest(ctx, u, nil, func(s *httpx.Stream) ([]byte, error) { return io.ReadAll(io.LimitReader(s, maxSitemap)) })
		if err != nil {
			return sitemap{}, err
		}
		if to := a.redirectTarget(u); to != nil {
			u = to
			continue
		}
		if a.status < 200 || a.status > http.StatusNonAuthoritativeInfo {
			return sitemap{}, statusError(a.status)
		}
		return parseSitemap(ctx, a.body, room), nil
	}
	return sitemap{}, errTooManyHops
}

// parseSitemap reads a sitemap, an index of sitemaps, or a list of addresses, packed or not. What is cut off or malformed
// is read as far as it goes. It ends after room entries or maxSitemaps further sitemaps, and with ctx.
func parseSitemap(ctx context.Context, body []byte, room int) (out sitemap) {
	in := bufio.NewReader(bytes.NewReader(body))
	if magic, _ := in.Peek(2); string(magic) == "\x1f\x8b" {
		unpacked, err := gzip.NewReader(in)
		if err != nil {
			return out
		}
		in = bufio.NewReader(io.LimitReader(unpacked, maxUnpacked))
	}
	if head, _ := in.Peek(512); !strings.HasPrefix(strings.TrimLeft(strings.TrimPrefix(string(head), "\ufeff"), " \t\r\n"), "<") {
		return parseAddressList(ctx, in, room)
	}
	d := xml.NewDecoder(in)
	d.Strict, d.CharsetReader = false, charset.NewReaderLabel
	var open []string
	var text strings.Builder
	for out.entries < room && len(out.sitemaps) < maxSitemaps && ctx.Err() == nil {
		token, err := d.RawToken()
		if err != nil {
			return out
		}
		switch t := token.(type) {
		case xml.StartElement:
			if len(open) == 0 && t.Name.Local != "urlset" && t.Name.Local != "sitemapindex" || len(open) > 16 {
				return out
			}
			open = append(open, t.Name.Local)
			text.Reset()
		case xml.CharData:
			if text.Len() < maxAddress {
				text.Write(t)
			}
		case xml.EndElement:
			out.addText(open, strings.TrimSpace(text.String()))
			open = open[:max(0, len(open)-1)]
			text.Reset()
		}
	}
	return out
}

// addText takes the text of an element if it is the address of a page or a sitemap. An address of an image is neither.
func (s *sitemap) addText(open []string, text string) {
	if len(open) != 3 || open[2] != "loc" || text == "" {
		return
	}
	s.entries++
	switch {
	case len(text) > maxAddress:
	case open[1] == "url":
		s.pages = append(s.pages, text)
	case open[1] == "sitemap":
		s.sitemaps = append(s.sitemaps, text)
	}
}

// parseAddressList reads a text with an address in each line.
func parseAddressList(ctx context.Context, in io.Reader, room int) (out sitemap) {
	lines := bufio.NewScanner(in)
	for out.entries < room && ctx.Err() == nil && lines.Scan() {
		line := strings.TrimSpace(lines.Text())
		if !strings.HasPrefix(line, "http://") && !strings.HasPrefix(line, "https://") {
			return out
		}
		out.entries++
		if len(line) <= maxAddress {
			out.pages = append(out.pages, line)
		}
	}
	return out
}

// followSitemaps makes visits of what the sitemaps of the start's host list, at most room of them.
func (r *run) followSitemaps(ctx context.Context, start *visit, room int) []*visit {
	u, err := url.Parse(start.url)
	if err != nil || room <= 0 || start.err != nil && !start.noText && !errors.Is(start.err, errNoIndex) {
		return nil
	}
	var out []*visit
	reader := sitemapReader{fetcher: r.fetcher, most: room, wanted: func(address string) bool {
		v := r.newVisit(address)
		if v != nil {
			out = append(out, v)
		}
		return v != nil
	}}
	reader.readSitemaps(ctx, u)
	r.broken = r.broken || reader.failed
	return out
}
