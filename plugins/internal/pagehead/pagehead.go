// Package pagehead reads what a web page and the header of its answer say to programs. That is title and description, the address under
// which the page is to be known, what crawlers may do with it, where it sends its readers, and its links.
package pagehead

import (
	"bytes"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
	"golang.org/x/net/html/charset"
	"golang.org/x/net/idna"

	"github.com/patchbay-dev/patchbay/plugins/internal/robots"
)

const (
	// maxLinks and maxLinkBytes are how many links of one page are looked at, and how long they may be together when they
	// are absolute.
	maxLinks     = 10_000
	maxLinkBytes = 1 << 20
	maxAddress   = 4096
)

// Head is what was read. All addresses are absolute http or https addresses without a fragment, or empty.
type Head struct {
	Robots robots.Directives
	// Canonical is the address that the page wants to be known by.
	Canonical string
	// Refresh is where the page sends its readers by itself, at once or after a few seconds.
	Refresh string
	// Links are in their order. Those that are not to be followed are left out, one by one or all.
	Links []string
}

// Read reads a page and the header of its answer. It reads tags only, so that no nesting is too deep for it. A page that is
// not HTML has only what its header says. userAgent is the crawler that asks.
func Read(body []byte, header http.Header, page *url.URL, userAgent string) *Head {
	s := scanner{userAgent: userAgent}
	s.robots = robots.ParseHeader(header, userAgent)
	s.canonical = canonicalLink(header)
	if delay, to, ok := parseRefresh(header.Get("Refresh")); ok && delay <= maxRefresh {
		s.refresh = to
	}
	if decoded, ok := decodeHTML(body, header.Get("Content-Type")); ok {
		s.scanTokens(html.NewTokenizer(decoded))
	}
	base := page
	if u, err := page.Parse(cleanReference(s.base)); err == nil && s.base != "" {
		base = u
	}
	out := &Head{Robots: s.robots, Canonical: resolveHref(base, s.canonical), Refresh: resolveHref(base, s.refresh)}
	if !s.robots.NoFollow {
		out.Links = resolveAll(base, s.hrefs)
	}
	return out
}

// RefreshFrom returns where a page at an address sends its readers, nil if nowhere else than to itself.
func (h *Head) RefreshFrom(page *url.URL) *url.URL {
	to, err := url.Parse(h.Refresh)
	if h.Refresh == "" || err != nil || h.Refresh == resolveHref(page, page.String()) {
		return nil
	}
	return to
}

// decodeHTML returns a body as UTF-8 if it is HTML.
func decodeHTML(body []byte, contentType string) (io.Reader, bool) {
	if contentType == "" {
		contentType = http.DetectContentType(body)
	}
	if media := MediaType(contentType); media != "text/html" && media != "application/xhtml+xml" {
		return nil, false
	}
	decoded, err := charset.NewReader(bytes.NewReader(body), contentType)
	return decoded, err == nil
}

// MediaType returns a content type without its parameters, which may be malformed.
func MediaType(contentType string) string {
	media, _, err := mime.ParseMediaType(contentType)
	if err != nil {
		media, _, _ = strings.Cut(strings.ToLower(contentType), ";")
		media = strings.TrimSpace(media)
	}
	return media
}

// scanner collects what the tags of a page say, as it is written.
type scanner struct {
	userAgent                string
	robots                   robots.Directives
	base, canonical, refresh string
	hrefs                    []string
	// noScript is how many elements are open whose content counts only where scripts do not run.
	noScript int
}

func (s *scanner) scanTokens(z *html.Tokenizer) {
	for len(s.hrefs) < maxLinks {
		kind := z.Next()
		if kind == html.ErrorToken {
			return
		}
		if kind != html.StartTagToken && kind != html.SelfClosingTagToken && kind != html.EndTagToken {
			continue
		}
		name, more := z.TagName()
		tag := atom.Lookup(name)
		switch {
		case tag == atom.Noscript && kind == html.StartTagToken:
			s.noScript++
		case tag == atom.Noscript:
			s.noScript = max(0, s.noScript-1)
		case more && kind != html.EndTagToken:
			s.readTag(tag, z)
		}
	}
}

