package local

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/blevesearch/bleve/v2/analysis"
)

// matcher finds the words of a query in texts as the index does, without analysing what cannot be one of them.
type matcher struct {
	analyzer analysis.Analyzer
	terms    map[string]int
	// starts are the first letters of the terms, small ones: a word and its stem begin alike.
	starts [utf8.RuneSelf]bool
	// known are the words that were analysed, with the terms in them.
	known map[string][]int
	// analyse: a term is in letters other than English and Chinese ones, so that texts are analysed in full.
	analyse bool
}

func newMatcher(terms []term, analyzer analysis.Analyzer) *matcher {
	m := &matcher{analyzer: analyzer, terms: map[string]int{}, known: map[string][]int{}}
	for i, t := range terms {
		m.terms[t.text] = i
		if t.text[0] < utf8.RuneSelf {
			m.starts[t.text[0]] = true
		}
		m.analyse = m.analyse || strings.ContainsFunc(t.text, func(r rune) bool { return r >= utf8.RuneSelf && !unicode.Is(unicode.Han, r) })
	}
	return m
}

// each yields the terms in a text with the place of each among the words and in bytes, and returns how many words there
// are, and how many of them are ideographs. A pair of ideographs stands at the place of its first one.
func (m *matcher) each(text string, yield func(term, position, offset int)) (words, ideographs int) {
	if m.analyse {
		return m.eachAnalysed(text, yield)
	}
	from, before := -1, -1
	word := func(to int) {
		if from >= 0 {
			for _, i := range m.lookUp(text[from:to]) {
				yield(i, words, from)
			}
			words++
		}
		from = -1
	}
	for at, r := range text {
		switch {
		case isWordLetter(r):
			if from < 0 {
				from = at
			}
			before = -1
			continue
		case (r == '\'' || r == '’') && from >= 0:
			continue
		}
		word(at)
		if !isHan(r) {
			before = -1
			continue
		}
		end := at + utf8.RuneLen(r)
		if i, ok := m.terms[text[at:end]]; ok {
			yield(i, words, at)
		}
		if before >= 0 {
			if i, ok := m.terms[text[before:end]]; ok {
				yield(i, words-1, before)
			}
		}
		before = at
		words++
		ideographs++
	}
	word(len(text))
	return words, ideographs
}

// eachAnalysed is each for terms of any script.
func (m *matcher) eachAnalysed(text string, yield func(term, position, offset int)) (words, ideographs int) {
	for _, token := range m.analyzer.Analyze([]byte(text)) {
		words++
		if first, _ := utf8.DecodeRune(token.Term); isCJK(first) {
			ideographs++
		}
		if i, ok := m.terms[string(token.Term)]; ok {
			yield(i, token.Position, token.Start)
		}
	}
	return words, ideographs
}

// isWordLetter reports whether a letter is part of a word that stands between spaces.
func isWordLetter(r rune) bool {
	if r < utf8.RuneSelf {
		return 'a' <= r|0x20 && r|0x20 <= 'z' || '0' <= r && r <= '9'
	}
	return !isCJK(r) && (unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r))
}

// lookUp returns the terms in a word: one or none, unless it is of several scripts.
func (m *matcher) lookUp(word string) []int {
	if !m.possible(word) {
		return nil
	}
	found, ok := m.known[word]
	if !ok {
		for _, token := range m.analyzer.Analyze([]byte(word)) {
			if i, ok := m.terms[string(token.Term)]; ok {
				found = append(found, i)
			}
		}
		m.known[word] = found
	}
	return found
}

// possible reports whether a word may be a term.
func (m *matcher) possible(word string) bool {
	for i := range len(word) {
		if word[i] >= utf8.RuneSelf {
			return true
		}
	}
	return m.starts[word[0]] || 'A' <= word[0] && word[0] <= 'Z' && m.starts[word[0]|0x20]
}
