// Package markdown turns the Markdown of releases and briefs into HTML that runs nothing and loads nothing.
package markdown

import (
	"bytes"
	"html"
	"net/url"
	"regexp"
	"strings"

	"github.com/alecthomas/chroma/v2"
	formatter "github.com/alecthomas/chroma/v2/formatters/html"
	"github.com/alecthomas/chroma/v2/lexers"
	"github.com/alecthomas/chroma/v2/styles"
	"github.com/microcosm-cc/bluemonday"
	"github.com/yuin/goldmark"
	emoji "github.com/yuin/goldmark-emoji"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/renderer"
	rendererhtml "github.com/yuin/goldmark/renderer/html"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// maxHighlighted is the longest code that is coloured, in bytes.
const maxHighlighted = 64 << 10

// maxFootnotes is how many footnotes, and references to them, notes may have: the work grows with their product.
const maxFootnotes = 400

// Renderer turns Markdown into HTML. It is safe for concurrent use.
type Renderer struct {
	markdown goldmark.Markdown
	// notes is for notes of releases, plain for those with too many footnotes.
	notes, plain goldmark.Markdown
	policy       *bluemonday.Policy
}

// NewRenderer returns a renderer. Links that begin with a slash lead below base, a path.
func NewRenderer(base string) *Renderer {
	extensions := []goldmark.Extender{
		extension.Linkify, extension.Strikethrough, extension.TaskList,
		extension.NewTable(extension.WithTableCellAlignMethod(extension.TableCellAlignAttribute)),
	}
	code := goldmark.WithRendererOptions(rendererhtml.WithUnsafe(), renderer.WithNodeRenderers(util.Prioritized(codeRenderer{}, 100)))
	ofNotes := func(more ...goldmark.Extender) goldmark.Markdown {
		return goldmark.New(
			goldmark.WithExtensions(append(append(more, emoji.Emoji), extensions...)...), code,
			goldmark.WithParserOptions(parser.WithASTTransformers(util.Prioritized(linkTransformer{}, 500),
				util.Prioritized(noteTransformer{}, 600))),
		)
	}
	return &Renderer{
		markdown: goldmark.New(goldmark.WithExtensions(extensions...), code,
			goldmark.WithParserOptions(parser.WithASTTransformers(util.Prioritized(linkTransformer{base}, 500)))),
		notes:  ofNotes(extension.NewFootnote(extension.WithFootnoteIDPrefixFunction(footnotePrefix))),
		plain:  ofNotes(),
		policy: newPolicy(),
	}
}

// focusable has what may be wider than the page take the focus, so that it is scrolled with keys. What the policy leaves of the
// elements begins in no other way.
var focusable = strings.NewReplacer("<pre>", `<pre tabindex="0">`, "<pre class=", `<pre tabindex="0" class=`, "<table>",
	`<table tabindex="0">`)

// Render returns Markdown as HTML.
func (r *Renderer) Render(source string) string {
	return r.renderWith(r.markdown, source, nil, parser.NewContext())
}

// RenderNotes returns the notes of a release as HTML, as its code host shows them. Relative addresses lead to the page of the release,
// and the names of issues, people and commits to theirs.
func (r *Renderer) RenderNotes(source string, of Page) string {
	ctx := parser.NewContext()
	ctx.Set(pageKey, of)
	m := r.notes
	if strings.Count(source, "[^") > maxFootnotes {
		m = r.plain
	}
	return r.renderWith(m, source, of.address, ctx)
}

// renderWith renders Markdown. Addresses that are relative are those of base, unless it is nil.
func (r *Renderer) renderWith(m goldmark.Markdown, source string, base *url.URL, ctx parser.Context) string {
	var b bytes.Buffer
	if err := m.Convert([]byte(source), &b, parser.WithContext(ctx)); err != nil {
		// Nothing but the writer can fail, and a buffer does not.
		return "<pre>" + html.EscapeString(source) + "</pre>"
	}
	return focusable.Replace(string(r.policy.SanitizeBytes(rewriteLinks(b.Bytes(), base))))
}

// newPolicy returns what of HTML may stay. Images are not part of it: they would tell another site that the page is read.
func newPolicy() *bluemonday.Policy {
	p := bluemonday.NewPolicy()
	p.AllowElements("p", "br", "hr", "h3", "h4", "h5", "h6", "ul", "ol", "li", "dl", "dt", "dd", "blockquote", "pre", "code", "kbd", "samp",
		"var", "em", "strong", "b", "i", "u", "s", "del", "ins",
		"sub", "sup", "details", "summary", "table", "thead", "tbody", "tr", "th", "td", "a", "span", "div")
	p.AllowAttrs("class").Matching(regexp.MustCompile(`^(chroma|[a-z]{1,2}[0-9]?|line)$`)).OnElements("span", "code", "pre")
	p.AllowAttrs("class").Matching(regexp.MustCompile(`^alert(-title|( alert-(note|tip|important|warning|caution)))$`)).OnElements("p",
		"blockquote")
	p.AllowAttrs("id").Matching(regexp.MustCompile(`^n[0-9a-f]{8}-fn(ref)?[0-9]*:[0-9]+$`)).OnElements("li", "sup")
	p.AllowAttrs("align").Matching(regexp.MustCompile(`^(left|right|center)$`)).OnElements("th", "td")
	p.AllowAttrs("start").Matching(bluemonday.Integer).OnElements("ol")
	p.AllowAttrs("href").OnElements("a")
	p.AllowAttrs("title").OnElements("a", "th", "td")
	p.AllowNoAttrs().OnElements("span", "a")
	p.AllowURLSchemes("http", "https", "mailto")
	p.AllowRelativeURLs(true)
	p.RequireParseableURLs(true)
	p.RequireNoFollowOnFullyQualifiedLinks(true)
	p.RequireNoReferrerOnFullyQualifiedLinks(true)
	p.AddTargetBlankToFullyQualifiedLinks(true)
	return p
}

// linkTransformer has links that begin with a slash lead below base, if that is set, lowers headings below those of the page, and makes
// links of images.
type linkTransformer struct{ base string }

// Transform implements parser.ASTTransformer.
func (t linkTransformer) Transform(doc *ast.Document, source text.Reader, _ parser.Context) {
	var images []*ast.Image
	_ = ast.Walk(doc, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.Link:
			if to := string(n.Destination); t.base != "" && strings.HasPrefix(to, "/") && !strings.HasPrefix(to, "//") {
				n.Destination = []byte(t.base + to)
			}
		case *ast.Heading:
			n.Level = min(n.Level+2, 6)
		case *ast.Image:
			images = append(images, n)
		}
		return ast.WalkContinue, nil
	})
	for _, image := range images {
		replaceImage(image, source.Source())
	}
}

