package code

import (
	"regexp"
	"strings"
)

// form is a word, or a group of words, that has the form of a code.
type form struct {
	span
	value string
	// digits and letters are how many of them there are.
	digits, letters int
}

// maxEndless is how much of an endless word is looked at to each side, in bytes.
const maxEndless = 300

// groupPatterns match codes that are written in groups, and codes whose digits stand apart.
var groupPatterns = []*regexp.Regexp{
	regexp.MustCompile(`^[0-9](?:[ \t\n]{1,3}[0-9]){3,7}\b`),
	regexp.MustCompile(`^[0-9]{3}[ -][0-9]{3}\b`),
	regexp.MustCompile(`^[0-9]{4}[ -][0-9]{4}\b`),
	regexp.MustCompile(`^[0-9]{2}[ -][0-9]{2}[ -][0-9]{2}\b`),
	regexp.MustCompile(`^[A-Z0-9]{3}-[A-Z0-9]{3}\b`),
	regexp.MustCompile(`^[A-Z0-9]{4}-[A-Z0-9]{4}\b`),
}

// findForms returns what has the form of a code and is no part of an address, a link or a longer number.
func findForms(text string) (found []form) {
	for i := 0; i < len(text); {
		if !isAlphanumeric(text[i]) {
			i++
			continue
		}
		end := i
		for end < len(text) && isAlphanumeric(text[end]) {
			end++
		}
		s := span{i, end}
		if group, ok := findGroup(text, i); ok {
			s = group
		}
		if f, ok := newForm(text, s); ok && !isPartOfMore(text, f) {
			found, end = append(found, f), s.end
		}
		i = max(end, i+1)
	}
	return found
}

// findGroup returns the group of words that begins at i.
func findGroup(text string, i int) (span, bool) {
	rest := text[i:min(len(text), i+40)]
	for _, p := range groupPatterns {
		if at := p.FindStringIndex(rest); at != nil {
			return span{i, i + at[1]}, true
		}
	}
	return span{}, false
}

// newForm returns the form of the text at s, and reports whether it may be that of a code.
func newForm(text string, s span) (form, bool) {
	f := form{span: s, value: strings.Join(strings.Fields(text[s.start:s.end]), "")}
	upper := 0
	for i := range len(f.value) {
		switch c := f.value[i]; {
		case isDigit(c):
			f.digits++
		case isLetter(c):
			f.letters++
			if c <= 'Z' {
				upper++
			}
		}
	}
	n := f.digits + f.letters
	switch {
	case n < minLength || n > maxLength, f.letters > 0 && upper > 0 && upper < f.letters && f.digits == 0:
		return f, false
	case f.digits == 0:
		return f, !letterWords[strings.ToLower(f.value)]
	}
	return f, true
}

// isPartOfMore reports whether a form belongs to an address, a link, a date or a longer number.
func isPartOfMore(text string, f form) bool {
	if joins(text, f.start-1, -1) && !hasShortPrefix(text, f.start) || joins(text, f.end, 1) {
		return true
	}
	around := wordAround(text, f.span)
	if strings.Contains(around, "@") && !strings.HasPrefix(around, "@") || strings.Contains(around, "://") || strings.HasPrefix(around, "www.") {
		return true
	}
	// Groups of digits beside it make it a telephone number, an account or an amount.
	return f.letters == 0 && (hasDigitsBeside(text, f.start, -1) || hasDigitsBeside(text, f.end, 1))
}

// hasDigitsBeside reports whether only one space, and perhaps a bracket, separates the place i from a digit of another number.
func hasDigitsBeside(text string, i, step int) bool {
	at := i
	if step < 0 {
		at = i - 1
	}
	if at < 0 || at >= len(text) || text[at] != ' ' && text[at] != ')' && text[at] != '(' {
		return false
	}
	for range 2 {
		if at += step; at < 0 || at >= len(text) {
			return false
		}
		if isDigit(text[at]) {
			return true
		}
		if text[at] != ')' && text[at] != '(' && text[at] != ' ' {
			return false
		}
	}
	return false
}

// joins reports whether the byte at i is a mark that joins two words, with a letter or digit on its other side.
func joins(s string, i, step int) bool {
	if i < 0 || i >= len(s) {
		return false
	}
	switch s[i] {
	case '-', '_', '.', ',', '/', ':', '+', '=', '&', '%', '~', '\\', '*', '\'':
		other := i + step
		return other >= 0 && other < len(s) && isAlphanumeric(s[other]) && (s[i] != ',' && s[i] != '.' && s[i] != ':' && s[i] != '=' || step > 0 || isDigit(s[other]))
	}
	if step < 0 {
		return isAlphabetic(lastRune(s[:i+1]))
	}
	return isAlphabetic(firstRune(s[i:]))
}

// hasShortPrefix reports whether a single letter and a hyphen stand before start, as in "G-123456".
func hasShortPrefix(text string, start int) bool {
	return start >= 2 && text[start-1] == '-' && isLetter(text[start-2]) && (start == 2 || !isAlphanumeric(text[start-3]) && text[start-3] != '-')
}

// wordAround returns the text around s up to the next space.
func wordAround(text string, s span) string {
	start, end := s.start, s.end
	for start > 0 && s.start-start < maxEndless && !isSpace(text[start-1]) {
		start--
	}
	for end < len(text) && end-s.end < maxEndless && !isSpace(text[end]) {
		end++
	}
	return text[start:end]
}

func isSpace(c byte) bool {
	return c <= ' ' || c == '<' || c == '>' || c == '"' || c == '(' || c == ')'
}
