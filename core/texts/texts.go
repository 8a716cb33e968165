// Package texts cuts and cleans texts that come from elsewhere, for databases, messages and pages.
package texts

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

const ellipsis = "…"

// Valid returns s as valid UTF-8 without NUL, which every database accepts.
func Valid(s string) string {
	// Most texts are valid, which ValidString tells faster.
	if !utf8.ValidString(s) {
		s = strings.ToValidUTF8(s, "")
	}
	return strings.ReplaceAll(s, "\x00", "")
}

// Limit returns at most the first n bytes of s, made Valid.
func Limit(s string, n int) string { return Valid(s[:min(len(s), n)]) }

// Truncate returns s, or its first n characters and an ellipsis if it has more.
func Truncate(s string, n int) string {
	if utf8.RuneCountInString(s) <= n {
		return s
	}
	return string([]rune(s)[:n]) + ellipsis
}

// JoinSome returns the items with commas between them: the first n, and how many more there are.
func JoinSome(items []string, n int) string {
	if len(items) <= n {
		return strings.Join(items, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(items[:n], ", "), len(items)-n)
}

// OneLine returns s as one line, made Valid, with single spaces, cut at n bytes with an ellipsis.
func OneLine(s string, n int) string {
	s = strings.Join(strings.Fields(Valid(s)), " ")
	if len(s) > n {
		s = strings.ToValidUTF8(s[:n], "") + ellipsis
	}
	return s
}
