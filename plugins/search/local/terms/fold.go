package terms

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// spelled are letters that are no letter with an accent and are spelled with others.
var spelled = map[rune]string{
	'ß': "ss", 'ẞ': "ss", 'æ': "ae", 'Æ': "ae", 'œ': "oe", 'Œ': "oe", 'ø': "o", 'Ø': "o", 'đ': "d", 'Đ': "d", 'ł': "l", 'Ł': "l", 'ı': "i",
	'þ': "th", 'Þ': "th", 'ð': "d", 'Ð': "d",
}

// appendFolded appends a word in small letters, without accents, apostrophes and the genitive.
func appendFolded(dst []byte, word string) []byte {
	from := len(dst)
	genitive := false
	for i := 0; i < len(word); {
		c := word[i]
		if c < utf8.RuneSelf {
			switch {
			case c == '\'':
				genitive = true
			case isCapital(c):
				dst = append(dst, c|0x20)
			default:
				dst = append(dst, c)
			}
			i++
			continue
		}
		r, size := utf8.DecodeRuneInString(word[i:])
		if word[i:i+size] == curly {
			genitive = true
		} else {
			dst = append(dst, foldLetter(r)...)
		}
		i += size
	}
	if genitive && len(dst)-from > 1 && dst[len(dst)-1] == 's' && (strings.HasSuffix(word, "s") || strings.HasSuffix(word, "S")) {
		if end := strings.TrimRight(word, "sS"); strings.HasSuffix(end, "'") || strings.HasSuffix(end, curly) {
			dst = dst[:len(dst)-1]
		}
	}
	return dst
}

// foldLetter returns a letter outside of ASCII as a small one without accents, and without its width.
func foldLetter(r rune) string {
	if s, ok := spelled[r]; ok {
		return s
	}
	if '\u0300' <= r && r <= '\u036f' { // an accent by itself
		return ""
	}
	if !unicode.In(r, unicode.Latin, unicode.Greek) {
		return string(unicode.ToLower(r))
	}
	var out strings.Builder
	for _, part := range norm.NFKD.String(string(r)) {
		if !unicode.Is(unicode.Mn, part) {
			out.WriteRune(unicode.ToLower(part))
		}
	}
	return out.String()
}

// Letters of Japanese and Korean of half the width.
const (
	firstHalfWidth = '\uff66'
	lastHalfWidth  = '\uffdc'
)

// foldIdeograph returns an ideograph as a simplified one of full width.
func foldIdeograph(r rune) string {
	if firstHalfWidth <= r && r <= lastHalfWidth { // of half the width
		return norm.NFKC.String(string(r))
	}
	return string(simplifyRune(r))
}
