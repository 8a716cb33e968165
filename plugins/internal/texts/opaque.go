package texts

import (
	"regexp"
	"strings"
	"sync"
)

const (
	// maxOpaque is how long a word of letters and digits may be before it counts as data rather than text, in bytes. A
	// SHA-512 sum has 128, a token with a signature some 300 or more.
	maxOpaque = 256
	// opaqueLine and opaqueLines tell blocks of encoded data: so many lines in a row that are at least so long.
	opaqueLine  = 48
	opaqueLines = 8
)

var (
	// dataImage is an image of Markdown whose address holds its bytes.
	dataImage = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`!\[([^\]\n]*)\]\(<?data:[^)\s]*>?(?:\s+"[^"\n]*")?\)`)
	})
	// dataURI is an address that holds its bytes. A short one is left: it may be the subject of a text.
	dataURI = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile("data:[\\w.+-]+/[\\w.+-]+(?:;[\\w=.+-]+)*,[^\\s\"'`()<>\\\\]{64,}")
	})
)

// DropOpaque returns s without what nobody reads: addresses that hold their bytes (data:), long words of encoded data, and
// blocks of lines of it. An ellipsis stands for each, and an image's own words for an image.
func DropOpaque(s string) string {
	if strings.Contains(s, "data:") {
		s = dataImage().ReplaceAllString(s, "$1")
		s = dataURI().ReplaceAllString(s, Ellipsis)
	}
	s, wide := dropLongWords(s)
	if wide {
		s = dropBlocks(s)
	}
	return s
}

// dropLongWords puts an ellipsis in the place of each run of more than maxOpaque letters, digits and signs of base64 that
// has the mixture of encoded data. wide tells that there is a run that may be a line of a block.
func dropLongWords(s string) (out string, wide bool) {
	var b strings.Builder
	done := 0
	for i := 0; i < len(s); {
		if !encoded[s[i]] {
			i++
			continue
		}
		start := i
		for i < len(s) && encoded[s[i]] {
			i++
		}
		wide = wide || i-start >= opaqueLine
		if i-start > maxOpaque && isMixed(s[start:i]) {
			b.WriteString(s[done:start])
			b.WriteString(Ellipsis)
			done = i
		}
	}
	if done == 0 {
		return s, wide
	}
	return b.String() + s[done:], wide
}

// dropBlocks puts an ellipsis in the place of each block of lines of encoded data.
func dropBlocks(s string) string {
	lines := strings.SplitAfter(s, "\n")
	var out strings.Builder
	dropped := false
	for i := 0; i < len(lines); {
		n := 0
		for i+n < len(lines) && isEncodedLine(strings.TrimSpace(lines[i+n])) {
			n++
		}
		if n >= opaqueLines {
			out.WriteString(Ellipsis + "\n")
			dropped = true
			i += n
			continue
		}
		for range max(n, 1) {
			out.WriteString(lines[i])
			i++
		}
	}
	if !dropped {
		return s
	}
	return out.String()
}

func isEncodedLine(line string) bool {
	if len(line) < opaqueLine {
		return false
	}
	for i := range len(line) {
		if !encoded[line[i]] {
			return false
		}
	}
	return isMixed(line)
}

// encoded are the bytes that base64, its variant for addresses, and hexadecimal data consist of.
var encoded = func() (set [256]bool) {
	for _, c := range []byte("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/=_-%") {
		set[c] = true
	}
	return set
}()

// isMixed reports whether a word has digits among its letters, as encoded data has and a line of one sign, a path or a long
// name has not.
func isMixed(word string) bool {
	digits, letters, slashes := 0, 0, 0
	for i := range len(word) {
		switch c := word[i]; {
		case c >= '0' && c <= '9':
			digits++
		case c|0x20 >= 'a' && c|0x20 <= 'z':
			letters++
		case c == '/' || c == '-' || c == '_':
			slashes++
		}
	}
	return digits*40 >= len(word) && letters*4 >= len(word) && slashes*8 <= len(word)
}
