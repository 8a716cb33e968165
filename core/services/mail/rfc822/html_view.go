package rfc822

import (
	"net/url"
	"regexp"
	"strings"

	"github.com/microcosm-cc/bluemonday"
)

// HTMLView says how the HTML of a message is shown.
type HTMLView struct {
	// InlineURL returns the address of the attachment with a Content-ID, or "" if there is none.
	InlineURL func(contentID string) string
	// RemoteImages lets images load from other sites, which tells these that the message is read.
	RemoteImages bool
}

// viewElements are the elements that stay. Those with content that is not text, such as script and style, go with it.
var viewElements = []string{
	"a", "abbr", "address", "article", "aside", "b", "bdi", "bdo", "big", "blockquote", "br", "caption", "center", "cite", "code", "col", "colgroup",
	"dd", "del", "details", "dfn", "div", "dl", "dt", "em", "figcaption", "figure", "font", "footer", "h1", "h2", "h3", "h4", "h5", "h6", "header",
	"hr", "i", "img", "ins", "kbd", "li", "main", "mark", "ol", "p", "pre", "q", "rp", "rt", "ruby", "s", "samp", "section", "small", "span",
	"strike", "strong", "sub", "summary", "sup", "table", "tbody", "td", "tfoot", "th", "thead", "time", "tr", "tt", "u", "ul", "var", "wbr",
}

// viewStyles are the properties of inline styles that stay. None of them loads anything, or leaves the place of its element.
var viewStyles = []string{
	"background-color", "border", "border-bottom", "border-collapse", "border-color", "border-left", "border-radius", "border-right",
	"border-spacing", "border-style", "border-top", "border-width", "color", "direction", "display", "font", "font-family", "font-size",
	"font-style", "font-weight", "height", "letter-spacing", "line-height", "list-style-type", "margin", "margin-bottom", "margin-left",
	"margin-right", "margin-top", "max-width", "min-width", "padding", "padding-bottom", "padding-left", "padding-right", "padding-top",
	"text-align", "text-decoration", "text-indent", "text-transform", "vertical-align", "white-space", "width", "word-break", "word-wrap",
}

var (
	lengthPattern = regexp.MustCompile(`^[0-9]{1,4}(?:\.[0-9]{1,3})?(?:px|%)?$`)
	colorPattern  = regexp.MustCompile(`^(?:#[0-9a-fA-F]{3,8}|[a-zA-Z]{3,20})$`)
	wordPattern   = regexp.MustCompile(`^[a-zA-Z-]{1,20}$`)
	facePattern   = regexp.MustCompile(`^[\w ,'-]{1,200}$`)
)

// SanitizeHTML returns HTML that runs nothing and loads nothing but the message's own images, and those of other sites if the
// view allows them. blocked reports whether images of other sites were left out.
func SanitizeHTML(source string, view HTMLView) (clean string, blocked bool) {
	p := newViewPolicy()
	p.RewriteSrc(func(u *url.URL) {
		switch strings.ToLower(u.Scheme) {
		case "cid":
			*u = *inlineURL(u, view.InlineURL)
		case "http", "https":
			if !view.RemoteImages {
				*u, blocked = url.URL{}, true
			}
		default:
			*u = url.URL{}
		}
	})
	return p.Sanitize(source), blocked
}

// inlineURL returns the address of the attachment to which a cid: URL points, or an empty one.
func inlineURL(u *url.URL, find func(string) string) *url.URL {
	id := u.Opaque
	if decoded, err := url.PathUnescape(id); err == nil {
		id = decoded
	}
	if found, err := url.Parse(find(id)); err == nil {
		return found
	}
	return &url.URL{}
}

// newViewPolicy returns the rules for elements, attributes and links.
func newViewPolicy() *bluemonday.Policy {
	p := bluemonday.NewPolicy()
	p.AllowElements(viewElements...)
	p.AllowStyles(viewStyles...).Globally()
	p.AllowAttrs("dir").Matching(bluemonday.Direction).Globally()
	p.AllowAttrs("lang", "title").Globally()
	p.AllowAttrs("align", "valign").Matching(wordPattern).Globally()
	p.AllowAttrs("width", "height", "border", "cellpadding", "cellspacing", "hspace", "vspace").Matching(lengthPattern).OnElements("table", "td", "th", "tr", "col", "colgroup", "img", "hr")
	p.AllowAttrs("bgcolor", "color").Matching(colorPattern).OnElements("table", "td", "th", "tr", "tbody", "thead", "font", "div", "hr")
	p.AllowAttrs("colspan", "rowspan", "span", "start", "size").Matching(bluemonday.Integer).OnElements("td", "th", "col", "colgroup", "ol", "font", "hr")
	p.AllowAttrs("face").Matching(facePattern).OnElements("font")
	p.AllowAttrs("alt").OnElements("img")
	p.AllowAttrs("src").OnElements("img")
	p.AllowAttrs("href").OnElements("a")
	p.AllowNoAttrs().OnElements("a", "span", "font", "img")
	p.RequireParseableURLs(true)
	p.AllowRelativeURLs(false)
	p.AllowURLSchemes("http", "https", "mailto", "tel", "cid")
	p.RequireNoFollowOnLinks(true)
	p.RequireNoReferrerOnLinks(true)
	p.AddTargetBlankToFullyQualifiedLinks(true)
	return p
}
