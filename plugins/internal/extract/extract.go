// Package extract turns web pages and HTML files into readable text or Markdown.
package extract

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"net/url"
	"strings"
	"unicode/utf8"

	"codeberg.org/readeck/go-readability/render"
	"github.com/JohannesKaufmann/html-to-markdown/v2/converter"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/base"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/commonmark"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/table"
	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
	"golang.org/x/net/html/charset"

	"github.com/patchbay-dev/patchbay/plugins/internal/texts"
)

// Format is the form of the extracted text.
type Format string

// The formats.
const (
	Markdown Format = "markdown"
	Text     Format = "text"
)

// Page is what was extracted.
type Page struct {
	Title string
	Text  string
	// Images are absolute http and https addresses, each once.
	Images []string
}

// ErrNoText: the page holds nothing to read.
var ErrNoText = errors.New("page has no readable text")

const (
	maxElements = 200_000
	maxImages   = 50
	// maxAddresses is how long the addresses of one page may become together when they are made absolute, in bytes. The rest
	// stays as it is.
	maxAddresses = 1 << 20
	// minArticle is the share of a page's text, as a divisor, below which the article that was found is not trusted.
	minArticle = 4
)

// HTML extracts the main content of an HTML document. contentType is that of the answer and may be empty; address is
// where the document comes from and may be nil. Markup that cannot be handled is an error, never a panic.
func HTML(body []byte, contentType string, address *url.URL, format Format) (page *Page, err error) {
	defer func() {
		if p := recover(); p != nil {
			page, err = nil, errors.New("page cannot be read")
		}
	}()
	if len(body) == 0 {
		return nil, ErrNoText
	}
	r, err := charset.NewReader(bytes.NewReader(body), contentType)
	if err != nil {
		return nil, fmt.Errorf("decode page: %w", err)
	}
	doc, err := html.Parse(r)
	if err != nil {
		return nil, errors.New("page cannot be parsed")
	}
	if address == nil {
		address = &url.URL{}
	}
	return fromNode(doc, address, format)
}

func fromNode(doc *html.Node, address *url.URL, format Format) (*Page, error) {
	head, address := readHead(doc), findBase(doc, address)
	whole := findNode(doc, atom.Body)
	if whole == nil {
		whole = doc
	}
	pruneBody(whole)
	normalizeCode(whole)
	first := findNode(whole, atom.H1)
	content := mainContent(doc, whole, address)
	page := &Page{Title: head.titleFor(content, first)}
	text, err := convertNode(content, address, format)
	if err != nil {
		return nil, err
	}
	page.Images = listImages(content, address)
	heading := findNode(content, atom.H1) != nil || squeezeSpaces(readText(firstHeading(content))) == page.Title
	if len(text) <= emptyText && len(head.article) > len(text) {
		text, heading = head.articleText(), false
		page.Title = cmp.Or(squeezeSpaces(head.headline), page.Title)
	}
	if text = texts.DropOpaque(text); strings.TrimSpace(text) == "" {
		return nil, ErrNoText
	}
	if !head.isNew(content) {
		head.description = ""
	}
	page.Text = withHead(text, page.Title, head.description, format, heading)
	return page, nil
}

// Fragment turns a piece of HTML, such as the text of a feed's entry, into Markdown. address is where its relative
// addresses begin and may be nil. Markup that cannot be handled is an error, never a panic.
func Fragment(text string, address *url.URL) (markdown string, err error) {
	defer func() {
		if p := recover(); p != nil {
			markdown, err = "", errors.New("text cannot be read")
		}
	}()
	doc, err := html.Parse(strings.NewReader(text))
	if err != nil {
		return "", errors.New("text cannot be parsed")
	}
	if address == nil {
		address = &url.URL{}
	}
	return convertNode(findBody(doc), address, Markdown)
}

