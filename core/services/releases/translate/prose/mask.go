// Package prose prepares Markdown for a translation of its words: what must not change is masked, long texts are split, and what comes
// back is compared with what was sent.
package prose

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/text"

	"github.com/patchbay-dev/patchbay/sdk/translator"
)

// parser reads Markdown as code hosts do.
var parser = goldmark.New(goldmark.WithExtensions(extension.Table, extension.Strikethrough, extension.TaskList)).Parser()

// Masked is a text in which everything that must not change is a mask; see translator.Mask.
type Masked struct {
	Text string
	// originals are what the masks stand for; the first mask has the number 1.
	originals []string
}

// span is a part of a text, from a byte on and before another.
type span struct{ from, to int }

// MaskMarkdown masks code, HTML, addresses, mentions and numbers of issues in Markdown. Lines end with \n afterwards.
func MaskMarkdown(source string) Masked {
	source = strings.ReplaceAll(source, "\r\n", "\n")
	return maskSpans(source, blockSpans(source))
}

// MaskText masks addresses, mentions and numbers of issues in a text that is not Markdown.
func MaskText(source string) Masked { return maskSpans(source, nil) }

// maskSpans masks the spans, and what is found between them.
func maskSpans(source string, blocks []span) Masked {
	var m Masked
	var b strings.Builder
	at := 0
	for _, s := range blocks {
		if s.from < at {
			continue
		}
		m.maskInline(&b, source[at:s.from])
		m.addMask(&b, source[s.from:s.to])
		at = s.to
	}
	m.maskInline(&b, source[at:])
	m.Text = b.String()
	return m
}

// addMask writes a mask for an original.
func (m *Masked) addMask(b *strings.Builder, original string) {
	m.originals = append(m.originals, original)
	b.WriteString(translator.Mask(len(m.originals)))
}

// blockSpans returns the contents of code and HTML blocks, in their order.
func blockSpans(source string) (spans []span) {
	doc := parser.Parse(text.NewReader([]byte(source)))
	_ = ast.Walk(doc, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n.Kind() {
		case ast.KindFencedCodeBlock, ast.KindCodeBlock, ast.KindHTMLBlock:
			lines := n.Lines()
			from, to := -1, -1
			for i := range lines.Len() {
				if line := lines.At(i); line.Start < line.Stop {
					if from < 0 {
						from = line.Start
					}
					to = line.Stop
				}
			}
			if html, ok := n.(*ast.HTMLBlock); ok && html.HasClosure() && from >= 0 {
				to = max(to, html.ClosureLine.Stop)
			}
			if from >= 0 {
				if trimmed := strings.TrimRight(source[from:to], "\r\n"); trimmed != "" {
					spans = append(spans, span{from, from + len(trimmed)})
				}
			}
			return ast.WalkSkipChildren, nil
		}
		return ast.WalkContinue, nil
	})
	slices.SortFunc(spans, func(a, b span) int { return a.from - b.from })
	return spans
}

// inline finds what must not change within a line: HTML, addresses of pages, mail and files, mentions, issues, commits, numbers of
// vulnerabilities, marks of alerts and footnotes, codes of emoji, and masks that stood in the source.
var inline = regexp.MustCompile(strings.Join([]string{
	`<!--[\s\S]*?-->`, `</?[A-Za-z][^<>\n]*>`, `<https?://[^<>\s]*>`,
	`(?:https?|ftp)://[^\s<>"'` + "`" + `\]\[（）。，、；：！？]+`,
	`⟦\d+⟧`,
	`[A-Za-z0-9][A-Za-z0-9._-]*/[A-Za-z0-9._-]*[A-Za-z0-9_-](?:#\d+\b|@[0-9a-f]{7,40}\b)`,
	`#\d+\b`, `\bGH-\d+\b`, `\b[0-9a-f]{7,40}\b`,
	`\bCVE-\d{4}-\d{4,}\b`, `\bGHSA(?:-[0-9a-z]{4}){3}\b`, `(?i:\[!(?:note|tip|important|warning|caution)\])`, `\[\^[^\]\s]+\]:?`,
	`:(?:[a-z][a-z0-9_+-]*|[+-]1):`,
	`[A-Za-z0-9._%+-]*[A-Za-z0-9]@[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)*\.[A-Za-z]{2,}\b`,
	`[A-Za-z]:\\[^\s<>"'` + "`" + `]*[A-Za-z0-9_]`, `(?:~|\.{1,2})?/[A-Za-z0-9._-]+(?:/[A-Za-z0-9._-]*)*[A-Za-z0-9_/-]`,
	`[A-Za-z0-9_.-]+(?:/[A-Za-z0-9_.-]+)+\.[a-z0-9]{1,8}\b`,
	`\b[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+)*\.[a-z]{2,24}\b(?:/[A-Za-z0-9._~/?#=&%+-]*[A-Za-z0-9/_=-])?`,
	`@[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?(?:/[A-Za-z0-9_.-]+)?`,
}, "|"))

// definition is a link reference definition. That of a footnote has text.
var definition = regexp.MustCompile(`(?m)^ {0,3}\[[^\]\n^][^\]\n]*\]:[^\n]*`)

// maskInline writes a text with masks.
func (m *Masked) maskInline(b *strings.Builder, source string) {
	for len(source) > 0 {
		s := firstInline(source)
		if s.to == 0 {
			b.WriteString(source)
			return
		}
		b.WriteString(source[:s.from])
		m.addMask(b, source[s.from:s.to])
		source = source[s.to:]
	}
}

