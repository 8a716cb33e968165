package config

import (
	"bytes"
	"regexp"
	"strings"
	"sync"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// hidden replaces in a shown source line what may be secret.
const hidden = "…"

// maxShown is how many runes of a source line are shown.
const maxShown = 160

// source is the text of a file, with what is known about which parts of it may be shown.
type source struct {
	name  string
	bytes []byte
	file  *hcl.File
	json  bool
	// broken reports that the file has syntax errors, so that the bounds of values are unknown.
	broken bool
	// labelled are the block types whose labels are names and thus no secrets.
	labelled map[string]bool
	// public are the values of attributes that a schema knows as not sensitive.
	public []hcl.Range
	tokens hclsyntax.Tokens
	// mu guards public and tokens: instances may be decoded concurrently.
	mu sync.Mutex
}

// allowShown marks the value at the range as one that source lines may show.
func (s *source) allowShown(r hcl.Range) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.public = append(s.public, r)
}

// shownLine returns a source line without anything that may be secret, or "" if there is no such line.
func (s *source) shownLine(number int) string {
	if s == nil || s.json || number < 1 {
		return ""
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	lines := bytes.SplitAfter(s.bytes, []byte("\n"))
	if number > len(lines) {
		return ""
	}
	start := 0
	for _, l := range lines[:number-1] {
		start += len(l)
	}
	text := string(lines[number-1])
	if s.broken {
		text = s.outlineLine(text)
	} else {
		text = s.maskLine(start, start+len(text))
	}
	runes := []rune(strings.TrimRight(strings.ToValidUTF8(text, "?"), " \r\n\t"))
	if len(runes) > maxShown {
		runes = append(runes[:maxShown], []rune(hidden)...)
	}
	return string(runes)
}

var (
	assignment = regexp.MustCompile(`^\s*[a-z][a-z0-9_]* *=`)
	header     = regexp.MustCompile(`^\s*([a-z][a-z0-9_]*)( +"[a-z][a-z0-9_-]*")* *\{?`)
)

// outlineLine returns the part of a line that cannot be a value: the name before an equals sign, or a block header.
func (s *source) outlineLine(text string) string {
	shown := assignment.FindString(text)
	if m := header.FindStringSubmatch(text); shown == "" && m != nil && s.labelled[m[1]] {
		shown = m[0]
	}
	if shown == "" || strings.TrimSpace(shown) == strings.TrimSpace(text) {
		return shown
	}
	return strings.TrimRight(shown, " ") + " " + hidden
}

func (s *source) lexTokens() {
	if s.tokens == nil {
		s.tokens, _ = hclsyntax.LexConfig(s.bytes, s.name, hcl.InitialPos)
	}
}

var (
	hugeExponent = regexp.MustCompile(`[eE][+-]?0*[1-9][0-9]{3}`)
	hugeInJSON   = regexp.MustCompile(`\$\{[^}]*[0-9][eE][+-]?0*[1-9][0-9]{3}`)
)

// findHugeNumber returns the place of a number with an exponent so large that converting it to text takes minutes.
func (s *source) findHugeNumber() (Range, bool) {
	if s.json {
		return Range{File: s.name}, hugeInJSON.Match(s.bytes)
	}
	s.lexTokens()
	for _, t := range s.tokens {
		if t.Type == hclsyntax.TokenNumberLit && hugeExponent.Match(t.Bytes) {
			return s.rangeAt(t.Range), true
		}
	}
	return Range{}, false
}

// maskLine returns the bytes from start to end without comments and without literals and values that are not public.
func (s *source) maskLine(start, end int) string {
	s.lexTokens()
	var b strings.Builder
	at := start
	for i, t := range s.tokens {
		from, to := max(t.Range.Start.Byte, start), min(t.Range.End.Byte, end)
		if t.Range.End.Byte <= start || from >= end || from >= to {
			continue
		}
		if t.Type == hclsyntax.TokenComment {
			s.copyUpTo(&b, at, from)
			return b.String()
		}
		if s.opensHiddenValue(i) {
			s.copyUpTo(&b, at, to)
			return b.String() + " " + hidden
		}
		if s.isHiddenLiteral(i) {
			s.copyUpTo(&b, at, from)
			b.WriteString(hidden)
			at = to
		}
	}
	s.copyUpTo(&b, at, end)
	return b.String()
}

func (s *source) copyUpTo(b *strings.Builder, from, to int) {
	if from < to {
		b.Write(s.bytes[from:min(to, len(s.bytes))])
	}
}

// opensHiddenValue reports whether the token is an equals sign before a value that is not public.
func (s *source) opensHiddenValue(i int) bool {
	if s.tokens[i].Type != hclsyntax.TokenEqual {
		return false
	}
	return i+1 >= len(s.tokens) || !s.isPublic(s.tokens[i].Range.Start.Byte) && !s.isPublic(s.tokens[i+1].Range.Start.Byte)
}

func (s *source) isHiddenLiteral(i int) bool {
	t := s.tokens[i]
	switch t.Type {
	case hclsyntax.TokenQuotedLit, hclsyntax.TokenStringLit, hclsyntax.TokenNumberLit, hclsyntax.TokenInvalid,
		hclsyntax.TokenBadUTF8, hclsyntax.TokenQuotedNewline:
		return !s.isPublic(t.Range.Start.Byte) && !s.isLabel(i)
	}
	return false
}

func (s *source) isPublic(offset int) bool {
	for _, r := range s.public {
		if r.Start.Byte <= offset && offset < r.End.Byte {
			return true
		}
	}
	return false
}

// isLabel reports whether the quoted text at i is a label of a known block type.
func (s *source) isLabel(i int) bool {
	for i >= 2 && s.tokens[i].Type == hclsyntax.TokenQuotedLit && s.tokens[i-1].Type == hclsyntax.TokenOQuote {
		before := s.tokens[i-2]
		if before.Type == hclsyntax.TokenIdent {
			return s.labelled[string(before.Bytes)]
		}
		if before.Type != hclsyntax.TokenCQuote {
			return false
		}
		i -= 3
	}
	return false
}

// enclosingBlock returns the header of the top-level block around a line, such as search "local" "docs".
func (s *source) enclosingBlock(line int) string {
	if s == nil || s.file == nil || s.json {
		return ""
	}
	body, ok := s.file.Body.(*hclsyntax.Body)
	if !ok {
		return ""
	}
	for _, b := range body.Blocks {
		if b.Range().Start.Line <= line && line <= b.Range().End.Line && s.labelled[b.Type] {
			return blockTitle(b.Type, b.Labels)
		}
	}
	return ""
}
