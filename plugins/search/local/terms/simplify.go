package terms

import (
	_ "embed"
	"strings"
	"sync"
	"unicode/utf8"
)

// traditional are traditional characters, each in a line with its simplified ones, the likeliest first. The file is OpenCC's, unchanged.
//
//go:embed opencc/TSCharacters.txt
var traditional string

// The characters of firstHan to lastHan are nearly all that are written.
const (
	firstHan = 0x3400
	lastHan  = 0x9fff
)

// simplified holds, for each character from firstHan on, the simplified one, or 0 if it is its own.
var simplified = sync.OnceValue(func() []rune {
	out := make([]rune, lastHan-firstHan+1)
	for line := range strings.Lines(traditional) {
		from, to, _ := strings.Cut(line, "\t")
		if strings.HasPrefix(line, "#") {
			continue
		}
		key, _ := utf8.DecodeRuneInString(from)
		value, _ := utf8.DecodeRuneInString(to)
		if key >= firstHan && key <= lastHan && IsHan(value) {
			out[key-firstHan] = value
		}
	}
	return out
})

// simplifyRune returns the simplified form of a character.
func simplifyRune(r rune) rune {
	if r < firstHan || r > lastHan {
		return r
	}
	if s := simplified()[r-firstHan]; s != 0 {
		return s
	}
	return r
}
