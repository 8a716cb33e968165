package message

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/patchbay-dev/patchbay/core/services/mail/rfc822"
)

// maxWord is the longest word of the index, in bytes; a longer one is cut.
const maxWord = 48

// splitWords calls add for each word of a text as the index has it: in lower case, without accents. Scripts without spaces give
// pairs of neighbouring characters, and the last character of each run, so that any part of a run is found. more says that the
// word belongs to the same run as the one before it, and last that it is the last character of its run.
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

// maxWords is how many words of one part of a message are indexed.
const maxWords = 12_000

// indexWords returns the words of a text for the index, at most maxWords.
func indexWords(text string) (words []string) {
	splitWords(text, func(word string, _ bool) bool {
		words = append(words, word)
		return len(words) < maxWords
	})
	return words
}

// document is what the index has of a message, by part.
type document struct {
	subject, sender, recipient, body []string
}

// newDocument returns the words of a message.
func newDocument(p *rfc822.Parsed, bodyText string) document {
	var recipients strings.Builder
	for _, list := range [][]rfc822.Address{p.To, p.Cc} {
		for _, a := range list {
			recipients.WriteString(a.Name + " " + a.Address + " ")
		}
	}
	var body strings.Builder
	body.WriteString(bodyText)
	for _, a := range p.Attachments {
		body.WriteString("\n" + a.Filename)
	}
	return document{
		subject: indexWords(p.Subject), sender: indexWords(p.From.Name + " " + p.From.Address),
		recipient: indexWords(recipients.String()), body: indexWords(body.String()),
	}
}

// sentTo returns the document with the address of a recipient.
func (d document) sentTo(address string) document {
	d.recipient = append(indexWords(address), d.recipient...)
	return d
}
