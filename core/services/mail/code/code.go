// Package code finds the verification code in a message.
package code

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// Source says in which part of a message a code stands.
type Source string

// The sources.
const (
	Subject Source = "subject"
	Body    Source = "body"
)

// Code is a verification code: 4 to 8 digits, or 4 to 8 ASCII letters and digits with at least one of each.
type Code struct {
	Value  string
	Source Source
}

// maxText is how much of a part is searched, in bytes. A code stands near the beginning of a message.
const maxText = 64 << 10

// Find returns the verification code of a message. It searches the subject first, then the text, then the text of the HTML
// part. It reports false where there is none, or where several are equally likely.
func Find(subject, text, htmlText string) (Code, bool) {
	if value, ok := findIn(subject, Subject); ok {
		return Code{value, Subject}, true
	}
	for _, body := range []string{text, htmlText} {
		if value, ok := findIn(body, Body); ok {
			return Code{value, Body}, true
		}
	}
	return Code{}, false
}

// findIn returns the code of one part.
func findIn(text string, source Source) (string, bool) {
	p := newPart(text)
	found := p.findCandidates()
	if len(found) == 0 {
		return "", false
	}
	p.findMarks()
	if direct := p.directHits(found); len(direct) > 0 {
		return direct[0], len(direct) == 1
	}
	return p.bestOf(found, source)
}

// part is a text with the positions of the words that tell a code from other numbers.
type part struct {
	// text is the original, lower the same with ASCII letters in lower case; both have the same length.
	text, lower string
	keywords    []span
	context     []span
	negative    []span
}

// span is a range of bytes.
type span struct{ start, end int }

// newPart returns the part for a text, of which no more than maxText bytes are used.
func newPart(text string) *part {
	if len(text) > maxText {
		cut := maxText
		for cut > 0 && !utf8.RuneStart(text[cut]) {
			cut--
		}
		text = text[:cut]
	}
	return &part{text: text, lower: lowerASCII(text)}
}

// findMarks finds the words that tell a code from other numbers. Most messages have no number that could be one.
func (p *part) findMarks() {
	p.keywords = findWords(p.lower, keywords)
	p.context = findWords(p.lower, contextWords)
	p.negative = findWords(p.lower, negativeWords)
}

// lowerASCII lower-cases ASCII letters, so that positions stay the same.
func lowerASCII(s string) string {
	b := []byte(s)
	for i, c := range b {
		if c >= 'A' && c <= 'Z' {
			b[i] = c + 'a' - 'A'
		}
	}
	return string(b)
}

// findWords returns where the words stand as whole words. ASCII letters or digits at their ends make others of them.
func findWords(lower string, words []string) (found []span) {
	for _, word := range words {
		for from := 0; ; {
			i := strings.Index(lower[from:], word)
			if i < 0 {
				break
			}
			s := span{from + i, from + i + len(word)}
			if isWordEdge(lower, s.start-1, word[0]) && isWordEdge(lower, s.end, word[len(word)-1]) {
				found = append(found, s)
			}
			from = s.end
		}
	}
	return found
}

// isWordEdge reports whether a word may end beside the byte at i. beside is the word's own byte there: words of other scripts
// have no edges.
func isWordEdge(s string, i int, beside byte) bool {
	return !isAlphanumeric(beside) || i < 0 || i >= len(s) || !isAlphanumeric(s[i])
}

func isDigit(c byte) bool  { return c >= '0' && c <= '9' }
func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

func isAlphanumeric(c byte) bool { return isDigit(c) || isLetter(c) }

// directHits returns the distinct candidates that only punctuation and space, or characters of other scripts, separate from a
// keyword.
func (p *part) directHits(found []candidate) (values []string) {
	for _, c := range found {
		for _, k := range p.keywords {
			if p.isBeside(k, c.span) && !slices.Contains(values, c.value) {
				values = append(values, c.value)
			}
		}
	}
	return values
}

// isBeside reports whether at most maxGap bytes, none of them an ASCII letter or digit, lie between two spans.
func (p *part) isBeside(a, b span) bool {
	if a.start > b.start {
		a, b = b, a
	}
	if b.start < a.end || b.start-a.end > maxGap {
		return false
	}
	for i := a.end; i < b.start; i++ {
		if isAlphanumeric(p.text[i]) {
			return false
		}
	}
	return true
}
