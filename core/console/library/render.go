package library

import (
	"bytes"
	"path"
	"regexp"
	"strconv"
	"strings"
	"unicode"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	east "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
)

// Root is the address of the documents in the console, and pictures that of their pictures.
const (
	Root     = "/system/docs"
	pictures = Root + "/files/"
)

// linkPattern finds links of Markdown: their words and their addresses.
var linkPattern = regexp.MustCompile(`\[([^\]]+)\]\(([^)\s]+)\)`)

// renderPage renders a document. What leads to other files of the repository becomes plain words, since the console does not have them.
func renderPage(name string, content []byte) (*Page, error) {
	md := goldmark.New(goldmark.WithExtensions(extension.GFM), goldmark.WithParserOptions(parser.WithAutoHeadingID()))
	ids := parser.WithContext(parser.NewContext(parser.WithIDs(&anchors{seen: map[string]int{}})))
	root := md.Parser().Parse(text.NewReader(content), ids)
	page := &Page{Name: name}
	var title ast.Node
	var plain strings.Builder
	err := ast.Walk(root, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.Heading:
			words := plainText(n, content)
			if n.Level == 1 && page.Title == "" {
				page.Title, title = words, n
			} else if id, ok := n.AttributeString("id"); ok && n.Level <= 3 {
				page.Headings = append(page.Headings, Heading{string(id.([]byte)), words, n.Level})
			}
		case *ast.Paragraph, *ast.TextBlock, *east.TableCell:
			plain.WriteString(plainText(n, content) + "\n")
		case *ast.Link:
			page.links = append(page.links, string(n.Destination))
			n.Destination = []byte(consoleAddress(name, string(n.Destination)))
		case *ast.Image:
			n.Destination = []byte(pictures + path.Join(path.Dir(name), string(n.Destination)))
		}
		return ast.WalkContinue, nil
	})
	if err != nil {
		return nil, err
	}
	if title != nil {
		root.RemoveChild(root, title)
	}
	unlinkForeign(root)
	var out bytes.Buffer
	if err := md.Renderer().Render(&out, content, root); err != nil {
		return nil, err
	}
	// Code that is wider than the page scrolls, also with keys.
	page.HTML, page.text = strings.ReplaceAll(out.String(), "<pre>", `<pre tabindex="0">`), plain.String()
	page.lower = strings.ToLower(page.Title + "\n" + page.text)
	return page, nil
}

// consoleAddress returns where a link of a page leads to in the console: "" for a file that it does not have.
func consoleAddress(from, to string) string {
	if strings.Contains(to, "://") || strings.HasPrefix(to, "#") || strings.HasPrefix(to, "mailto:") {
		return to
	}
	name, anchor := pageName(from, to)
	if name == "" {
		return ""
	}
	return Root + "/" + name + anchor
}

// pageName returns the name of the page that a relative link means, and its anchor; "" for another file.
func pageName(from, to string) (name, anchor string) {
	to, anchor, _ = strings.Cut(to, "#")
	if anchor != "" {
		anchor = "#" + anchor
	}
	if to == DecisionsName || to == DecisionsName+"/" {
		return DecisionsName, anchor
	}
	place, isPage := strings.CutSuffix(to, ".md")
	if !isPage {
		return "", ""
	}
	if base, ok := strings.CutPrefix(place, "../../sdk/docs/"); ok {
		return base, anchor
	}
	if base, ok := strings.CutPrefix(place, "../../core/docs/"); ok {
		return base, anchor
	}
	if name = path.Join(path.Dir(from), place); strings.HasPrefix(name, "..") {
		return "", ""
	}
	return name, anchor
}

// unlinkForeign puts the words of links that lead nowhere in place of these.
func unlinkForeign(root ast.Node) {
	var foreign []*ast.Link
	_ = ast.Walk(root, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if link, ok := n.(*ast.Link); ok && entering && len(link.Destination) == 0 {
			foreign = append(foreign, link)
		}
		return ast.WalkContinue, nil
	})
	for _, link := range foreign {
		parent := link.Parent()
		for c := link.FirstChild(); c != nil; {
			next := c.NextSibling()
			parent.InsertBefore(parent, link, c)
			c = next
		}
		parent.RemoveChild(parent, link)
	}
}

// plainText returns what a reader sees of a node.
func plainText(n ast.Node, content []byte) string {
	var b strings.Builder
	_ = ast.Walk(n, func(c ast.Node, entering bool) (ast.WalkStatus, error) {
		if t, ok := c.(*ast.Text); ok && entering {
			b.Write(t.Value(content))
			if t.SoftLineBreak() || t.HardLineBreak() {
				b.WriteByte(' ')
			}
		}
		return ast.WalkContinue, nil
	})
	return b.String()
}

// anchors makes the ids of headings as GitHub does. It implements parser.IDs.
type anchors struct{ seen map[string]int }

// Generate implements parser.IDs.
func (a *anchors) Generate(value []byte, _ ast.NodeKind) []byte {
	id := strings.Map(func(r rune) rune {
		switch {
		case unicode.IsLetter(r) || unicode.IsDigit(r) || r == '-' || r == '_':
			return unicode.ToLower(r)
		case r == ' ':
			return '-'
		}
		return -1
	}, strings.TrimSpace(string(value)))
	n := a.seen[id]
	a.seen[id]++
	if n > 0 {
		id += "-" + strconv.Itoa(n)
	}
	return []byte(id)
}

// Put implements parser.IDs.
func (a *anchors) Put(value []byte) { a.seen[string(value)]++ }
