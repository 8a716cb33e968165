package telegram

import (
	"io"
	"slices"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// tags are those that the API understands, under the name that we write.
var tags = map[atom.Atom]string{
	atom.B: "b", atom.Strong: "b", atom.I: "i", atom.Em: "i", atom.U: "u", atom.Ins: "u", atom.S: "s", atom.Strike: "s", atom.Del: "s",
	atom.A: "a", atom.Code: "code", atom.Kbd: "code", atom.Samp: "code", atom.Tt: "code", atom.Pre: "pre", atom.Blockquote: "blockquote",
}

// breaks are tags that begin a new line, and how many line ends they want at least.
var breaks = map[atom.Atom]int{
	atom.Div: 1, atom.Tr: 1, atom.Li: 1, atom.Dt: 1, atom.Dd: 1, atom.Section: 1, atom.Article: 1, atom.Figure: 1, atom.Header: 1,
	atom.Footer: 1,
	atom.P:      2, atom.Ul: 2, atom.Ol: 2, atom.Dl: 2, atom.Table: 2, atom.Hr: 2, atom.Pre: 1, atom.Blockquote: 1,
	atom.H1: 2, atom.H2: 2, atom.H3: 2, atom.H4: 2, atom.H5: 2, atom.H6: 2,
}

// hidden are tags whose content is no text for people.
var hidden = map[atom.Atom]bool{
	atom.Script: true, atom.Style: true, atom.Head: true, atom.Title: true, atom.Template: true, atom.Noscript: true, atom.Iframe: true,
	atom.Object: true, atom.Svg: true, atom.Textarea: true, atom.Select: true,
}

// sanitizeHTML reduces HTML to the tags that the API understands, properly nested, with line ends in place of blocks.
func sanitizeHTML(fragment string) string {
	s := &sanitizer{}
	tok := html.NewTokenizer(strings.NewReader(fragment))
	for {
		switch kind := tok.Next(); kind {
		case html.ErrorToken:
			if tok.Err() != io.EOF {
				return ""
			}
			s.closeDown(0)
			return strings.TrimSpace(s.out.String())
		case html.TextToken:
			s.writeText(tok.Token().Data)
		case html.StartTagToken, html.SelfClosingTagToken:
			s.startTag(tok.Token())
		case html.EndTagToken:
			s.endTag(tok.Token())
		}
	}
}

// sanitizer writes what was read so far. Line ends and spaces wait until there is text for them to stand before.
type sanitizer struct {
	out   strings.Builder
	open  []string
	skip  atom.Atom
	deep  int
	lines int
	space bool
}

func (s *sanitizer) isOpen(tag string) bool { return slices.Contains(s.open, tag) }

// isBlank reports whether r is white space that HTML collapses.
func isBlank(r rune) bool { return strings.ContainsRune(" \t\r\n\f", r) }

// writeText writes text; outside of pre, white space is one space.
func (s *sanitizer) writeText(data string) {
	if s.skip != 0 {
		return
	}
	if s.isOpen("pre") {
		s.flushSpace()
		s.out.WriteString(escapeHTML(data))
		return
	}
	words := strings.FieldsFunc(data, isBlank)
	if len(words) == 0 {
		s.space = s.space || data != ""
		return
	}
	s.space = s.space || strings.TrimLeftFunc(data, isBlank) != data
	s.flushSpace()
	s.out.WriteString(escapeHTML(strings.Join(words, " ")))
	s.space = strings.TrimRightFunc(data, isBlank) != data
}

// flushSpace writes the line ends or the space that wait.
func (s *sanitizer) flushSpace() {
	switch {
	case s.out.Len() == 0:
	case s.lines > 0:
		s.out.WriteString(strings.Repeat("\n", s.lines))
	case s.space:
		s.out.WriteByte(' ')
	}
	s.lines, s.space = 0, false
}

func (s *sanitizer) startTag(t html.Token) {
	switch {
	case s.skip != 0:
		if t.DataAtom == s.skip && t.Type == html.StartTagToken {
			s.deep++
		}
		return
	case hidden[t.DataAtom]:
		if t.Type == html.StartTagToken {
			s.skip, s.deep = t.DataAtom, 1
		}
		return
	case t.DataAtom == atom.Br:
		s.lines = min(s.lines+1, 2)
		return
	}
	s.lines = max(s.lines, breaks[t.DataAtom])
	switch t.DataAtom {
	case atom.Li:
		s.flushSpace()
		s.out.WriteString("• ")
	case atom.Td, atom.Th:
		s.space = true
	}
	if name := tags[t.DataAtom]; name != "" && t.Type == html.StartTagToken {
		s.openTag(name, t)
	}
}

// openTag opens a tag where the API permits it.
func (s *sanitizer) openTag(name string, t html.Token) {
	if s.isOpen(name) || s.isOpen("code") || s.isOpen("pre") && name != "code" {
		return
	}
	text := "<" + name + ">"
	if name == "a" {
		i := slices.IndexFunc(t.Attr, func(a html.Attribute) bool { return a.Key == "href" })
		if i < 0 || !isAbsolute(t.Attr[i].Val) {
			return
		}
		text = `<a href="` + escapeHTML(t.Attr[i].Val) + `">`
	}
	s.flushSpace()
	s.open = append(s.open, name)
	s.out.WriteString(text)
}

func (s *sanitizer) endTag(t html.Token) {
	if s.skip != 0 {
		if t.DataAtom == s.skip {
			if s.deep--; s.deep == 0 {
				s.skip = 0
			}
		}
		return
	}
	if name := tags[t.DataAtom]; name != "" {
		if i := slices.Index(s.open, name); i >= 0 {
			s.closeDown(i)
		}
	}
	s.lines = max(s.lines, breaks[t.DataAtom])
}

// closeDown closes the tags from the innermost to the one at place i.
func (s *sanitizer) closeDown(i int) {
	for len(s.open) > i {
		s.out.WriteString("</" + s.open[len(s.open)-1] + ">")
		s.open = s.open[:len(s.open)-1]
	}
}
