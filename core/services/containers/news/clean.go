package news

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// How long texts from elsewhere may be, in characters.
const (
	maxName    = 120
	maxField   = 200
	maxExcerpt = 500
)

const ellipsis = "…"

var escapeSequence = regexp.MustCompile(`\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[@-Z\\-_])`)

// oneLine makes s valid and free of control characters, on one line and at most max characters long.
func oneLine(s string, max int) string {
	return cut(strings.Join(strings.Fields(printable(s, false)), " "), max)
}

// name is a name as people read it.
func name(s string) string { return oneLine(s, maxName) }

// field is a value as machines read it.
func field(s string) string { return oneLine(s, maxField) }

// excerpt is at most the first 500 characters of a text, with its lines.
func excerpt(s string) string {
	return cut(strings.TrimSpace(printable(s, true)), maxExcerpt)
}

// printable replaces control characters by a space and drops those that change the direction of a text or cannot be seen.
func printable(s string, lines bool) string {
	s = escapeSequence.ReplaceAllString(strings.ToValidUTF8(s, string(utf8.RuneError)), "")
	if lines {
		s = strings.ReplaceAll(s, "\r\n", "\n")
	}
	return strings.Map(func(r rune) rune {
		switch {
		case lines && r == '\n':
			return r
		case unicode.IsControl(r), r == '\u2028', r == '\u2029':
			return ' '
		case unicode.Is(unicode.Bidi_Control, r), r == '\u200b', r == '\u2060', r == '\ufeff':
			return -1
		}
		return r
	}, s)
}

// cut shortens s to max characters, of which the last one then says so.
func cut(s string, max int) string {
	if utf8.RuneCountInString(s) <= max {
		return s
	}
	runes := []rune(s)
	return strings.TrimRightFunc(string(runes[:max-1]), unicode.IsSpace) + ellipsis
}

// first are the first MaxEntries of all, and how many there are beyond.
func first[T any](all []T) ([]T, int) {
	if len(all) <= MaxEntries {
		return all, 0
	}
	return all[:MaxEntries], len(all) - MaxEntries
}

// stackOf and serviceOf are names for people, and label is both.
func stackOf(s Service) string { return firstOf(name(s.StackName), name(s.StackID)) }

func serviceOf(s Service) string { return firstOf(name(s.ServiceName), name(s.ServiceID), "-") }

func label(s Service) string {
	if stack := stackOf(s); stack != "" {
		return stack + " / " + serviceOf(s)
	}
	return serviceOf(s)
}

func firstOf(all ...string) string {
	for _, s := range all {
		if s != "" {
			return s
		}
	}
	return ""
}
