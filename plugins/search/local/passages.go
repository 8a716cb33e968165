package local

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/patchbay-dev/patchbay/plugins/internal/documents"
	"github.com/patchbay-dev/patchbay/plugins/internal/texts"
)

const (
	// passageSize is how long a passage gets before a new one starts at the next paragraph, maxPassage where one is cut
	// even within a paragraph, in bytes.
	passageSize = 1200
	maxPassage  = 2000
	minPassage  = 400
	maxTitle    = 200
)

// document is a file as it is indexed.
type document struct {
	title    string
	text     string
	passages []passage
	print    fingerprint
}

// passage is a part of a document.
type passage struct {
	heading string
	text    string
}

func newDocument(title, text string, prose bool) document {
	return document{title: texts.Head(strings.TrimSpace(title), maxTitle), text: text, passages: splitPassages(text, prose),
		print: newFingerprint(title, text)}
}

// splitter collects lines into passages.
type splitter struct {
	out     []passage
	heading string
	buf     strings.Builder
	fenced  bool
}

// splitPassages cuts a text at headings, if it is one that has some, and long sections at empty lines.
func splitPassages(text string, headings bool) []passage {
	var s splitter
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		next := ""
		if i+1 < len(lines) {
			next = lines[i+1]
		}
		if strings.HasPrefix(strings.TrimSpace(line), "```") {
			s.fenced = !s.fenced
		}
		if headings && !s.fenced {
			s.startSection(documents.Heading(line, next))
		}
		s.addLine(line)
	}
	s.flushPassage()
	return s.out
}

// startSection starts a passage at a heading, unless there is hardly anything before it.
func (s *splitter) startSection(heading string) {
	switch {
	case heading == "":
	case s.buf.Len() >= minPassage:
		s.flushPassage()
		s.heading = heading
	case s.heading == "" || strings.TrimSpace(s.buf.String()) == "":
		s.heading = heading
	}
}

func (s *splitter) addLine(line string) {
	blank := strings.TrimSpace(line) == ""
	if s.buf.Len() >= passageSize && blank && !s.fenced {
		s.flushPassage()
		return
	}
	for s.buf.Len()+len(line)+1 > maxPassage {
		if s.buf.Len() > 0 {
			s.flushPassage()
			continue
		}
		at := cutPoint(line)
		s.buf.WriteString(line[:at])
		s.flushPassage()
		line = line[at:]
	}
	s.buf.WriteString(line)
	s.buf.WriteByte('\n')
}

// cutPoint finds where a line that is too long for a passage is cut: after a space or a full stop if there is one.
func cutPoint(line string) int {
	head := texts.Head(line, maxPassage-1)
	if head == "" { // not text: bytes that continue a character which never began
		return maxPassage - 1
	}
	at := strings.LastIndexFunc(head, func(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune("。！？；.", r) })
	if at < len(head)/2 {
		return len(head)
	}
	_, size := utf8.DecodeRuneInString(head[at:])
	return at + size
}

func (s *splitter) flushPassage() {
	if text := strings.Trim(s.buf.String(), "\n"); strings.TrimSpace(text) != "" {
		s.out = append(s.out, passage{heading: s.heading, text: text})
	}
	s.buf.Reset()
}
