package jsonedit

import (
	"bytes"
	"unicode/utf16"
	"unicode/utf8"
)

// unquoteString returns the text of a valid string from start to end, quotes included: a part of the body if there is no
// escape in it, else a buffer that the next call overwrites.
func (s *scanner) unquoteString(start, end int) []byte {
	raw := s.body[start+1 : end-1]
	at := bytes.IndexByte(raw, '\\')
	if at < 0 {
		return raw
	}
	out := append(s.buf[:0], raw[:at]...)
	for i := at; i < len(raw); {
		if raw[i] != '\\' {
			out = append(out, raw[i])
			i++
			continue
		}
		if raw[i+1] != 'u' {
			out = append(out, unescapeByte(raw[i+1]))
			i += 2
			continue
		}
		r, size := readUnicodeEscape(raw[i:])
		out = utf8.AppendRune(out, r)
		i += size
	}
	s.buf = out
	return out
}

func unescapeByte(c byte) byte {
	switch c {
	case 'b':
		return '\b'
	case 'f':
		return '\f'
	case 'n':
		return '\n'
	case 'r':
		return '\r'
	case 't':
		return '\t'
	}
	return c
}

// readUnicodeEscape reads the \u escape, or the surrogate pair, that raw starts with, and its length. A surrogate alone is
// U+FFFD.
func readUnicodeEscape(raw []byte) (rune, int) {
	r := readHex4(raw[2:6])
	if !utf16.IsSurrogate(r) {
		return r, 6
	}
	if len(raw) >= 12 && raw[6] == '\\' && raw[7] == 'u' {
		if pair := utf16.DecodeRune(r, readHex4(raw[8:12])); pair != utf8.RuneError {
			return pair, 12
		}
	}
	return utf8.RuneError, 6
}

func readHex4(b []byte) rune {
	var r rune
	for _, c := range b {
		r = r<<4 | rune(hexDigit(c))
	}
	return r
}

func hexDigit(c byte) int {
	switch {
	case c >= '0' && c <= '9':
		return int(c - '0')
	case c >= 'a' && c <= 'f':
		return int(c-'a') + 10
	case c >= 'A' && c <= 'F':
		return int(c-'A') + 10
	}
	return -1
}