func (s *scanner) readTag(tag atom.Atom, z *html.Tokenizer) {
	switch tag {
	case atom.A, atom.Area:
		a := readAttributes(z)
		if href := a.href; href != "" && len(href) <= maxAddress && !hasWord(a.rel, "nofollow") {
			s.hrefs = append(s.hrefs, href)
		}
	case atom.Base:
		if href := readAttributes(z).href; s.base == "" && len(href) <= maxAddress {
			s.base = href
		}
	case atom.Link:
		a := readAttributes(z)
		if s.canonical == "" && hasWord(a.rel, "canonical") && len(a.href) <= maxAddress {
			s.canonical = a.href
		}
	case atom.Meta:
		s.readMeta(readAttributes(z))
	}
}

func (s *scanner) readMeta(a tagAttributes) {
	s.robots = s.robots.Merge(robots.ParseMeta(a.name, a.content, s.userAgent))
	if s.noScript > 0 || s.refresh != "" || !strings.EqualFold(a.httpEquiv, "refresh") {
		return
	}
	if delay, to, ok := parseRefresh(a.content); ok && delay <= maxRefresh && len(to) <= maxAddress {
		s.refresh = to
	}
}

// tagAttributes are the attributes of a tag that matter here, trimmed.
type tagAttributes struct{ href, rel, name, content, httpEquiv string }

// readAttributes returns those of the tag that z has read the name of; the first of a name counts.
func readAttributes(z *html.Tokenizer) (a tagAttributes) {
	for {
		key, value, more := z.TagAttr()
		var to *string
		switch string(key) {
		case "href":
			to = &a.href
		case "rel":
			to = &a.rel
		case "name":
			to = &a.name
		case "content":
			to = &a.content
		case "http-equiv":
			to = &a.httpEquiv
		}
		if to != nil && *to == "" {
			*to = string(bytes.TrimSpace(value))
		}
		if !more {
			return a
		}
	}
}

// hasWord reports whether a list of words, in any case, has one.
func hasWord(list, word string) bool {
	for w := range strings.FieldsSeq(list) {
		if strings.EqualFold(w, word) {
			return true
		}
	}
	return false
}

// resolveAll returns the absolute forms of links, as many as are looked at.
func resolveAll(base *url.URL, hrefs []string) (out []string) {
	size := 0
	for _, href := range hrefs {
		address := resolveHref(base, href)
		if address == "" {
			continue
		}
		if size += len(address); size > maxLinkBytes {
			break
		}
		out = append(out, address)
	}
	return out
}

// resolveHref returns the absolute form of a link, without a fragment, or nothing if it leads to no page.
func resolveHref(base *url.URL, href string) string {
	if href == "" || strings.HasPrefix(href, "#") {
		return ""
	}
	u, err := base.Parse(cleanReference(href))
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return ""
	}
	u.Fragment, u.RawFragment = "", ""
	if !isASCII(u.Host) {
		name, err := idna.Lookup.ToASCII(u.Hostname())
		if err != nil {
			return ""
		}
		u.Host = strings.Replace(u.Host, u.Hostname(), name, 1)
	}
	if out := u.String(); len(out) <= maxAddress {
		return out
	}
	return ""
}

// cleanReference does with an address what browsers do: tabs and line breaks within do not count, and a backslash in a
// path is a slash.
func cleanReference(href string) string {
	href = strings.NewReplacer("\t", "", "\n", "", "\r", "").Replace(strings.TrimSpace(href))
	end := strings.IndexAny(href, "?#")
	if end < 0 {
		end = len(href)
	}
	return strings.ReplaceAll(href[:end], `\`, "/") + href[end:]
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= 0x80 {
			return false
		}
	}
	return true
}
