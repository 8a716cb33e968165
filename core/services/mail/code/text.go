package code

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// span is a range of bytes.
type span struct{ start, end int }

// normalizeText returns the beginning of a text in one form: composed, with ASCII digits and letters for those of full width, plain
// spaces and no characters that are not seen.
func normalizeText(text string) string {
	if len(text) > MaxText {
		cut := MaxText
		for cut > 0 && !utf8.RuneStart(text[cut]) {
			cut--
		}
		text = text[:cut]
	}
	if isPlain(text) {
		return text
	}
	text = strings.Map(func(r rune) rune {
		switch {
		case r == '\n', r == '\t', r >= ' ' && r < 0x7f:
			return r
		case r == utf8.RuneError:
			return '?'
		case r >= 0xff01 && r <= 0xff5e && r != '：' && (unicode.IsDigit(r) || unicode.IsLetter(r)):
			return r - 0xfee0
		case r == 0x2010 || r == 0x2011:
			return '-'
		case unicode.Is(unicode.Zs, r):
			return ' '
		case unicode.IsControl(r), unicode.Is(unicode.Cf, r), r == 0x34f:
			return -1
		}
		return r
	}, text)
	return norm.NFC.String(text)
}

// isPlain reports whether a text has nothing but visible ASCII characters, spaces and line breaks.
func isPlain(text string) bool {
	for i := range len(text) {
		if c := text[i]; c < ' ' && c != '\n' && c != '\t' || c >= 0x7f {
			return false
		}
	}
	return true
}

// toLower returns a text in lower case, in which positions stay the same.
func toLower(s string) string {
	if isPlain(s) {
		return strings.ToLower(s)
	}
	return strings.Map(func(r rune) rune {
		if l := unicode.ToLower(r); utf8.RuneLen(l) == utf8.RuneLen(r) {
			return l
		}
		return r
	}, s)
}

func isDigit(c byte) bool  { return c >= '0' && c <= '9' }
func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

func isAlphanumeric(c byte) bool { return isDigit(c) || isLetter(c) }

// isAlphabetic reports whether a character joins its neighbours to a word: Chinese, Japanese and Korean have no spaces there.
func isAlphabetic(r rune) bool {
	if r < utf8.RuneSelf {
		return r >= 0 && isAlphanumeric(byte(r))
	}
	return unicode.IsLetter(r) && r != utf8.RuneError && !unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul) &&
		r != 'ー'
}

func firstRune(s string) rune {
	if s == "" {
		return -1
	}
	r, _ := utf8.DecodeRuneInString(s)
	return r
}

func lastRune(s string) rune {
	if s == "" {
		return -1
	}
	r, _ := utf8.DecodeLastRuneInString(s)
	return r
}
