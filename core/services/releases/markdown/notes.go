package markdown

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
)

// Page is the page of a release at its code host.
type Page struct {
	// address is that of the page, nil if it is not known.
	address *url.URL
	// repo is the address of its repository, and root that of the host, without a slash at the end; "" if the address is not one of a
	// repository.
	repo, root string
}

// NewPage returns the page with an address, of a release of a repository.
func NewPage(address, fullName string) (p Page) {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" {
		return p
	}
	p.address = u
	if before, rest, ok := strings.Cut(address, "/"+fullName); ok && fullName != "" && strings.Contains(before, "://") &&
		(rest == "" || strings.HasPrefix(rest, "/")) {
		p.root, p.repo = before, before+"/"+fullName
	}
	return p
}

// pageKey is where a parser finds the page.
var pageKey = parser.NewContextKey()

// footnotes is the member of a document with what the ids of its footnotes begin with.
const footnotes = "footnotes"

// footnotePrefix returns what the ids of footnotes begin with: several releases may stand on one page.
func footnotePrefix(n ast.Node) []byte {
	prefix, _ := n.OwnerDocument().Meta()[footnotes].(string)
	return []byte(prefix)
}

// noteTransformer shows what code hosts show of Markdown beyond the standard.
type noteTransformer struct{}

// Transform implements parser.ASTTransformer.
func (noteTransformer) Transform(doc *ast.Document, source text.Reader, ctx parser.Context) {
	page, _ := ctx.Get(pageKey).(Page)
	sum := sha256.Sum256(source.Source())
	doc.AddMeta(footnotes, "n"+hex.EncodeToString(sum[:4])+"-")
	var texts []*ast.Text
	var addresses []*ast.AutoLink
	// inside counts the links and code of raw HTML around a text: what such names stays as it is.
	inside := 0
	_ = ast.Walk(doc, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if n.Type() == ast.TypeBlock {
			inside = 0
		}
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.Blockquote:
			markAlert(n, source.Source())
		case *ast.RawHTML:
			inside = max(0, inside+countNesting(n, source.Source()))
			return ast.WalkSkipChildren, nil
		case *ast.Link, *ast.CodeSpan:
			return ast.WalkSkipChildren, nil
		case *ast.AutoLink:
			addresses = append(addresses, n)
		case *ast.Text:
			if inside == 0 {
				texts = append(texts, n)
			}
		}
		return ast.WalkContinue, nil
	})
	if page.repo == "" {
		return
	}
	for _, n := range addresses {
		shortenAddress(n, source.Source(), page)
	}
	left := maxNames
	for _, n := range texts {
		left -= linkNames(n, source.Source(), page, left)
	}
}

// nestingTag finds a tag of a link or of code.
var nestingTag = regexp.MustCompile(`(?i)^<(/?)(?:a|code|kbd|samp|pre)[\s>]`)

// countNesting returns 1 for a tag that opens a link or code, -1 for one that closes it, and 0 for any other.
func countNesting(n *ast.RawHTML, source []byte) int {
	found := nestingTag.FindSubmatch(n.Segments.Value(source))
	switch {
	case found == nil:
		return 0
	case len(found[1]) > 0:
		return -1
	}
	return 1
}

// alertPattern is the first line of a block quote that is an alert.
var alertPattern = regexp.MustCompile(`(?i)^\[!(note|tip|important|warning|caution)\]$`)

// markAlert makes an alert of a block quote that begins like one.
func markAlert(quote *ast.Blockquote, source []byte) {
	first, ok := quote.FirstChild().(*ast.Paragraph)
	if !ok || first.Lines().Len() == 0 {
		return
	}
	line := first.Lines().At(0)
	found := alertPattern.FindSubmatch(bytes.TrimSpace(line.Value(source)))
	if found == nil {
		return
	}
	kind := strings.ToLower(string(found[1]))
	quote.SetAttributeString("class", []byte("alert alert-"+kind))
	for n := first.FirstChild(); n != nil; {
		next := n.NextSibling()
		t, isText := n.(*ast.Text)
		first.RemoveChild(first, n)
		if isText && (t.SoftLineBreak() || t.HardLineBreak()) {
			break
		}
		n = next
	}
	title := ast.NewParagraph()
	title.SetAttributeString("class", []byte("alert-title"))
	title.AppendChild(title, ast.NewString([]byte(strings.ToUpper(kind[:1])+kind[1:])))
	quote.InsertBefore(quote, first, title)
	if !first.HasChildren() {
		quote.RemoveChild(quote, first)
	}
}

