package documents

import (
	"bytes"
	"regexp"
	"strings"
	"sync"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/htmlindex"
	"golang.org/x/text/encoding/unicode/utf32"

	xunicode "golang.org/x/text/encoding/unicode"
)

const (
	// maxSample is how much of a file its encoding is guessed from, in bytes, and maxControl which share of it may be control
	// characters, as a divisor.
	maxSample  = 64 << 10
	maxControl = 200
	// minScore is what the best encoding has to reach: half of the characters are common ones.
	minScore = 0.3
	// minWide is the share of characters that people use in a text of UTF-16.
	minWide = 0.97
)

var (
	utf16LE = xunicode.UTF16(xunicode.LittleEndian, xunicode.IgnoreBOM)
	utf16BE = xunicode.UTF16(xunicode.BigEndian, xunicode.IgnoreBOM)
)

// byteOrderMarks tell encodings; longer ones come first.
var byteOrderMarks = []struct {
	mark     string
	encoding encoding.Encoding
}{
	{"\xff\xfe\x00\x00", utf32.UTF32(utf32.LittleEndian, utf32.IgnoreBOM)},
	{"\x00\x00\xfe\xff", utf32.UTF32(utf32.BigEndian, utf32.IgnoreBOM)},
	{"\xef\xbb\xbf", encoding.Nop}, {"\xff\xfe", utf16LE}, {"\xfe\xff", utf16BE},
}

// declared finds the encoding that a text names at its beginning, as HTML, XML and editors know it.
var declared = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)(?:charset\s*=\s*["']?|<\?xml[^>]*encoding\s*=\s*["']|(?:file)?(?:en)?coding[:=]\s*)([\w.:-]{2,30})`)
})

// decodeText returns the text of a file in UTF-8. Its encoding is what a mark or the text says, else the one in which it
// makes most sense.
func decodeText(data []byte) (string, error) {
	for _, m := range byteOrderMarks {
		if rest, ok := bytes.CutPrefix(data, []byte(m.mark)); ok {
			return checkText(decodeBytes(rest, m.encoding))
		}
	}
	if bytes.IndexByte(data, 0) >= 0 {
		if text, ok := decodeWide(data); ok {
			return checkText(text)
		}
		return "", &Error{Binary}
	}
	if utf8.Valid(data) {
		return checkText(string(data))
	}
	sample := data[:min(len(data), maxSample)]
	if isBinary(sample) {
		return "", &Error{Binary}
	}
	if m := declared().FindSubmatch(data[:min(len(data), 1024)]); m != nil {
		if e, err := htmlindex.Get(string(m[1])); err == nil && e != xunicode.UTF8 && strings.Count(decodeBytes(sample, e), "\uFFFD") <= 1 {
			return checkText(decodeBytes(data, e))
		}
	}
	if e := guessEncoding(sample); e != nil {
		return checkText(decodeBytes(data, e))
	}
	if text, ok := decodeWide(data); ok {
		return checkText(text)
	}
	return "", &Error{Encoding}
}

func decodeBytes(data []byte, e encoding.Encoding) string {
	out, err := e.NewDecoder().Bytes(data)
	if err != nil {
		return ""
	}
	return string(out)
}

// checkText returns a decoded text without its byte order mark, or an error if it is not a text.
func checkText(text string) (string, error) {
	text = strings.TrimPrefix(text, "\ufeff")
	switch {
	case strings.TrimSpace(text) == "":
		return "", &Error{NoText}
	case strings.IndexByte(text, 0) >= 0 || isBinary([]byte(text[:min(len(text), maxSample)])):
		return "", &Error{Binary}
	}
	return text, nil
}

// isBinary reports whether a file has more control characters than a text has.
func isBinary(sample []byte) bool {
	n := 0
	for _, c := range sample {
		if c < ' ' && !strings.ContainsRune("\t\n\v\f\r\x1b", rune(c)) || c == 0x7f {
			n++
		}
	}
	return n*maxControl > len(sample)
}

// decodeWide returns a text in UTF-16 without a mark.
func decodeWide(data []byte) (string, bool) {
	if len(data)%2 != 0 {
		return "", false
	}
	best, text := minWide, ""
	for _, e := range []encoding.Encoding{utf16LE, utf16BE} {
		sample := decodeBytes(data[:min(len(data), maxSample)], e)
		used, all := 0, 0
		for _, r := range sample {
			if all++; isInUse(r) {
				used++
			}
		}
		if all > 0 && float64(used)/float64(all) >= best {
			best, text = float64(used)/float64(all), decodeBytes(data, e)
		}
	}
	return text, text != ""
}

// isInUse reports whether a character is one of those that most texts consist of.
func isInUse(r rune) bool {
	switch {
	case r < 0x80:
		return r >= ' ' || r == '\n' || r == '\r' || r == '\t'
	case r < 0x250, r >= 0x370 && r < 0x460, r >= 0x2010 && r < 0x2040, r >= 0x3000 && r < 0x3100, r >= 0x4e00 && r < 0xa000, r >= 0xac00 &&
		r < 0xd7a4, r >= 0xff00 && r < 0xff60:
		return true
	}
	return false
}
