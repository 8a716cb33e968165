package prose

import (
	"fmt"
	"slices"
	"strings"

	"github.com/yuin/goldmark/ast"
	east "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/text"
)

// Compare returns how the structure of a translation differs from that of its source, "" if it does not: the blocks and their order,
// the contents of code and HTML, and the targets of links and images.
func Compare(source, translated string) string {
	a, b := newOutline(source), newOutline(translated)
	for i := range min(len(a.blocks), len(b.blocks)) {
		if a.blocks[i] != b.blocks[i] {
			return fmt.Sprintf("block %d is %s in the text and %s in the answer", i+1, shorten(a.blocks[i]), shorten(b.blocks[i]))
		}
	}
	if len(a.blocks) != len(b.blocks) {
		return fmt.Sprintf("the text has %d blocks and the answer %d", len(a.blocks), len(b.blocks))
	}
	slices.Sort(a.inlines)
	slices.Sort(b.inlines)
	for i := range max(len(a.inlines), len(b.inlines)) {
		switch {
		case i >= len(b.inlines) || i < len(a.inlines) && a.inlines[i] < b.inlines[i]:
			return shorten(a.inlines[i]) + " is missing"
		case i >= len(a.inlines) || a.inlines[i] > b.inlines[i]:
			return shorten(b.inlines[i]) + " is not in the text"
		}
	}
	return ""
}

const maxShown = 60

func shorten(s string) string {
	if r := []rune(s); len(r) > maxShown {
		s = string(r[:maxShown]) + "…"
	}
	return strings.ReplaceAll(s, "\n", " ")
}

// outline is what must be the same in a text and its translation.
type outline struct {
	// blocks are in their order; inlines may stand in another order.
	blocks, inlines []string
}

func newOutline(source string) (out outline) {
	raw := []byte(strings.ReplaceAll(source, "\r\n", "\n"))
	doc := parser.Parse(text.NewReader(raw))
	_ = ast.Walk(doc, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		if n.Type() == ast.TypeInline {
			if word := describeInline(n, raw); word != "" {
				out.inlines = append(out.inlines, word)
			}
			return ast.WalkContinue, nil
		}
		out.blocks = append(out.blocks, describeBlock(n, raw))
		return ast.WalkContinue, nil
	})
	return out
}

func describeBlock(n ast.Node, source []byte) string {
	word := strings.Repeat(">", measureDepth(n)) + n.Kind().String()
	switch n := n.(type) {
	case *ast.Heading:
		return fmt.Sprintf("%s %d", word, n.Level)
	case *ast.List:
		return fmt.Sprintf("%s %c %d", word, n.Marker, n.Start)
	case *ast.FencedCodeBlock:
		return word + " " + string(n.Language(source)) + " " + joinLines(n, source)
	case *ast.CodeBlock, *ast.HTMLBlock:
		return word + " " + joinLines(n, source)
	case *ast.TextBlock, *ast.Paragraph:
		// Whether the items of a list have blank lines between them may change with a word.
		return strings.Repeat(">", measureDepth(n)) + "Paragraph"
	}
	return word
}

func measureDepth(n ast.Node) (depth int) {
	for p := n.Parent(); p != nil; p = p.Parent() {
		depth++
	}
	return depth
}

func joinLines(n ast.Node, source []byte) string { return string(n.Lines().Value(source)) }

// describeInline returns what an inline element is, "" for one whose words are translated.
func describeInline(n ast.Node, source []byte) string {
	switch n := n.(type) {
	case *ast.CodeSpan:
		var b strings.Builder
		for c := n.FirstChild(); c != nil; c = c.NextSibling() {
			if t, ok := c.(*ast.Text); ok {
				b.Write(t.Segment.Value(source))
			}
		}
		return "`" + b.String() + "`"
	case *ast.Link:
		return "the link to " + string(n.Destination)
	case *ast.Image:
		return "the image " + string(n.Destination)
	case *ast.AutoLink:
		return "the link to " + string(n.URL(source))
	case *ast.RawHTML:
		return string(n.Segments.Value(source))
	case *east.TaskCheckBox:
		return fmt.Sprintf("a box ticked %v", n.IsChecked)
	}
	return ""
}
