// Package terms finds the words of a text as they are looked for: folded to small letters without accents, to simplified
// ideographs, and to their stems. Identifiers and versions are found as a whole and by their parts.
package terms

import (
	"strings"
	"unicode/utf8"

	porter "github.com/blevesearch/go-porterstemmer"
)

// Kind is what a term is in its text.
type Kind uint8

// A word stands by itself; so do the words of a-b and a_b, whose Joined form is ab. Name is the whole of an identifier of
// several parts (getUser), of a version (1.2.10) and of a name with signs (C#); Part is a part of one. Ideograph is one, and
// Pair are two that are neighbours.
const (
	Word Kind = iota
	Joined
	Name
	Part
	Ideograph
	Pair
)

// Term is a word of a text.
type Term struct {
	// Text is what is compared: the stem of Surface, which is the folded word.
	Text, Surface string
	Kind          Kind
	// Position counts words and ideographs from 0. Start and End are the place in the text, in bytes.
	Position, Start, End int
}

const (
	// maxWord is how long a word may be, in bytes; a longer one is no word of a language.
	maxWord = 128
	// maxJoinedWords and maxJoined bound what is joined, in words and bytes.
	maxJoinedWords = 6
	maxJoined      = 64
	// maxKnown is how many words an analyzer remembers.
	maxKnown = 1 << 15
)

// Analyzer finds terms. It remembers the words that it has seen and is not safe for concurrent use.
type Analyzer struct {
	known map[string]form
	buf   []byte
	words []span
	// wanted are the terms to find, nil for all.
	wanted *wanted
}

// wanted are terms that are looked for.
type wanted struct {
	// starts are the first letters of those in English ones: a word and its stem begin alike.
	starts [utf8.RuneSelf]bool
	// ideographs are those of ideographs and pairs.
	ideographs map[rune]bool
}

// NewFinder makes an analyzer that yields at least the given terms, and passes over most others.
func NewFinder(some []string) *Analyzer {
	out, w := NewAnalyzer(), &wanted{ideographs: map[rune]bool{}}
	for _, term := range some {
		for i, r := range term {
			switch {
			case IsIdeograph(r):
				w.ideographs[r] = true
			case i == 0 && r < utf8.RuneSelf:
				w.starts[r] = true
			}
		}
	}
	out.wanted = w
	return out
}

// passesOver reports whether a word is none of the terms.
func (w *wanted) passesOver(word string) bool {
	if w == nil || word == "" {
		return false
	}
	first := word[0]
	if first >= utf8.RuneSelf {
		return false // a letter with an accent may be folded to any
	}
	if isCapital(first) {
		first |= 0x20
	}
	return !w.starts[first]
}

// form is what a word becomes.
type form struct{ stem, surface string }

// NewAnalyzer makes an analyzer.
func NewAnalyzer() *Analyzer { return &Analyzer{known: map[string]form{}} }

// span is a word of a text, and what separates it from the one before it.
type span struct {
	start, end int
	// before is the character between it and the word before it in the same compound, or 0.
	before byte
	// mixed: a capital follows another letter. digits: it consists of digits, after a v perhaps.
	mixed, digits bool
}

// foldWord returns the form of a word.
func (a *Analyzer) foldWord(word string) form {
	if len(word) > maxWord || a.wanted.passesOver(word) {
		return form{}
	}
	a.buf = appendFolded(a.buf[:0], word)
	if f, ok := a.known[string(a.buf)]; ok {
		return f
	}
	f := form{surface: string(a.buf)}
	f.stem = stemWord(f.surface)
	if len(a.known) >= maxKnown {
		clear(a.known)
	}
	a.known[f.surface] = f
	return f
}

// stemWord returns the stem of a folded word. Words with digits and in other letters than English ones are their own.
func stemWord(word string) string {
	if len(word) < 3 {
		return word
	}
	for i := range len(word) {
		if word[i] < 'a' || word[i] > 'z' {
			return word
		}
	}
	return string(porter.StemWithoutLowerCasing([]rune(word)))
}

// Stem returns the stem of a folded word.
func Stem(word string) string { return stemWord(word) }

// Normalize returns the folded words and ideographs of a text, with a space before and after each, so that a phrase is in a text if
// its normal form is in that of the text.
func Normalize(text string) string {
	var out strings.Builder
	out.Grow(len(text) + len(text)/4)
	out.WriteByte(' ')
	s := scanner{text: text}
	for s.nextWord() {
		if s.ideograph {
			out.WriteString(foldIdeograph(s.rune))
			out.WriteByte(' ')
			continue
		}
		out.Write(appendFolded(nil, text[s.start:s.end]))
		out.WriteString(text[s.end : s.end+skipSigns(text, s.start, s.end)])
		out.WriteByte(' ')
		s.at = s.end
	}
	return out.String()
}
