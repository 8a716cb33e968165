package extract

import (
	"net/url"
	"strings"

	"codeberg.org/readeck/go-readability"
	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

const (
	// minMain is how many bytes of text a main element has at least, or else its share of the page's text, as a divisor,
	// so that it is trusted.
	minMain      = 250
	minMainShare = 10
	// minLead is the share of the text of several articles, as a divisor by 5, that one has to be the article of the page.
	minLead = 3
)

// mainContent returns the element of a page that holds what it is about, with the head that stands beside it. Decoration
// was removed before. It is what the page itself marks as that, else what looks like an article, else everything.
func mainContent(doc, body *html.Node, address *url.URL) *html.Node {
	total := len(readText(body))
	if node := findLongest(body, isMain); node != nil {
		if n := len(readText(node)); n >= minMain || n*minMainShare >= total {
			return leadArticle(node)
		}
	}
	if articles := findTopmost(body, isArticle); len(articles) > 0 {
		node := commonParent(body, articles)
		if len(articles) == 1 {
			node = articles[0]
		}
		if n := len(readText(node)); n >= minMain || n*minArticle >= total {
			return withHeading(body, leadArticle(node))
		}
	}
	parser := readability.NewParser()
	parser.MaxElemsToParse, parser.KeepClasses = maxElements, true
	if article, err := parser.ParseDocument(doc, address); err == nil && article.Node != nil && len(readText(article.Node))*minArticle >= total {
		return article.Node
	}
	return body
}

func isMain(n *html.Node) bool { return n.DataAtom == atom.Main || findAttribute(n, "role") == "main" }

func isArticle(n *html.Node) bool {
	return n.DataAtom == atom.Article || findAttribute(n, "role") == "article" || findAttribute(n, "itemprop") == "articleBody"
}

// leadArticle returns the article of an element if one of several is by far the longest, with the heading that stands
// before it; the others lead to other pages. Otherwise it returns the element.
func leadArticle(node *html.Node) *html.Node {
	articles := findTopmost(node, isArticle)
	if len(articles) < 2 {
		return node
	}
	sum, lead, most := 0, articles[0], 0
	for _, a := range articles {
		n := len(readText(a))
		if sum += n; n > most {
			lead, most = a, n
		}
	}
	if most*5 < sum*minLead {
		return node
	}
	return withHeading(node, lead)
}

// withHeading returns an article together with the first heading of the page, and what stands with that in its header, if
// they stand before the article and not in it.
func withHeading(whole, article *html.Node) *html.Node {
	title := findNode(whole, atom.H1)
	if title == nil || findNode(article, atom.H1) != nil || isBelow(article, title) {
		return article
	}
	for p := title.Parent; p != nil && p != whole; p = p.Parent {
		if p.DataAtom == atom.Header && !isBelow(p, article) {
			title = p
			break
		}
	}
	if isBelow(article, title) || isBelow(title, article) || !comesBefore(whole, title, article) {
		return article
	}
	out := &html.Node{Type: html.ElementNode, Data: "div", DataAtom: atom.Div}
	for _, n := range []*html.Node{title, article} {
		n.Parent.RemoveChild(n)
		out.AppendChild(n)
	}
	return out
}

// comesBefore reports whether a comes before b in a document.
func comesBefore(doc, a, b *html.Node) bool {
	for n := range doc.Descendants() {
		switch n {
		case a:
			return true
		case b:
			return false
		}
	}
	return false
}

// isBelow reports whether n is top or lies in it.
func isBelow(top, n *html.Node) bool {
	for ; n != nil; n = n.Parent {
		if n == top {
			return true
		}
	}
	return false
}

// findTopmost returns the elements that want fits, without those inside of another.
func findTopmost(n *html.Node, want func(*html.Node) bool) (out []*html.Node) {
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		if c.Type == html.ElementNode && want(c) {
			out = append(out, c)
			continue
		}
		out = append(out, findTopmost(c, want)...)
	}
	return out
}

// findLongest returns the element with the most text of those that want fits, or nil if none has any.
func findLongest(n *html.Node, want func(*html.Node) bool) (out *html.Node) {
	most := 0
	for _, c := range findTopmost(n, want) {
		if size := len(strings.TrimSpace(readText(c))); size > most {
			out, most = c, size
		}
	}
	return out
}

// commonParent returns the innermost element that holds all nodes, at most top.
func commonParent(top *html.Node, nodes []*html.Node) *html.Node {
	for p := nodes[0].Parent; p != nil && p != top; p = p.Parent {
		all := true
		for _, n := range nodes[1:] {
			all = all && isBelow(p, n)
		}
		if all {
			return p
		}
	}
	return top
}

// findAttribute returns an attribute of an element in small letters, without spaces around it.
func findAttribute(n *html.Node, key string) string {
	for _, a := range n.Attr {
		if a.Key == key {
			return strings.ToLower(strings.TrimSpace(a.Val))
		}
	}
	return ""
}

// hasAttr reports whether an element has an attribute.
func hasAttr(n *html.Node, key string) bool {
	for _, a := range n.Attr {
		if a.Key == key {
			return true
		}
	}
	return false
}

// listClasses returns the classes of an element, in small letters.
func listClasses(n *html.Node) []string { return strings.Fields(findAttribute(n, "class")) }
