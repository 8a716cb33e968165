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
	return truncate(strings.Join(strings.Fields(stripControls(s, false)), " "), max)
}

// cleanName returns a name as people read it.
func cleanName(s string) string { return oneLine(s, maxName) }

// cleanField returns a value as machines read it.
func cleanField(s string) string { return oneLine(s, maxField) }

// cleanExcerpt returns at most the first 500 characters of a text, with its lines.
func cleanExcerpt(s string) string {
	return truncate(strings.TrimSpace(stripControls(s, true)), maxExcerpt)
}

// stripControls replaces control characters by a space and drops those that change the direction of a text or cannot be seen.
func stripControls(s string, lines bool) string {
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

// truncate shortens s to max characters, of which the last one then says so.
func truncate(s string, max int) string {
	if utf8.RuneCountInString(s) <= max {
		return s
	}
	runes := []rune(s)
	return strings.TrimRightFunc(string(runes[:max-1]), unicode.IsSpace) + ellipsis
}

// firstEntries returns the first MaxEntries of all, and how many there are beyond.
func firstEntries[T any](all []T) ([]T, int) {
	if len(all) <= MaxEntries {
		return all, 0
	}
	return all[:MaxEntries], len(all) - MaxEntries
}

// cleanStack returns the name of a service's stack for people.
func cleanStack(s Service) string { return firstText(cleanName(s.StackName), cleanName(s.StackID)) }

func cleanService(s Service) string {
	return firstText(cleanName(s.ServiceName), cleanName(s.ServiceID), "-")
}

func serviceLabel(s Service) string {
	if stack := cleanStack(s); stack != "" {
		return stack + " / " + cleanService(s)
	}
	return cleanService(s)
}

func firstText(all ...string) string {
	for _, s := range all {
		if s != "" {
			return s
		}
	}
	return ""
}
