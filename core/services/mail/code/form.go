package code

import "strings"

// form is a word, or a group of words, that has the form of a code.
type form struct {
	span
	value string
	// digits and letters are how many of them there are.
	digits, letters int
}

// maxEndless is how much of an endless word is looked at to each side, in bytes.
const maxEndless = 300

// findForms returns what has the form of a code and is no part of an address, a link or a longer number.
func findForms(text string) (found []form) {
	for i := 0; i < len(text) && len(found) < maxForms; {
		if !isAlphanumeric(text[i]) {
			i++
			continue
		}
		end := i
		for end < len(text) && isAlphanumeric(text[end]) {
			end++
		}
		s := span{i, end}
		group, grouped := findGroup(text, s)
		if grouped {
			s = group
		}
		if f, ok := newForm(text, s, grouped); ok && !isPartOfMore(text, f) {
			found, end = append(found, f), s.end
		}
		i = max(end, i+1)
	}
	return found
}

// findGroup returns the code of several words that begins with the word s: characters that stand apart, two groups of three or four, or
// three of two. Groups with letters have a hyphen between them.
func findGroup(text string, s span) (span, bool) {
	size := s.end - s.start
	digits, ok := isGroup(text[s.start:s.end])
	if !ok || size > 4 {
		return s, false
	}
	groups := groupCounts[size]
	for n := 1; ; n++ {
		next, spaces := s.end, 0
		for next < len(text) && spaces < 3 && (text[next] == ' ' || size == 1 && (text[next] == '\t' || text[next] == '\n')) {
			next, spaces = next+1, spaces+1
		}
		if spaces == 0 && size > 1 && next < len(text) && text[next] == '-' {
			next++
		} else if spaces == 0 || size > 1 && spaces > 1 {
			next = len(text)
		}
		end := next + size
		if n < groups.most && end <= len(text) {
			more, ok := isGroup(text[next:end])
			joined := size == 1 || text[next-1] == '-' || digits && more
			if ok && joined && (size != 2 || digits && more) && !isWordByte(text, end) {
				digits, s.end = digits && more, end
				continue
			}
		}
		return s, n >= groups.least && n > 1
	}
}

// groupCounts has how many groups of one to four characters make a code.
var groupCounts = [...]struct{ least, most int }{1: {4, 8}, 2: {3, 3}, 3: {2, 2}, 4: {2, 2}}

// isGroup reports whether a text has nothing but digits and capital letters, and whether all are digits.
func isGroup(text string) (digits, ok bool) {
	digits = true
	for i := range len(text) {
		switch c := text[i]; {
		case isDigit(c):
		case c >= 'A' && c <= 'Z':
			digits = false
		default:
			return false, false
		}
	}
	return digits, text != ""
}

// isWordByte reports whether the byte at i goes on with a word.
func isWordByte(text string, i int) bool {
	return i < len(text) && (isAlphanumeric(text[i]) || text[i] == '_')
}

// newForm returns the form of the text at s, and reports whether it may be that of a code.
func newForm(text string, s span, grouped bool) (form, bool) {
	f := form{span: s, value: text[s.start:s.end]}
	if grouped {
		f.value = strings.Join(strings.Fields(f.value), "")
	}
	if len(f.value) < minLength || len(f.value) > maxLength+len("--") {
		return f, false
	}
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
		return f, (hasFewVowels(f.value) || upper == f.letters) && !letterWords[strings.ToLower(f.value)]
	}
	return f, true
}

// hasFewVowels reports whether a word has too few vowels for one of a language.
func hasFewVowels(word string) bool {
	vowels := 0
	for i := range len(word) {
		if strings.IndexByte("aeiouyAEIOUY", word[i]) >= 0 {
			vowels++
		}
	}
	return 4*vowels <= len(word)
}

// isPartOfMore reports whether a form belongs to an address, a link, a date or a longer number.
func isPartOfMore(text string, f form) bool {
	if joinsWords(text, f.start-1, -1) && !hasShortPrefix(text, f.start) || joinsWords(text, f.end, 1) {
		return true
	}
	around := wordAround(text, f.span)
	if strings.Contains(around, "@") && !strings.HasPrefix(around, "@") || strings.Contains(around, "://") ||
		strings.HasPrefix(around, "www.") {
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

// joinsWords reports whether the byte at i is a mark that joins two words, with a letter or digit on its other side.
func joinsWords(s string, i, step int) bool {
	if i < 0 || i >= len(s) {
		return false
	}
	switch s[i] {
	case '-', '_', '.', ',', '/', ':', '+', '=', '&', '%', '~', '\\', '*', '\'':
		if s[i] == '\'' && step > 0 {
			// What follows is an ending, as Turkish has it.
			return false
		}
		other := i + step
		return other >= 0 && other < len(s) && isAlphanumeric(s[other]) &&
			(s[i] != ',' && s[i] != '.' && s[i] != ':' && s[i] != '=' || step > 0 || isDigit(s[other]))
	}
	if step < 0 {
		return isAlphabetic(lastRune(s[:i+1]))
	}
	return isAlphabetic(firstRune(s[i:]))
}

// hasShortPrefix reports whether a single letter and a hyphen stand before start, as in "G-123456".
func hasShortPrefix(text string, start int) bool {
	return start >= 2 && text[start-1] == '-' && isLetter(text[start-2]) &&
		(start == 2 || !isAlphanumeric(text[start-3]) && text[start-3] != '-')
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
