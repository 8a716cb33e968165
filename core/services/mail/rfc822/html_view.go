package rfc822

import (
	"net/url"
	"regexp"
	"strings"

	"github.com/microcosm-cc/bluemonday"
	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
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
	"a", "abbr", "address", "article", "aside", "b", "bdi", "bdo", "big", "blockquote", "br", "caption", "center", "cite", "code", "col",
	"colgroup",
	"dd", "del", "details", "dfn", "div", "dl", "dt", "em", "figcaption", "figure", "font", "footer", "h1", "h2", "h3", "h4", "h5", "h6",
	"header",
	"hr", "i", "img", "ins", "kbd", "li", "main", "mark", "ol", "p", "pre", "q", "rp", "rt", "ruby", "s", "samp", "section", "small", "span",
	"strike", "strong", "sub", "summary", "sup", "table", "tbody", "td", "tfoot", "th", "thead", "time", "tr", "tt", "u", "ul", "var", "wbr",
}

var (
	lengthPattern = regexp.MustCompile(`^[0-9]{1,4}(?:\.[0-9]{1,3})?(?:px|%)?$`)
	colorPattern  = regexp.MustCompile(`^(?:#[0-9a-fA-F]{3,8}|[a-zA-Z]{3,20})$`)
	wordPattern   = regexp.MustCompile(`^[a-zA-Z-]{1,20}$`)
	facePattern   = regexp.MustCompile(`^[\w ,'-]{1,200}$`)
)

// dataImage is a data: address of an image without a script.
var dataImage = regexp.MustCompile(`(?i)^data:image/(?:png|jpeg|jpg|gif|webp|avif|bmp);base64,[a-z0-9+/=]+$`)

// sanitizer makes a document of the HTML of a message.
type sanitizer struct {
	view    HTMLView
	blocked bool
}

// SanitizeHTML returns a document that runs nothing and loads nothing but the message's own images, and those of other sites if
// the view allows them. blocked reports whether images of other sites were left out.
func SanitizeHTML(source string, view HTMLView) (document string, blocked bool) {
	s := &sanitizer{view: view}
	policy := newViewPolicy()
	policy.RewriteSrc(func(u *url.URL) {
		found, err := url.Parse(s.imageURL(u.String()))
		if err != nil {
			found = &url.URL{}
		}
		*u = *found
	})
	styles, body := readStyles(source)
	var out strings.Builder
	out.WriteString(`<!doctype html><html><head><meta charset="utf-8"><title></title><style>body{overflow-wrap:break-word}`)
	out.WriteString(filterStyles(styles, s.imageURL))
	out.WriteString("</style></head>")
	out.WriteString(s.filterAttributes(body).String())
	s.writeFiltered(&out, policy.Sanitize(source))
	out.WriteString("</body></html>")
	return out.String(), s.blocked
}

// imageURL returns the address from which an image is loaded, or "" for one that may not be loaded.
func (s *sanitizer) imageURL(address string) string {
	address = strings.TrimSpace(address)
	scheme, rest, _ := strings.Cut(address, ":")
	switch strings.ToLower(scheme) {
	case "cid":
		if decoded, err := url.PathUnescape(rest); err == nil {
			rest = decoded
		}
		return s.view.InlineURL(rest)
	case "http", "https":
		if s.view.RemoteImages {
			return address
		}
		s.blocked = true
	case "data":
		if address = strings.Join(strings.Fields(address), ""); dataImage.MatchString(address) {
			return address
		}
	}
	return ""
}

// readStyles returns the style sheets of a document as one, and its body element.
func readStyles(source string) (styles string, body html.Token) {
	var out strings.Builder
	body = html.Token{Type: html.StartTagToken, Data: "body"}
	z := html.NewTokenizer(strings.NewReader(source))
	for kind := z.Next(); kind != html.ErrorToken; kind = z.Next() {
		if kind != html.StartTagToken {
			continue
		}
		switch t := z.Token(); t.DataAtom {
		case atom.Body:
			body.Attr = append(body.Attr, t.Attr...)
		case atom.Style:
			if z.Next() == html.TextToken {
				writeStyle(&out, t.Attr, string(z.Raw()))
			}
		}
	}
	return out.String(), body
}

