package guard

import (
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	gmtext "github.com/yuin/goldmark/text"
)

// TestLinksOfDocuments checks that each relative link of a document leads to a file or folder of the tree, and to a heading of a document
// where it names one. Pages of core/docs link to each other by plain file names.
func TestLinksOfDocuments(t *testing.T) {
	documents := map[string][]byte{}
	files(t, ".", func(p string, content []byte) {
		if !strings.Contains(p, "testdata/") {
			documents[p] = content
		}
	}, ".md")
	headings, links := map[string]map[string]bool{}, 0
	for p, content := range documents {
		headings[p] = listAnchors(content)
	}
	for p, content := range documents {
		for _, link := range listLinks(content) {
			target, anchor, _ := strings.Cut(link, "#")
			if strings.Contains(target, ":") {
				continue
			}
			links++
			at := p
			if target != "" {
				at = path.Join(path.Dir(p), target)
			}
			if _, err := os.Stat(filepath.Join(root(t), at)); err != nil {
				t.Errorf("%s links to %s, which is not there", p, link)
			} else if anchor != "" && headings[at] != nil && !headings[at][anchor] {
				t.Errorf("%s links to %s, and %s has no such heading", p, link, at)
			}
		}
	}
	if links < 100 {
		t.Errorf("%d relative links were found; have the documents moved?", links)
	}
}

// TestIndexListsPages checks that core/docs/index.md leads to each page of the folder.
func TestIndexListsPages(t *testing.T) {
	const index = "core/docs/index.md"
	content, err := os.ReadFile(filepath.Join(root(t), index))
	if err != nil {
		t.Fatal(err)
	}
	listed := listLinks(content)
	files(t, path.Dir(index), func(p string, _ []byte) {
		if path.Dir(p) == path.Dir(index) && p != index && !slices.Contains(listed, path.Base(p)) {
			t.Errorf("%s does not list %s: say in a line what it is about", index, path.Base(p))
		}
	}, ".md")
}

// listLinks returns the destinations of the links and pictures of a document.
func listLinks(content []byte) (out []string) {
	walkMarkdown(content, func(n ast.Node) {
		switch n := n.(type) {
		case *ast.Link:
			out = append(out, string(n.Destination))
		case *ast.Image:
			out = append(out, string(n.Destination))
		}
	})
	return out
}

// notInAnchor is what the anchor of a heading leaves out.
var notInAnchor = regexp.MustCompile(`[^\p{L}\p{N}_ -]`)

// listAnchors returns the anchors of the headings of a document, as code hosts make them.
func listAnchors(content []byte) map[string]bool {
	out := map[string]bool{}
	walkMarkdown(content, func(n ast.Node) {
		if h, ok := n.(*ast.Heading); ok {
			var b strings.Builder
			writeHeadingText(&b, h, content)
			out[strings.ReplaceAll(notInAnchor.ReplaceAllString(strings.ToLower(b.String()), ""), " ", "-")] = true
		}
	})
	return out
}

// writeHeadingText writes the text below a node, with that of code.
func writeHeadingText(b *strings.Builder, n ast.Node, content []byte) {
	for child := n.FirstChild(); child != nil; child = child.NextSibling() {
		if text, ok := child.(*ast.Text); ok {
			b.Write(text.Segment.Value(content))
		}
		writeHeadingText(b, child, content)
	}
}

// walkMarkdown visits each node of a document once.
func walkMarkdown(content []byte, visit func(ast.Node)) {
	document := goldmark.New(goldmark.WithExtensions(extension.GFM)).Parser().Parse(gmtext.NewReader(content))
	_ = ast.Walk(document, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if entering {
			visit(n)
		}
		return ast.WalkContinue, nil
	})
}