// namePattern finds what may name an issue, a commit or a person: a repository and an issue, a repository and a commit, a commit, or a
// person.
var namePattern = regexp.MustCompile(`(?:([\w.-]+/[\w.-]+)?#([0-9]{1,9}))|(?:([\w.-]+/[\w.-]+)@([0-9a-f]{7,40}))|([0-9a-f]{7,40})|(?:@([A-Za-z][A-Za-z0-9-]{0,38}))`)

// maxNames is how many names in the notes of one release become links.
const maxNames = 20_000

// linkNames makes links of what a text names, at most limit, and returns how many.
func linkNames(n *ast.Text, source []byte, page Page, limit int) (count int) {
	value := n.Segment.Value(source)
	var made []ast.Node
	end := 0
	for _, at := range namePattern.FindAllSubmatchIndex(value, -1) {
		part := func(i int) string {
			if at[2*i] < 0 {
				return ""
			}
			return string(value[at[2*i]:at[2*i+1]])
		}
		address, label := page.joinAddress(part)
		if address == "" || count == limit || !standsAlone(value, at[0], at[1]) {
			continue
		}
		count++
		if at[0] > end {
			made = append(made, ast.NewTextSegment(text.NewSegment(n.Segment.Start+end, n.Segment.Start+at[0])))
		}
		link := ast.NewLink()
		link.Destination = []byte(address)
		link.AppendChild(link, ast.NewString([]byte(label)))
		made, end = append(made, link), at[1]
	}
	if len(made) == 0 {
		return 0
	}
	rest := ast.NewTextSegment(text.NewSegment(n.Segment.Start+end, n.Segment.Stop))
	rest.SetSoftLineBreak(n.SoftLineBreak())
	rest.SetHardLineBreak(n.HardLineBreak())
	parent := n.Parent()
	for _, m := range append(made, rest) {
		parent.InsertBefore(parent, n, m)
	}
	parent.RemoveChild(parent, n)
	return count
}

// shortCommit is how many digits of a commit are shown.
const shortCommit = 7

// joinAddress returns the address of what namePattern has found, and what is shown of it; "" for what names nothing.
func (p Page) joinAddress(part func(i int) string) (address, label string) {
	repo, issue, commitRepo, commitOf, commit, person := part(1), part(2), part(3), part(4), part(5), part(6)
	switch {
	case issue != "" && repo != "":
		return p.root + "/" + repo + "/issues/" + issue, repo + "#" + issue
	case issue != "":
		return p.repo + "/issues/" + issue, "#" + issue
	case commitRepo != "":
		return p.root + "/" + commitRepo + "/commit/" + commitOf, commitRepo + "@" + commitOf[:shortCommit]
	case commit != "" && (len(commit) == 40 || strings.ContainsAny(commit, "0123456789") && strings.ContainsAny(commit, "abcdef")):
		return p.repo + "/commit/" + commit, commit[:shortCommit]
	case person != "":
		return p.root + "/" + person, "@" + person
	}
	return "", ""
}

// standsAlone reports whether a part of a text is a word of its own.
func standsAlone(value []byte, from, to int) bool {
	isPart := func(c byte) bool {
		return c == '_' || c == '-' || c == '/' || c == '@' || c == '#' || c == '&' || c >= '0' && c <= '9' || c >= 'A' && c <= 'Z' ||
			c >= 'a' && c <= 'z' || c == '.'
	}
	if from > 0 && isPart(value[from-1]) {
		return false
	}
	if to < len(value) && value[to] == '.' {
		// The end of a sentence, or of a file's name.
		return to+1 == len(value) || value[to+1] == ' '
	}
	return to == len(value) || !isPart(value[to])
}

// shortenAddress shows an address of the same host as the host does: an issue by its number, a comparison by its ends, a commit by its
// first digits.
func shortenAddress(n *ast.AutoLink, source []byte, page Page) {
	address := string(n.URL(source))
	rest, ok := strings.CutPrefix(address, page.root+"/")
	parts := strings.Split(rest, "/")
	if !ok || len(parts) != 4 || slices.Contains(parts, "") {
		return
	}
	label, name := "", parts[0]+"/"+parts[1]
	if page.root+"/"+name == page.repo {
		name = ""
	}
	switch parts[2] {
	case "issues", "pull", "pulls":
		if strings.Trim(parts[3], "0123456789") == "" {
			label = name + "#" + parts[3]
		}
	case "commit":
		if len(parts[3]) == 40 {
			label = strings.TrimPrefix(name+"@", "@") + parts[3][:shortCommit]
		}
	case "compare":
		if name == "" && strings.Contains(parts[3], "...") {
			label = parts[3]
		}
	}
	if label == "" {
		return
	}
	link := ast.NewLink()
	link.Destination = []byte(address)
	link.AppendChild(link, ast.NewString([]byte(label)))
	n.Parent().ReplaceChild(n.Parent(), n, link)
}
