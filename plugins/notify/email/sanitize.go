package email

import (
	"io"
	"slices"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// allowed are the tags that a mail keeps; void are those among them without an end.
var (
	allowed = []atom.Atom{
		atom.A, atom.B, atom.Strong, atom.I, atom.Em, atom.U, atom.S, atom.Del, atom.Ins, atom.Small, atom.Code, atom.Kbd, atom.Samp, atom.Pre,
		atom.P, atom.Div, atom.Span, atom.Br, atom.Hr, atom.Ul, atom.Ol, atom.Li, atom.Dl, atom.Dt, atom.Dd, atom.Blockquote,
		atom.H1, atom.H2, atom.H3, atom.H4, atom.Table, atom.Thead, atom.Tbody, atom.Tr, atom.Th, atom.Td,
	}
	void = []atom.Atom{atom.Br, atom.Hr}
	// hidden are tags whose content is no text for people.
	hidden = []atom.Atom{
		atom.Script, atom.Style, atom.Head, atom.Title, atom.Template, atom.Noscript, atom.Iframe, atom.Object, atom.Svg, atom.Textarea,
		atom.Select,
	}
)

// sanitizeHTML keeps text, structure and links of a fragment: no attribute besides the address of a link, nothing that loads
// from elsewhere, and no tag left open.
func sanitizeHTML(fragment string) string {
	var s sanitizer
	tok := html.NewTokenizer(strings.NewReader(fragment))
	for {
		switch tok.Next() {
		case html.ErrorToken:
			if tok.Err() != io.EOF {
				return ""
			}
			s.closeDown(0)
			return strings.TrimSpace(s.out.String())
		case html.TextToken:
			if s.skip == 0 {
				s.out.WriteString(html.EscapeString(tok.Token().Data))
			}
		case html.StartTagToken:
			s.startTag(tok.Token(), false)
		case html.SelfClosingTagToken:
			s.startTag(tok.Token(), true)
		case html.EndTagToken:
			s.endTag(tok.Token().DataAtom)
		}
	}
}

type sanitizer struct {
	out  strings.Builder
	open []atom.Atom
	skip atom.Atom
	deep int
}

func (s *sanitizer) startTag(t html.Token, closed bool) {
	switch {
	case s.skip != 0:
		if t.DataAtom == s.skip && !closed {
			s.deep++
		}
	case slices.Contains(hidden, t.DataAtom):
		if !closed {
			s.skip, s.deep = t.DataAtom, 1
		}
	case slices.Contains(void, t.DataAtom):
		s.out.WriteString("<" + t.DataAtom.String() + ">")
	case slices.Contains(allowed, t.DataAtom) && !closed:
		s.openTag(t)
	}
}

func (s *sanitizer) openTag(t html.Token) {
	if t.DataAtom == atom.A {
		i := slices.IndexFunc(t.Attr, func(a html.Attribute) bool { return a.Key == "href" })
		if i < 0 || !isAbsolute(t.Attr[i].Val) || slices.Contains(s.open, atom.A) {
			return
		}
		s.out.WriteString(`<a href="` + html.EscapeString(t.Attr[i].Val) + `">`)
	} else {
		s.out.WriteString("<" + t.DataAtom.String() + ">")
	}
	s.open = append(s.open, t.DataAtom)
}

func (s *sanitizer) endTag(tag atom.Atom) {
	if s.skip != 0 {
		if tag == s.skip {
			if s.deep--; s.deep == 0 {
				s.skip = 0
			}
		}
		return
	}
	for i := len(s.open) - 1; i >= 0; i-- {
		if s.open[i] == tag {
			s.closeDown(i)
			return
		}
	}
}

// closeDown closes the tags from the innermost to the one at place i.
func (s *sanitizer) closeDown(i int) {
	for len(s.open) > i {
		s.out.WriteString("</" + s.open[len(s.open)-1].String() + ">")
		s.open = s.open[:len(s.open)-1]
	}
}
