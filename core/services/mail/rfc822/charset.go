package rfc822

import (
	"encoding/base64"
	"io"
	"mime"
	"regexp"
	"strings"
	"unicode/utf16"

	"github.com/emersion/go-message/charset"
)

// readCharset returns r as UTF-8. It knows UTF-7 besides what the library knows, and reads Latin-1 as browsers do.
func readCharset(name string, r io.Reader) (io.Reader, error) {
	switch strings.ToLower(name) {
	case "iso-8859-1", "latin1":
		name = "windows-1252"
	case "utf-7", "unicode-1-1-utf-7":
		raw, err := io.ReadAll(io.LimitReader(r, MaxText))
		return strings.NewReader(decodeUTF7(string(raw))), err
	}
	return charset.Reader(name, r)
}

// decodeCharset is readCharset for a text.
func decodeCharset(name, s string) (string, error) {
	r, err := readCharset(name, strings.NewReader(s))
	if err != nil {
		return "", err
	}
	decoded, err := io.ReadAll(r)
	return string(decoded), err
}

// decodeUTF7 returns a text in UTF-7 (RFC 2152) decoded. It leaves what is not well formed as it is.
func decodeUTF7(s string) string {
	var out strings.Builder
	for {
		before, rest, found := strings.Cut(s, "+")
		out.WriteString(before)
		if !found {
			return out.String()
		}
		end := 0
		for end < len(rest) && isBase64(rest[end]) {
			end++
		}
		raw, err := base64.RawStdEncoding.DecodeString(rest[:end])
		switch {
		case end == 0:
			out.WriteByte('+')
		case err != nil:
			out.WriteString("+" + rest[:end])
		default:
			units := make([]uint16, len(raw)/2)
			for i := range units {
				units[i] = uint16(raw[2*i])<<8 | uint16(raw[2*i+1])
			}
			out.WriteString(string(utf16.Decode(units)))
		}
		s = strings.TrimPrefix(rest[end:], "-")
	}
}

// isBase64 reports whether c is of the alphabet of base64.
func isBase64(c byte) bool {
	return c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '+' || c == '/'
}

var (
	encodedWord = regexp.MustCompile(`=\?([^?\s]{1,60})\?([bBqQ])\?([^?]*)\?=`)
	betweenWord = regexp.MustCompile(`\?=[ \t\r\n]+=\?`)
)

// decodeWords decodes the encoded words of a value. One that cannot be decoded stays.
func decodeWords(s string) string {
	if !strings.Contains(s, "=?") {
		return s
	}
	var out strings.Builder
	var pending []byte
	var name string
	flush := func() {
		if decoded, err := decodeCharset(name, string(pending)); err == nil && len(pending) > 0 {
			out.WriteString(decoded)
		}
		pending = nil
	}
	at := 0
	s = betweenWord.ReplaceAllString(s, "?==?")
	for _, m := range encodedWord.FindAllStringSubmatchIndex(s, -1) {
		own, _, _ := strings.Cut(s[m[2]:m[3]], "*")
		raw, ok := decodeWord(s[m[4]:m[5]], s[m[6]:m[7]])
		if _, err := readCharset(own, strings.NewReader("")); err != nil && isASCII(raw) {
			// These bytes are the same in every charset.
			own = "us-ascii"
		} else if err != nil {
			ok = false
		}
		if !ok {
			continue
		}
		if m[0] > at || !strings.EqualFold(own, name) {
			flush()
		}
		out.WriteString(s[at:m[0]])
		// Words of one charset are decoded together: a character may begin in one and end in the next.
		pending, name, at = append(pending, raw...), own, m[1]
	}
	flush()
	return out.String() + s[at:]
}

// isASCII reports whether all bytes are printable ASCII.
func isASCII(raw []byte) bool {
	for _, c := range raw {
		if c < ' ' || c > '~' {
			return false
		}
	}
	return true
}

// decodeWord decodes the text of an encoded word to bytes.
func decodeWord(encoding, text string) (raw []byte, ok bool) {
	if strings.EqualFold(encoding, "b") {
		raw, err := base64.RawStdEncoding.DecodeString(strings.TrimRight(strings.ReplaceAll(text, " ", ""), "="))
		return raw, err == nil
	}
	// The library's decoder hands over the bytes as they are.
	d := mime.WordDecoder{CharsetReader: func(_ string, r io.Reader) (io.Reader, error) {
		all, err := io.ReadAll(r)
		raw = all
		return strings.NewReader(""), err
	}}
	_, err := d.Decode("=?x-bytes?q?" + strings.ReplaceAll(text, " ", "_") + "?=")
	return raw, err == nil
}