func convertNode(node *html.Node, address *url.URL, format Format) (string, error) {
	if format == Text {
		return strings.TrimSpace(render.InnerText(node)), nil
	}
	conv := converter.NewConverter(converter.WithPlugins(
		base.NewBasePlugin(), commonmark.NewCommonmarkPlugin(), table.NewTablePlugin(),
	))
	resolveAddresses(node, address)
	out, err := conv.ConvertNode(node)
	if err != nil {
		return "", errors.New("page cannot be converted to Markdown")
	}
	return strings.TrimSpace(string(out)), nil
}

// resolveAddresses makes the links and images of an element absolute, if the page's address is known, within a bound. A link that leads
// nowhere becomes text.
func resolveAddresses(node *html.Node, page *url.URL) {
	room := maxAddresses
	for n := range node.Descendants() {
		key := map[atom.Atom]string{atom.Img: "src", atom.A: "href"}[n.DataAtom]
		if n.DataAtom == atom.A && findAttribute(n, key) == "" {
			n.Data, n.DataAtom = "span", atom.Span
		}
		for i, a := range n.Attr {
			if key == "" || a.Key != key || page.Host == "" || room <= 0 {
				continue
			}
			if u, err := page.Parse(strings.TrimSpace(a.Val)); err == nil {
				n.Attr[i].Val = u.String()
				room -= len(n.Attr[i].Val)
			}
		}
	}
}

// findBase returns the address at which the relative addresses of a page begin.
func findBase(doc *html.Node, page *url.URL) *url.URL {
	if base := findNode(doc, atom.Base); base != nil && page.Host != "" {
		for _, a := range base.Attr {
			if u, err := page.Parse(strings.TrimSpace(a.Val)); a.Key == "href" && err == nil && u.Host != "" {
				return u
			}
		}
	}
	return page
}

// findBody returns the body without what is never text.
func findBody(doc *html.Node) *html.Node {
	node := findNode(doc, atom.Body)
	if node == nil {
		return doc
	}
	stripNodes(node)
	return node
}

func stripNodes(n *html.Node) {
	for c := n.FirstChild; c != nil; {
		next := c.NextSibling
		switch c.DataAtom {
		case atom.Script, atom.Style, atom.Noscript, atom.Template, atom.Iframe, atom.Svg:
			n.RemoveChild(c)
		default:
			stripNodes(c)
		}
		c = next
	}
}

func findNode(n *html.Node, what atom.Atom) *html.Node {
	if n.Type == html.ElementNode && n.DataAtom == what {
		return n
	}
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		if hit := findNode(c, what); hit != nil {
			return hit
		}
	}
	return nil
}

func readText(n *html.Node) string {
	if n == nil {
		return ""
	}
	var b strings.Builder
	for c := range n.Descendants() {
		if c.Type == html.TextNode {
			b.WriteString(strings.TrimSpace(c.Data))
			b.WriteByte(' ')
		}
	}
	return b.String()
}

func squeezeSpaces(s string) string { return strings.Join(strings.Fields(s), " ") }

func listImages(n *html.Node, address *url.URL) []string {
	out, seen := []string{}, map[string]bool{}
	for c := range n.Descendants() {
		if c.DataAtom != atom.Img || len(out) == maxImages {
			continue
		}
		for _, a := range c.Attr {
			u, err := address.Parse(a.Val)
			if a.Key != "src" || err != nil || u.Scheme != "http" && u.Scheme != "https" || seen[u.String()] {
				continue
			}
			seen[u.String()] = true
			out = append(out, u.String())
		}
	}
	return out
}

// readPlainText decodes a text that is no HTML.
func readPlainText(data []byte, contentType string) (*Page, error) {
	if !utf8.Valid(data) {
		r, err := charset.NewReader(bytes.NewReader(data), contentType)
		if err != nil {
			return nil, fmt.Errorf("decode text: %w", err)
		}
		if data, err = io.ReadAll(r); err != nil {
			return nil, fmt.Errorf("decode text: %w", err)
		}
	}
	text := texts.DropOpaque(strings.TrimSpace(strings.ToValidUTF8(string(data), "\uFFFD")))
	if text == "" {
		return nil, ErrNoText
	}
	return &Page{Text: text, Images: []string{}}, nil
}
