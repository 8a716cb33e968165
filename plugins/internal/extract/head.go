package extract

import (
	"cmp"
	"encoding/json"
	"strings"
	"unicode"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

const (
	// minDescription is how long a description is at least that is worth its place, and sameStart how much of its beginning
	// is looked for in the text, in bytes.
	minDescription = 20
	sameStart      = 60
	// emptyText is how much text a page has at most that counts as empty, in bytes.
	emptyText = 120
	// maxLinkedData bounds the data for machines that is read in a page, in bytes, and maxDataDepth how deep it is nested.
	maxLinkedData = 2 << 20
	maxDataDepth  = 12
)

// pageHead is what a page says of itself for programs.
type pageHead struct {
	title, ogTitle, description string
	// article is the text that the page gives to programs, as text or HTML, and headline its title.
	article, headline string
}

// readHead reads the elements of a page that are not shown.
func readHead(doc *html.Node) (h pageHead) {
	h.title = squeezeSpaces(readText(findNode(doc, atom.Title)))
	data := 0
	for n := range doc.Descendants() {
		switch {
		case n.DataAtom == atom.Meta:
			h.readMeta(n)
		case n.DataAtom == atom.Script && strings.HasPrefix(findAttribute(n, "type"), "application/ld+json") && n.FirstChild != nil:
			text := n.FirstChild.Data
			var v any
			if data += len(text); data <= maxLinkedData && json.Unmarshal([]byte(text), &v) == nil {
				h.readLinkedData(v, 0)
			}
		}
	}
	return h
}

func (h *pageHead) readMeta(n *html.Node) {
	content := ""
	for _, a := range n.Attr {
		if a.Key == "content" {
			content = squeezeSpaces(a.Val)
		}
	}
	switch name := cmp.Or(findAttribute(n, "name"), findAttribute(n, "property")); {
	case content == "":
	case name == "description", name == "og:description" && h.description == "":
		h.description = content
	case name == "og:title":
		h.ogTitle = content
	}
}

// readLinkedData takes the longest articleBody out of JSON-LD.
func (h *pageHead) readLinkedData(v any, depth int) {
	if depth > maxDataDepth {
		return
	}
	switch v := v.(type) {
	case []any:
		for _, item := range v {
			h.readLinkedData(item, depth+1)
		}
	case map[string]any:
		if body, ok := v["articleBody"].(string); ok && len(body) > len(h.article) {
			h.article = body
			h.headline, _ = v["headline"].(string)
		}
		for _, item := range v {
			h.readLinkedData(item, depth+1)
		}
	}
}

// titleFor returns the title of a page: its heading, else what it says to programs. first is the first main heading of the
// whole page, which may be the name of the site, or nil.
func (h pageHead) titleFor(content, first *html.Node) string {
	if heading := squeezeSpaces(readText(findNode(content, atom.H1))); heading != "" && !h.endsWith(heading) {
		return heading
	}
	for _, short := range []string{squeezeSpaces(readText(firstHeading(content))), squeezeSpaces(readText(first)), h.ogTitle} {
		if short != "" && len(short) <= len(h.title) && strings.EqualFold(h.title[:len(short)], short) {
			return short
		}
	}
	return cmp.Or(h.title, h.ogTitle, squeezeSpaces(readText(first)))
}

// endsWith reports whether the title of a page ends with a heading after something else: then that is the name of the site.
func (h pageHead) endsWith(heading string) bool {
	rest, ok := strings.CutSuffix(h.title, heading)
	return ok && strings.TrimSpace(rest) != ""
}

// firstHeading returns the first heading of the first two levels, or nil.
func firstHeading(n *html.Node) *html.Node {
	for c := range n.Descendants() {
		if c.DataAtom == atom.H1 || c.DataAtom == atom.H2 {
			return c
		}
	}
	return nil
}

// isNew reports whether a page has a description that is not its title and that its text does not hold.
func (h pageHead) isNew(content *html.Node) bool {
	start := keepLetters(h.description[:min(len(h.description), sameStart)])
	return len(h.description) >= minDescription && !strings.Contains(keepLetters(readText(content)), start) &&
		!strings.HasPrefix(keepLetters(h.title), start)
}

// keepLetters returns the letters and digits of a text, in small letters.
func keepLetters(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return unicode.ToLower(r)
		}
		return -1
	}, strings.ToValidUTF8(s, ""))
}

// articleText returns the text that a page gives to programs.
func (h pageHead) articleText() string {
	if strings.Contains(h.article, "</") || strings.Contains(h.article, "<br") {
		if text, err := Fragment(h.article, nil); err == nil {
			return text
		}
	}
	return strings.TrimSpace(html.UnescapeString(h.article))
}

// withHead puts the title and the description of a page before its text. Either may be empty.
func withHead(text string, title, description string, format Format, hasHeading bool) string {
	var head []string
	if title != "" && !hasHeading {
		if format == Markdown {
			title = "# " + title
		}
		head = append(head, title)
	}
	if description != "" {
		head = append(head, description)
	}
	if len(head) == 0 {
		return text
	}
	if first, rest, _ := strings.Cut(text, "\n"); hasHeading && strings.HasPrefix(first, "# ") {
		return first + "\n\n" + strings.Join(head, "\n\n") + "\n" + rest
	}
	return strings.Join(append(head, text), "\n\n")
}
