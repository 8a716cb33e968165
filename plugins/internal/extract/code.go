package extract

import (
	"slices"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// maxLanguage bounds the name of a language, in bytes, and languageReach how many elements above a block of code are asked
// for it.
const (
	maxLanguage   = 32
	languageReach = 3
)

// plainLanguages are names that stand for no language.
var plainLanguages = []string{"", "default", "text", "plaintext", "plain", "none", "auto", "txt", "notranslate", "wrapper", "block"}

// normalizeCode gives all blocks of code of a page one form: their text, one line below the other, without numbers and
// buttons, in an element that names their language.
func normalizeCode(top *html.Node) {
	for _, pre := range findTopmost(top, func(n *html.Node) bool { return n.DataAtom == atom.Pre }) {
		language := codeLanguage(pre)
		var text strings.Builder
		writeCode(&text, pre)
		content := strings.Trim(text.String(), "\n")
		if strings.TrimSpace(content) == "" {
			pre.Parent.RemoveChild(pre)
			continue
		}
		code := &html.Node{Type: html.ElementNode, Data: "code", DataAtom: atom.Code}
		if language != "" {
			code.Attr = []html.Attribute{{Key: "class", Val: "language-" + language}}
		}
		code.AppendChild(&html.Node{Type: html.TextNode, Data: content + "\n"})
		for pre.FirstChild != nil {
			pre.RemoveChild(pre.FirstChild)
		}
		pre.Attr = nil
		pre.AppendChild(code)
		dropLanguageLabel(pre, language)
		unwrapTable(pre)
	}
}

// writeCode writes the text of a block of code. An element for a line begins and ends one.
func writeCode(out *strings.Builder, n *html.Node) {
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		switch {
		case c.Type == html.TextNode:
			out.WriteString(c.Data)
		case c.Type != html.ElementNode || slices.ContainsFunc(listClasses(c), isLineNumber):
		case c.DataAtom == atom.Br:
			out.WriteByte('\n')
		case c.DataAtom == atom.Div || c.DataAtom == atom.Li || c.DataAtom == atom.Tr || c.DataAtom == atom.P:
			endLine(out, 0)
			start := out.Len()
			writeCode(out, c)
			endLine(out, start+1)
		case c.DataAtom == atom.Code:
			endLine(out, 0)
			writeCode(out, c)
		default:
			writeCode(out, c)
		}
	}
}

// endLine ends the line that was begun, and an empty one too if nothing was written since a place.
func endLine(out *strings.Builder, since int) {
	if out.Len() < since || out.Len() > 0 && !strings.HasSuffix(out.String(), "\n") {
		out.WriteByte('\n')
	}
}

// isLineNumber reports whether a class is that of the numbers of lines.
func isLineNumber(class string) bool {
	switch class {
	case "lineno", "linenos", "line-number", "line-numbers", "line-numbers-rows", "linenumber", "linenumbers", "lnt", "ln", "gutter",
		"rouge-gutter", "hljs-ln-numbers":
		return true
	}
	return false
}

// codeLanguage returns the language that a block of code, the code in it or an element around it names, or nothing.
func codeLanguage(pre *html.Node) string {
	around := []*html.Node{pre}
	if code := findNode(pre, atom.Code); code != nil {
		around = []*html.Node{code, pre}
	}
	for p, n := pre.Parent, 0; p != nil && p.DataAtom != atom.Body && n < languageReach; p, n = p.Parent, n+1 {
		if hasOtherCode(p, pre) {
			break
		}
		around = append(around, p)
	}
	for _, n := range around {
		for _, key := range []string{"data-lang", "data-language", "data-code-lang"} {
			if l := cleanLanguage(findAttribute(n, key)); l != "" {
				return l
			}
		}
		if n == pre {
			if l := cleanLanguage(findAttribute(n, "lang")); l != "" {
				return l
			}
		}
		if l := languageOfClasses(listClasses(n)); l != "" {
			return l
		}
	}
	return ""
}

// hasOtherCode reports whether an element holds another block of code than pre, the numbers of its lines aside.
func hasOtherCode(n, pre *html.Node) bool {
	for c := range n.Descendants() {
		if c.DataAtom == atom.Pre && c != pre && !slices.ContainsFunc(listClasses(c.Parent), isLineNumber) {
			return true
		}
	}
	return false
}

// languageOfClasses returns the language that classes of highlighters name, or nothing.
func languageOfClasses(names []string) string {
	for i, c := range names {
		for _, prefix := range []string{"language-", "lang-", "highlight-source-", "highlight-text-", "highlight-"} {
			if rest, ok := strings.CutPrefix(c, prefix); ok {
				if l := cleanLanguage(rest); l != "" {
					return l
				}
			}
		}
		switch {
		case (c == "brush:" || c == "sourcecode" || c == "hljs") && i+1 < len(names) && !strings.Contains(names[i+1], "-"):
			return cleanLanguage(names[i+1])
		case strings.HasPrefix(c, "brush:"):
			return cleanLanguage(strings.TrimPrefix(c, "brush:"))
		}
	}
	return ""
}

// cleanLanguage returns the name of a language, or nothing if it is none.
func cleanLanguage(name string) string {
	name = strings.Trim(name, "; ")
	if len(name) > maxLanguage || slices.Contains(plainLanguages, name) || strings.ContainsAny(name, " `{}\"'<>\n") {
		return ""
	}
	return name
}

// dropLanguageLabel removes the name of the language where a page shows it beside a block of code.
func dropLanguageLabel(pre *html.Node, language string) {
	for _, step := range []func(*html.Node) *html.Node{func(n *html.Node) *html.Node { return n.PrevSibling },
		func(n *html.Node) *html.Node { return n.NextSibling }} {
		for n := step(pre); n != nil; {
			next := step(n)
			if n.Type == html.ElementNode && (n.DataAtom == atom.Span || n.DataAtom == atom.Div) && slices.Contains(listClasses(n), "lang") &&
				(language == "" || strings.EqualFold(squeezeSpaces(readText(n)), language)) || n.Type == html.ElementNode &&
				slices.ContainsFunc(listClasses(n), isLineNumber) {
				n.Parent.RemoveChild(n)
			}
			n = next
		}
	}
}

// unwrapTable puts a block of code in the place of the table in which a highlighter sets it beside the numbers of its lines.
func unwrapTable(pre *html.Node) {
	for p, n := pre.Parent, 0; p != nil && n < 6; p, n = p.Parent, n+1 {
		if p.DataAtom != atom.Table {
			continue
		}
		if p.Parent != nil && !hasOtherCode(p, pre) && squeezeSpaces(readText(p)) == squeezeSpaces(readText(pre)) {
			pre.Parent.RemoveChild(pre)
			p.Parent.InsertBefore(pre, p)
			p.Parent.RemoveChild(p)
		}
		return
	}
}
