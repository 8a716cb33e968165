package words

import (
	"slices"
	"strings"
)

// MaxTerms is how many terms a search may have, and how many words one of them.
const MaxTerms = 20

// Term is a sequence of words that a search asks for.
type Term struct {
	// Column is the column of the FTS4 table in which the words are looked for, "" for all.
	Column string
	// Excluded says that the words must not be there.
	Excluded bool
	words    []string
	// prefix says that the last word may go on.
	prefix bool
}

// CutTerm takes the first term off a search: its operator, "" for none, and its value. A value may stand in quotes.
func CutTerm(s string, operators []string) (name, value string, quoted bool, rest string) {
	for _, op := range operators {
		if len(s) > len(op) && s[len(op)] == ':' && strings.EqualFold(s[:len(op)], op) {
			name, s = op, s[len(op)+1:]
			break
		}
	}
	if strings.HasPrefix(s, `"`) {
		value, rest, _ = strings.Cut(s[1:], `"`)
		return name, value, true, rest
	}
	end := strings.IndexAny(s, " \t\r\n　")
	if end < 0 {
		end = len(s)
	}
	return name, s[:end], false, strings.TrimLeft(s[end:], " \t\r\n　")
}

// NewTerm returns the words of a value that are looked for in a column, "" for all columns. Without quotes, words that
// punctuation joins belong together all the same, and a star at the end stands for the rest of a word. It reports false for a
// value without words.
func NewTerm(column, value string, quoted bool) (Term, bool) {
	t := Term{Column: column, prefix: !quoted && strings.HasSuffix(value, "*")}
	ending := ""
	splitWords(value, func(word string, last bool) bool {
		if ending != "" {
			t.words, ending = append(t.words, ending), ""
		}
		// The last character of a run is part of the pair before it, and a word of its own only where the run ends.
		if last && len(t.words) > 0 && strings.HasSuffix(t.words[len(t.words)-1], word) {
			ending = word
			return true
		}
		t.words = append(t.words, word)
		// A single character is found as the beginning of a pair.
		t.prefix = t.prefix || last
		return len(t.words) < MaxTerms
	})
	return t, len(t.words) > 0
}

// markerSign begins the words of markers. It is no letter and no digit, so that no word of a text or of a search begins with it.
const markerSign = "¤"

// FormatMarker returns the word by which a document is found that has a property. The name holds lower-case letters of ASCII alone.
func FormatMarker(name string) string { return markerSign + name }

// NewMarkerTerm returns the term for documents that have the marker of a name.
func NewMarkerTerm(name string, excluded bool) Term {
	return Term{Excluded: excluded, words: []string{FormatMarker(name)}}
}

// CutMinus takes the minus off a search that excludes what follows. One alone, or among several, is no such minus.
func CutMinus(s string) (rest string, excluded bool) {
	if len(s) > 1 && s[0] == '-' && !strings.ContainsRune("- \t\r\n", rune(s[1])) {
		return s[1:], true
	}
	return s, false
}

// HasWanted reports whether any of the terms is looked for, rather than excluded.
func HasWanted(terms []Term) bool {
	return slices.ContainsFunc(terms, func(t Term) bool { return !t.Excluded })
}

// FormatMatch returns terms, at least one of which is looked for, in the language of FTS4. In a column, the words of a phrase need
// not be neighbours.
func FormatMatch(terms []Term) string {
	var all []string
	for _, t := range terms {
		if !t.Excluded {
			all = append(all, t.formatMatch())
		}
	}
	match := strings.Join(all, " AND ")
	if excluded := FormatExcluded(terms); excluded != "" {
		match = "(" + match + ") NOT (" + excluded + ")"
	}
	return match
}

// FormatExcluded returns what the terms exclude in the language of FTS4, "" for nothing: a document is excluded if it matches.
func FormatExcluded(terms []Term) string {
	var all []string
	for _, t := range terms {
		if t.Excluded {
			all = append(all, t.formatMatch())
		}
	}
	return strings.Join(all, " OR ")
}

// formatMatch returns the words of the term in the language of FTS4. Words hold letters and digits alone, but for markerSign.
func (t Term) formatMatch() string {
	words := slices.Clone(t.words)
	if t.prefix {
		words[len(words)-1] += "*"
	}
	if t.Column == "" {
		if len(words) == 1 {
			return words[0]
		}
		return `"` + strings.Join(words, " ") + `"`
	}
	for i, w := range words {
		words[i] = t.Column + ":" + w
	}
	if len(words) == 1 {
		return words[0]
	}
	return "(" + strings.Join(words, " AND ") + ")"
}

// FormatTSQuery returns a search for all terms as the text of a tsquery. weights are those of the sections, by column.
func FormatTSQuery(terms []Term, weights map[string]byte) string {
	var all []string
	for _, t := range terms {
		words := make([]string, len(t.words))
		for i, w := range t.words {
			flags := ""
			if weight, ok := weights[t.Column]; ok {
				flags = string(weight)
			}
			if t.prefix && i == len(t.words)-1 {
				flags += "*"
			}
			words[i] = "'" + w + "'"
			if flags != "" {
				words[i] += ":" + flags
			}
		}
		operator := " <-> "
		if t.Column != "" {
			operator = " & "
		}
		not := ""
		if t.Excluded {
			not = "!"
		}
		all = append(all, not+"("+strings.Join(words, operator)+")")
	}
	return strings.Join(all, " & ")
}