// firstInline returns the first part of a text that must not change; the zero span if there is none.
func firstInline(source string) (first span) {
	first.from = len(source)
	consider := func(s span) {
		if s.to > 0 && s.from < first.from {
			first = s
		}
	}
	consider(codeSpan(source))
	consider(linkTarget(source))
	if at := definition.FindStringIndex(source); at != nil {
		consider(span{at[0], at[1]})
	}
	for from := 0; from < first.from; {
		at := inline.FindStringIndex(source[from:])
		if at == nil {
			break
		}
		s := span{from + at[0], from + at[1]}
		if isReference(source, s) {
			s.to = s.from + len(trimAddress(source[s.from:s.to]))
			consider(s)
			break
		}
		from = s.to
	}
	if first.to == 0 {
		return span{}
	}
	return first
}

// isReference reports whether what looks like a reference is one: a mention, number, path or emoji within a word is not, and neither is a
// word or a number that could be the hash of a commit.
func isReference(source string, s span) bool {
	found := source[s.from:s.to]
	switch c := found[0]; {
	case strings.IndexByte("@#/~.:", c) >= 0:
		return s.from == 0 || !isWordByte(source[s.from-1]) && source[s.from-1] != '&'
	case isHash(found):
		return strings.ContainsAny(found, "0123456789") && strings.ContainsAny(found, "abcdef")
	}
	return true
}

func isWordByte(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

func isHash(s string) bool {
	return len(s) >= 7 && strings.Trim(s, "0123456789abcdef") == ""
}

// trimAddress returns an address without the punctuation of the sentence around it.
func trimAddress(s string) string {
	if !strings.Contains(s, "://") || s[0] == '<' {
		return s
	}
	for {
		trimmed := strings.TrimRight(s, ".,;:!?*_~|")
		if strings.HasSuffix(trimmed, ")") && strings.Count(trimmed, "(") < strings.Count(trimmed, ")") {
			trimmed = trimmed[:len(trimmed)-1]
		}
		if trimmed == s {
			return s
		}
		s = trimmed
	}
}

// codeSpan returns the first code span, with its backticks.
func codeSpan(source string) span {
	for from := 0; ; {
		i := strings.IndexByte(source[from:], '`')
		if i < 0 {
			return span{}
		}
		start := from + i
		n := countBackticks(source[start:])
		from = start + n
		end := len(source)
		if k := strings.Index(source[from:], "\n\n"); k >= 0 {
			end = from + k
		}
		for at := from; at < end; {
			k := strings.IndexByte(source[at:end], '`')
			if k < 0 {
				break
			}
			closing := countBackticks(source[at+k:])
			if closing == n {
				return span{start, at + k + n}
			}
			at += k + closing
		}
	}
}

func countBackticks(s string) int { return len(s) - len(strings.TrimLeft(s, "`")) }

// linkTarget returns the first target of a link, with its parentheses or brackets; an image is one from its exclamation mark on.
func linkTarget(source string) span {
	for from := 0; ; {
		i := strings.IndexByte(source[from:], ']')
		if i < 0 || from+i+1 >= len(source) {
			return span{}
		}
		at := from + i + 1
		from = at
		to := 0
		switch source[at] {
		case '(':
			to = closingParenthesis(source, at)
		case '[':
			if k := strings.IndexAny(source[at+1:], "]\n"); k > 0 && source[at+1+k] == ']' {
				to = at + 1 + k + 1
			}
		}
		if to == 0 {
			continue
		}
		if open := strings.LastIndexAny(source[:at-1], "[]\n"); open > 0 && source[open] == '[' && source[open-1] == '!' {
			at = open - 1
		}
		return span{at, to}
	}
}

// closingParenthesis returns where the parenthesis that opens at a byte ends, 0 if it does not end on its line.
func closingParenthesis(source string, at int) int {
	depth := 0
	for i := at; i < len(source) && source[i] != '\n'; i++ {
		switch source[i] {
		case '\\':
			i++
		case '(':
			depth++
		case ')':
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}
	return 0
}

var maskPattern = regexp.MustCompile(`⟦(\d+)⟧`)

// CheckMasks returns what is wrong with the masks of a translation of a part of a masked text, "" for nothing: each has to be there as
// often as in the part.
func CheckMasks(part, translated string) string {
	want := countMasks(part)
	got := countMasks(translated)
	for mask, n := range want {
		if got[mask] != n {
			return fmt.Sprintf("%s stands %d times in the text and %d times in the answer", mask, n, got[mask])
		}
		delete(got, mask)
	}
	for mask := range got {
		return mask + " is not in the text"
	}
	return ""
}

func countMasks(s string) map[string]int {
	counts := map[string]int{}
	for _, mask := range maskPattern.FindAllString(s, -1) {
		counts[mask]++
	}
	return counts
}

// Restore returns a translation with the originals in place of their masks.
func (m Masked) Restore(translated string) string {
	return maskPattern.ReplaceAllStringFunc(translated, func(mask string) string {
		n, err := strconv.Atoi(mask[len("⟦") : len(mask)-len("⟧")])
		if err != nil || n < 1 || n > len(m.originals) {
			return mask
		}
		return m.originals[n-1]
	})
}
