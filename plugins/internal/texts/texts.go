// Package texts cuts and cleans texts that come from a service, for answers and errors of plugins.
package texts

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Ellipsis stands for what was cut off.
const Ellipsis = "…"

// Head returns the beginning of s of at most n bytes that ends between two characters.
func Head(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n = max(n, 0); n > 0 && !utf8.RuneStart(s[n]); {
		n--
	}
	return s[:n]
}

// Truncate returns s, or its first n bytes and an ellipsis if it has more, as valid UTF-8.
func Truncate(s string, n int) string {
	if len(s) <= n {
		return strings.ToValidUTF8(s, "")
	}
	return strings.ToValidUTF8(s[:n], "") + Ellipsis
}

// Printable returns s with a space for each character that is not printed.
func Printable(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return ' '
	}, s)
}

// OneLine returns s with single spaces in place of white space.
func OneLine(s string) string { return strings.Join(strings.Fields(s), " ") }