// replaceImage puts a link in the place of an image, or its text alone where it stands in a link already.
func replaceImage(image *ast.Image, source []byte) {
	label := imageLabel(image, source)
	var put ast.Node = ast.NewString([]byte(label))
	if !insideLink(image) {
		link := ast.NewLink()
		link.Destination = image.Destination
		link.AppendChild(link, put)
		put = link
	}
	image.Parent().ReplaceChild(image.Parent(), image, put)
}

// imageLabel returns the text of an image, or else its address.
func imageLabel(image *ast.Image, source []byte) string {
	var b strings.Builder
	for n := image.FirstChild(); n != nil; n = n.NextSibling() {
		if t, ok := n.(*ast.Text); ok {
			b.Write(t.Segment.Value(source))
		}
	}
	if b.Len() == 0 {
		b.Write(image.Destination)
	}
	return b.String()
}

func insideLink(n ast.Node) bool {
	for p := n.Parent(); p != nil; p = p.Parent() {
		if p.Kind() == ast.KindLink {
			return true
		}
	}
	return false
}

// codeRenderer colours code by classes, since the policy of pages forbids styles of elements.
type codeRenderer struct{}

// RegisterFuncs implements renderer.NodeRenderer.
func (r codeRenderer) RegisterFuncs(reg renderer.NodeRendererFuncRegisterer) {
	reg.Register(ast.KindFencedCodeBlock, r.renderCode)
	reg.Register(ast.KindString, func(w util.BufWriter, _ []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
		if entering {
			_, _ = w.WriteString(html.EscapeString(string(n.(*ast.String).Value)))
		}
		return ast.WalkContinue, nil
	})
}

func (codeRenderer) renderCode(w util.BufWriter, source []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	if !entering {
		return ast.WalkContinue, nil
	}
	block := n.(*ast.FencedCodeBlock)
	var code strings.Builder
	for i := range block.Lines().Len() {
		line := block.Lines().At(i)
		code.Write(line.Value(source))
	}
	_, _ = w.WriteString(`<pre class="chroma"><code>` + highlight(code.String(), string(block.Language(source))) + "</code></pre>\n")
	return ast.WalkSkipChildren, nil
}

// highlight returns code as HTML, coloured if its language is known.
func highlight(code, language string) string {
	lexer := lexers.Get(language)
	if lexer == nil || language == "" || len(code) > maxHighlighted {
		return html.EscapeString(code)
	}
	tokens, err := chroma.Coalesce(lexer).Tokenise(nil, code)
	if err != nil {
		return html.EscapeString(code)
	}
	var b strings.Builder
	if err := formatter.New(formatter.WithClasses(true), formatter.PreventSurroundingPre(true)).Format(&b, styles.Fallback,
		tokens); err != nil {
		return html.EscapeString(code)
	}
	return b.String()
}
