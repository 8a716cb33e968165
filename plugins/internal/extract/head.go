package extract

import (
	"cmp"
	"encoding/json"
	"strings"

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
	h.title = squeeze(textOf(find(doc, atom.Title)))
	data := 0
	for n := range doc.Descendants() {
		switch {
		case n.DataAtom == atom.Meta:
			h.readMeta(n)
		case n.DataAtom == atom.Script && strings.HasPrefix(attr(n, "type"), "application/ld+json") && n.FirstChild != nil:
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
			content = squeeze(a.Val)
		}
	}
	switch name := cmp.Or(attr(n, "name"), attr(n, "property")); {
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

// titleFor returns the title of a page: its heading, or what it says to programs, where its title begins or ends with that
// and the rest is the name of the site; else its title.
func (h pageHead) titleFor(body *html.Node) string {
	heading := squeeze(textOf(find(body, atom.H1)))
	for _, short := range []string{heading, h.ogTitle} {
		if short != "" && (strings.HasPrefix(h.title, short) || strings.HasSuffix(h.title, short)) {
			return short
		}
	}
	return cmp.Or(h.title, h.ogTitle, heading)
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

// withHead puts the title and the description of a page before its text, as far as the text does not have them.
func withHead(text string, title, description string, format Format, hasHeading bool) string {
	var head []string
	if title != "" && !hasHeading {
		if format == Markdown {
			title = "# " + title
		}
		head = append(head, title)
	}
	plain := squeeze(strings.NewReplacer("`", "", "*", "", `\`, "").Replace(text))
	start := strings.TrimRight(description[:min(len(description), sameStart)], ".… ")
	if len(description) >= minDescription && !strings.Contains(plain, start) && !strings.EqualFold(description, title) {
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
