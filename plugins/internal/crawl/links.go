package crawl

import (
	"bytes"
	"net/http"
	"net/url"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
	"golang.org/x/net/html/charset"
	"golang.org/x/net/idna"
)

// readLinks returns the http and https addresses that an HTML page links to, absolute and in their order. It reads tags
// only, so that no nesting is too deep for it. A page of another kind has no links.
func readLinks(body []byte, contentType string, page *url.URL) []string {
	if contentType == "" {
		contentType = http.DetectContentType(body)
	}
	if media := mediaType(contentType); media != "text/html" && media != "application/xhtml+xml" {
		return nil
	}
	decoded, err := charset.NewReader(bytes.NewReader(body), contentType)
	if err != nil {
		return nil
	}
	base, hrefs := scanLinks(html.NewTokenizer(decoded))
	if u, err := page.Parse(cleanReference(base)); err == nil && base != "" {
		page = u
	}
	var out []string
	bytes := 0
	for _, href := range hrefs {
		address := resolve(page, href)
		if address == "" || len(address) > maxAddress {
			continue
		}
		if bytes += len(address); bytes > maxLinkBytes {
			break
		}
		out = append(out, address)
	}
	return out
}

// scanLinks returns the first base address of a document, if it has one, and at most maxLinks links as they are written.
func scanLinks(z *html.Tokenizer) (base string, hrefs []string) {
	for len(hrefs) < maxLinks {
		kind := z.Next()
		if kind == html.ErrorToken {
			return base, hrefs
		}
		if kind != html.StartTagToken && kind != html.SelfClosingTagToken {
			continue
		}
		name, more := z.TagName()
		tag := atom.Lookup(name)
		if !more || tag != atom.A && tag != atom.Area && tag != atom.Base {
			continue
		}
		href := strings.TrimSpace(hrefOf(z))
		switch {
		case href == "" || len(href) > maxAddress:
		case tag != atom.Base:
			hrefs = append(hrefs, href)
		case base == "":
			base = href
		}
	}
	return base, hrefs
}

// hrefOf returns the first href of the tag that z has read the name of.
func hrefOf(z *html.Tokenizer) string {
	for {
		key, value, more := z.TagAttr()
		if string(key) == "href" {
			return string(value)
		}
		if !more {
			return ""
		}
	}
}

// resolve returns the absolute form of a link, without a fragment, or nothing if it leads to no page.
func resolve(base *url.URL, href string) string {
	u, err := base.Parse(cleanReference(href))
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || strings.HasPrefix(href, "#") {
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
	return u.String()
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
