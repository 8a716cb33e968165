// Package words splits texts into words for an index of full text, and writes words and searches for SQLite's FTS4 and for
// PostgreSQL's tsvector, so that both find the same.
package words

import (
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// maxWord is the longest word of the index, in bytes; a longer one is cut.
const maxWord = 48

// splitWords calls add for each word of a text as the index has it: in lower case, without accents. Scripts without spaces give
// pairs of neighbouring characters, and the last character of each run, so that any part of a run is found. last says that the word
// is the last character of its run. It ends when add returns false.
func splitWords(text string, add func(word string, last bool) bool) {
	w := wordSplitter{add: add}
	for i := 0; i < len(text) && !w.stopped; {
		if c := text[i]; c < utf8.RuneSelf {
			w.addASCII(c)
			i++
			continue
		}
		r, n := utf8.DecodeRuneInString(text[i:])
		w.addRune(r, text[i:i+n])
		i += n
	}
	w.endRun()
	w.endWord()
}

// wordSplitter collects the characters of a word.
type wordSplitter struct {
	add     func(string, bool) bool
	word    []byte
	prev    rune
	stopped bool
}

// addASCII takes a character of ASCII.
func (w *wordSplitter) addASCII(c byte) {
	w.endRun()
	switch {
	case c >= 'A' && c <= 'Z':
		c += 'a' - 'A'
	case c >= 'a' && c <= 'z', c >= '0' && c <= '9':
	default:
		w.endWord()
		return
	}
	if len(w.word) < maxWord {
		w.word = append(w.word, c)
	}
}

// addRune takes another character.
func (w *wordSplitter) addRune(r rune, text string) {
	if isUnspaced(r) {
		w.endWord()
		if w.prev != 0 {
			w.emit(string(w.prev)+text, false)
		}
		w.prev = r
		return
	}
	w.endRun()
	for _, r := range norm.NFKD.String(text) {
		switch {
		case unicode.Is(unicode.Mn, r):
		case r < utf8.RuneSelf:
			w.addASCII(byte(r))
		case unicode.IsLetter(r) || unicode.IsNumber(r):
			if len(w.word) < maxWord-utf8.UTFMax {
				w.word = utf8.AppendRune(w.word, unicode.ToLower(r))
			}
		default:
			w.endWord()
		}
	}
}

// isUnspaced reports whether a character belongs to a script that is written without spaces.
func isUnspaced(r rune) bool {
	return r >= 0x2E80 && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul)
}

// endRun ends a run of characters of a script without spaces.
func (w *wordSplitter) endRun() {
	if w.prev != 0 {
		w.emit(string(w.prev), true)
		w.prev = 0
	}
}

// endWord ends a word.
func (w *wordSplitter) endWord() {
	if len(w.word) > 0 {
		w.emit(string(w.word), false)
		w.word = w.word[:0]
	}
}

func (w *wordSplitter) emit(word string, last bool) {
	if !w.stopped && !w.add(word, last) {
		w.stopped = true
	}
}

// MaxWords is how many words of one text are indexed.
const MaxWords = 12_000

// ListWords returns the words of a text for the index, at most MaxWords.
func ListWords(text string) (words []string) {
	splitWords(text, func(word string, _ bool) bool {
		words = append(words, word)
		return len(words) < MaxWords
	})
	return words
}
