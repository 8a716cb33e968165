package rfc822

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// maxHTMLTokens bounds the work for one HTML text.
const maxHTMLTokens = 200_000

// HTMLText returns the text that a reader of the HTML sees, with a line for each block. It is cut at limit bytes.
func HTMLText(source string, limit int) string {
	var out textWriter
	// Most of HTML is not text.
	out.Grow(min(len(source)/2, limit))
	z := html.NewTokenizer(strings.NewReader(source))
	z.SetMaxBuf(MaxText)
	hidden := atom.Atom(0)
	for n := 0; n < maxHTMLTokens && out.Len() < limit; n++ {
		switch z.Next() {
		case html.ErrorToken:
			return out.cut(limit)
		case html.TextToken:
			if hidden == 0 {
				out.addText(z.Text())
			}
		case html.StartTagToken, html.SelfClosingTagToken:
			name, _ := z.TagName()
			tag := atom.Lookup(name)
			if hidden == 0 && isHiddenElement(tag) {
				hidden = tag
			}
			out.addBreak(tag)
		case html.EndTagToken:
			name, _ := z.TagName()
			tag := atom.Lookup(name)
			if tag == hidden {
				hidden = 0
			}
			out.addBreak(tag)
		}
	}
	return out.cut(limit)
}

// isHiddenElement reports whether nothing in an element is shown.
func isHiddenElement(tag atom.Atom) bool {
	switch tag {
	case atom.Style, atom.Script, atom.Title, atom.Template, atom.Noscript, atom.Textarea, atom.Select:
		return true
	}
	return false
}

// textWriter joins texts with single spaces and line breaks.
type textWriter struct {
	strings.Builder
	space, line bool
}

// addText adds a text whose spaces count as one.
func (w *textWriter) addText(text []byte) {
	for at := 0; at < len(text); {
		if n := spaceAt(text[at:]); n > 0 {
			w.space = true
			at += n
			continue
		}
		start := at
		for at < len(text) && spaceAt(text[at:]) == 0 {
			at++
		}
		w.writeWord(text[start:at])
	}
}

// spaceAt returns the length of the space with which a text begins, or 0.
func spaceAt(text []byte) int {
	c := text[0]
	switch {
	case c == ' ' || c >= '\t' && c <= '\r':
		return 1
	case c < utf8.RuneSelf || !utf8.RuneStart(c):
		return 0
	}
	if r, n := utf8.DecodeRune(text); unicode.IsSpace(r) {
		return n
	}
	return 0
}

// writeWord writes a word after the break that is due.
func (w *textWriter) writeWord(word []byte) {
	switch {
	case w.Len() == 0:
	case w.line:
		w.WriteByte('\n')
	case w.space:
		w.WriteByte(' ')
	}
	w.space, w.line = false, false
	w.Write(word)
}

// addBreak notes the break that an element makes.
func (w *textWriter) addBreak(tag atom.Atom) {
	switch tag {
	case atom.Br, atom.P, atom.Div, atom.Tr, atom.Table, atom.Li, atom.Ul, atom.Ol, atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6,
		atom.Blockquote, atom.Pre, atom.Hr, atom.Section, atom.Article, atom.Header, atom.Footer, atom.Center, atom.Title, atom.Style:
		w.line = true
	case atom.Td, atom.Th:
		w.space = true
	}
}

// cut returns what was written, at most limit bytes of it.
func (w *textWriter) cut(limit int) string {
	s := w.String()
	if len(s) > limit {
		s = strings.ToValidUTF8(s[:limit], "")
	}
	return s
}
