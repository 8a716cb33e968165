package terms

import (
	"unicode"
	"unicode/utf8"
)

// firstIdeograph is below the first letter of the scripts that IsIdeograph knows.
const firstIdeograph = 0x1100

// IsIdeograph reports whether a letter is of a script that is written without spaces between words, or is looked for by
// pairs of letters as those are: Chinese, Japanese, Korean.
func IsIdeograph(r rune) bool {
	return r >= firstIdeograph && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul)
}

// IsHan reports whether a letter is a Chinese character.
func IsHan(r rune) bool { return r >= firstIdeograph && unicode.Is(unicode.Han, r) }

// isLetter reports whether a letter is part of a word that stands between spaces.
func isLetter(r rune) bool {
	if r < utf8.RuneSelf {
		return letters[r]
	}
	return (unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r)) && !IsIdeograph(r)
}

// letters are the letters and digits of ASCII.
var letters = func() (out [utf8.RuneSelf]bool) {
	for c := range out {
		out[c] = 'a' <= c|0x20 && c|0x20 <= 'z' || '0' <= c && c <= '9'
	}
	return out
}()

// scanner goes through the words and ideographs of a text.
type scanner struct {
	text string
	at   int
	// start and end are the place of the word or ideograph, gap is where the one before it ends.
	start, end, gap int
	ideograph       bool
	rune            rune
	before          byte
}

// nextWord finds the next word or ideograph.
func (s *scanner) nextWord() bool {
	s.gap = s.end
	for s.at < len(s.text) {
		c := s.text[s.at]
		if c < utf8.RuneSelf {
			if letters[c] {
				s.scanWord(0)
				return true
			}
			s.at++
			continue
		}
		r, size := utf8.DecodeRuneInString(s.text[s.at:])
		switch {
		case IsIdeograph(r):
			s.start, s.end, s.ideograph, s.rune = s.at, s.at+size, true, r
			s.at = s.end
			return true
		case isLetter(r):
			s.scanWord(0)
			return true
		}
		s.at += size
	}
	return false
}

// scanWord finds the end of the word that begins here. An apostrophe belongs to it between letters.
func (s *scanner) scanWord(before byte) {
	s.start, s.ideograph, s.before = s.at, false, before
	i := s.at
	for i < len(s.text) {
		n := letterLength(s.text[i:])
		if n == 0 {
			mark := skipApostrophe(s.text[i:])
			if mark == 0 || letterLength(s.text[i+mark:]) == 0 {
				break
			}
			n = mark
		}
		i += n
	}
	s.end, s.at = i, i
}

// letterLength returns the length of the letter that text begins with, or 0.
func letterLength(text string) int {
	if text == "" {
		return 0
	}
	if c := text[0]; c < utf8.RuneSelf {
		if letters[c] {
			return 1
		}
		return 0
	}
	if r, size := utf8.DecodeRuneInString(text); isLetter(r) {
		return size
	}
	return 0
}

const curly = "’"

// skipApostrophe returns the length of the apostrophe that text begins with, or 0.
func skipApostrophe(text string) int {
	switch {
	case text[0] == '\'':
		return 1
	case len(text) >= len(curly) && text[:len(curly)] == curly:
		return len(curly)
	}
	return 0
}

// isConnected finds the next word if a sign connects it with the last one.
func (s *scanner) isConnected() bool {
	if s.at+1 >= len(s.text) {
		return false
	}
	c := s.text[s.at]
	if c != '-' && c != '_' && c != '.' || letterLength(s.text[s.at+1:]) == 0 {
		return false
	}
	s.at++
	s.scanWord(c)
	return true
}

// currentSpan describes the word that was found.
func (s *scanner) currentSpan() span {
	out := span{start: s.start, end: s.end, before: s.before, digits: true}
	for i := s.start; i < s.end; i++ {
		c := s.text[i]
		if i > s.start && isCapital(c) && (isSmall(s.text[i-1]) || isDigit(s.text[i-1]) || i+1 < s.end && isSmall(s.text[i+1])) {
			out.mixed = true
		}
		if !isDigit(c) && (i > s.start || c|0x20 != 'v' || s.end == s.start+1) {
			out.digits = false
		}
	}
	return out
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// skipSigns returns the length of the signs that make a name of a word: C#, C++.
func skipSigns(text string, start, end int) int {
	rest := text[end:]
	n := 0
	switch {
	case len(rest) >= 2 && rest[:2] == "++":
		n = 2
	case len(rest) >= 1 && rest[0] == '#' && end == start+1:
		n = 1
	}
	if n == 0 || isDigit(text[start]) || len(rest) > n && (rest[n] == rest[n-1] || letterLength(rest[n:]) > 0) {
		return 0
	}
	return n
}