// writeStyle appends a style sheet for the media that its element names.
func writeStyle(out *strings.Builder, attributes []html.Attribute, sheet string) {
	media := ""
	for _, a := range attributes {
		if a.Key == "media" && !strings.ContainsAny(a.Val, "{};@") {
			media = a.Val
		}
	}
	if media != "" {
		sheet = "@media " + media + "{" + sheet + "\n}"
	}
	out.WriteString(sheet + "\n")
}

// writeFiltered appends HTML of which the styles in attributes are filtered. Its elements and other attributes are already.
func (s *sanitizer) writeFiltered(out *strings.Builder, clean string) {
	z := html.NewTokenizer(strings.NewReader(clean))
	for kind := z.Next(); kind != html.ErrorToken; kind = z.Next() {
		if kind != html.StartTagToken && kind != html.SelfClosingTagToken {
			out.Write(z.Raw())
			continue
		}
		out.WriteString(s.filterAttributes(z.Token()).String())
	}
}

// filterAttributes returns a tag with filtered styles. A background that is an attribute becomes a style; of the body,
// only what is a style, a class or a language stays.
func (s *sanitizer) filterAttributes(t html.Token) html.Token {
	var kept []html.Attribute
	style := ""
	isBody := t.Data == "body"
	for _, a := range t.Attr {
		switch {
		case a.Key == "background":
			if address := s.imageURL(a.Val); address != "" {
				style = "background-image:url(" + quoteCSSString(address) + ");" + style
			}
		case a.Key == "href" && strings.HasPrefix(strings.ToLower(a.Val), "data:"):
		case a.Key == "style":
			style += filterDeclarations(a.Val, s.imageURL)
		case isBody && a.Key == "bgcolor" && colorPattern.MatchString(a.Val):
			style = "background-color:" + a.Val + ";" + style
		case isBody && a.Key == "text" && colorPattern.MatchString(a.Val):
			style = "color:" + a.Val + ";" + style
		case !isBody, a.Key == "class", a.Key == "id", a.Key == "lang", a.Key == "dir":
			kept = append(kept, a)
		}
	}
	if style != "" {
		kept = append(kept, html.Attribute{Key: "style", Val: style})
	}
	t.Attr = kept
	return t
}

// newViewPolicy returns the rules for elements, attributes and links.
func newViewPolicy() *bluemonday.Policy {
	p := bluemonday.NewPolicy()
	p.AllowElements(viewElements...)
	p.AllowAttrs("class", "id", "style").Globally()
	p.AllowAttrs("background").OnElements("table", "td", "th", "tr", "tbody", "thead", "div")
	p.AllowAttrs("dir").Matching(bluemonday.Direction).Globally()
	p.AllowAttrs("lang", "title").Globally()
	p.AllowAttrs("align", "valign").Matching(wordPattern).Globally()
	p.AllowAttrs("width", "height", "border", "cellpadding", "cellspacing", "hspace", "vspace").Matching(lengthPattern).OnElements("table",
		"td", "th", "tr", "col", "colgroup", "img", "hr")
	p.AllowAttrs("bgcolor", "color").Matching(colorPattern).OnElements("table", "td", "th", "tr", "tbody", "thead", "font", "div", "hr")
	p.AllowAttrs("colspan", "rowspan", "span", "start", "size").Matching(bluemonday.Integer).OnElements("td", "th", "col", "colgroup", "ol",
		"font", "hr")
	p.AllowAttrs("face").Matching(facePattern).OnElements("font")
	p.AllowAttrs("alt").OnElements("img")
	p.AllowAttrs("src").OnElements("img")
	p.AllowAttrs("href").OnElements("a")
	p.AllowNoAttrs().OnElements("a", "span", "font", "img")
	p.RequireParseableURLs(true)
	p.AllowRelativeURLs(false)
	p.AllowURLSchemes("http", "https", "mailto", "tel", "cid")
	p.AllowURLSchemeWithCustomPolicy("data", func(u *url.URL) bool { return dataImage.MatchString(u.String()) })
	p.RequireNoFollowOnLinks(true)
	p.RequireNoReferrerOnLinks(true)
	p.AddTargetBlankToFullyQualifiedLinks(true)
	return p
}
