package robots

import (
	"net/http"
	"strings"
)

// Directives are what a page, or the header of its answer, asks of crawlers.
type Directives struct {
	// NoIndex asks not to be found, NoFollow not to follow the page's links.
	NoIndex, NoFollow bool
}

// Merge returns what d and e ask for together.
func (d Directives) Merge(e Directives) Directives {
	return Directives{NoIndex: d.NoIndex || e.NoIndex, NoFollow: d.NoFollow || e.NoFollow}
}

// ParseDirectives reads a list of directives, such as "noindex, nofollow".
func ParseDirectives(list string) (d Directives) {
	for word := range strings.SplitSeq(list, ",") {
		switch strings.ToLower(strings.TrimSpace(word)) {
		case "noindex":
			d.NoIndex = true
		case "nofollow":
			d.NoFollow = true
		case "none":
			d.NoIndex, d.NoFollow = true, true
		}
	}
	return d
}

// ParseMeta reads a meta element. Its name is "robots" for all crawlers, or the product token of one of them.
func ParseMeta(name, content, userAgent string) Directives {
	if name = strings.ToLower(strings.TrimSpace(name)); name != "robots" && name != productToken(userAgent) {
		return Directives{}
	}
	return ParseDirectives(content)
}

// ParseHeader reads the X-Robots-Tag fields of an answer. A field may begin with the name of a crawler and a colon; then it
// is for that one alone.
func ParseHeader(h http.Header, userAgent string) (d Directives) {
	for _, field := range h.Values("X-Robots-Tag") {
		first, rest, named := strings.Cut(field, ":")
		agent := strings.ToLower(strings.TrimSpace(first))
		switch {
		case !named, strings.Contains(first, ","), isDirective(agent):
			d = d.Merge(ParseDirectives(field))
		case agent == productToken(userAgent) || agent == "*":
			d = d.Merge(ParseDirectives(rest))
		}
	}
	return d
}

// isDirective reports whether a word before a colon is a directive with a value rather than a crawler.
func isDirective(word string) bool {
	return word == "unavailable_after" || strings.HasPrefix(word, "max-")
}
