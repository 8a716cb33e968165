// Package rank understands queries and ranks passages and documents for them.
package rank

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/patchbay-dev/patchbay/plugins/internal/texts"
	"github.com/patchbay-dev/patchbay/plugins/search/local/index"
	"github.com/patchbay-dev/patchbay/plugins/search/local/terms"
)

const (
	// maxQuery is how much of a query is looked at, in bytes.
	maxQuery = 600
	// maxWords is how many of its words are looked up, each once, and maxUnits how many of those passages are looked for
	// with: the rarest. They bound the cost of a query, which is that of reading the lists of the passages with each word.
	maxWords = 64
	maxUnits = 24
)

// Query is what is looked for.
type Query struct {
	units []unit
	// Phrases must be in a part of a document or its title, Excluded in none.
	Phrases, Excluded []Phrase
	// words are those of the text, before they are looked up.
	words []word
	// exact: words are taken as they are written.
	exact bool
	// ideographs: the query is written in them.
	ideographs bool
	// most is what all units weigh, unknown what the words weigh that no document has.
	most, unknown float64
}

// word is a word of a query as it is written.
type word struct {
	text, surface string
	kind          terms.Kind
	// compound counts the words that are connected: all of getUser, of a-b.
	compound int
	// apart: something stands between it and the word before it.
	apart bool
}

// unit is a word of a query with what stands for it.
type unit struct {
	surface string
	// variants are the terms that stand for it, and how well each does, from 0 to 1.
	variants map[string]float64
	// weight is how much the unit says: the more, the fewer passages have it.
	weight float64
	// boost is how much it counts by what it is, whatever its rarity.
	boost float64
	// previous is the unit of the word before it, or -1.
	previous int
}

// Phrase is a text that is looked for as it is.
type Phrase struct {
	normal string
	// Terms are those that a part with the phrase has.
	Terms []string
}

// IsIn reports whether a normalized text has the phrase.
func (p Phrase) IsIn(normal string) bool { return strings.Contains(normal, p.normal) }

// Parse reads a query. Text in quotes is a phrase, and a word or phrase after - is excluded. With exact, words are not corrected,
// and a query without quotes is a phrase.
func Parse(text string, exact bool) Query {
	text = texts.Head(strings.Join(strings.Fields(text), " "), maxQuery)
	q := Query{exact: exact, ideographs: strings.ContainsFunc(text, terms.IsIdeograph)}
	a := terms.NewAnalyzer()
	items := splitItems(text)
	var rest strings.Builder
	for _, it := range items {
		switch {
		case it.excluded:
			q.Excluded = appendPhrase(q.Excluded, a, it.text)
			continue
		case it.quoted:
			q.Phrases = appendPhrase(q.Phrases, a, it.text)
		}
		rest.WriteString(it.text + " ")
	}
	if strings.TrimSpace(rest.String()) == "" { // nothing but exclusions: those are words
		rest.WriteString(text)
		q.Excluded = nil
	}
	if exact && len(q.Phrases) == 0 {
		q.Phrases = appendPhrase(nil, a, rest.String())
	}
	q.readWords(a, withoutAskingWords(rest.String()))
	return q
}

// item is a part of a query: words, a phrase, or what is excluded.
type item struct {
	text             string
	quoted, excluded bool
}

// quotes are what phrases stand between.
var quotes = map[rune]string{'"': `"`, '“': "”", '「': "」"}

// splitItems separates phrases and exclusions from the words of a query.
func splitItems(text string) (out []item) {
	for text = strings.TrimLeft(text, " "); text != ""; text = strings.TrimLeft(text, " ") {
		var it item
		body := text
		if next, _ := utf8.DecodeRuneInString(text[1:]); text[0] == '-' && (unicode.IsLetter(next) || quotes[next] != "") {
			it.excluded, body = true, text[1:]
		}
		if phrase, rest, ok := cutPhrase(body); ok {
			it.text, it.quoted, text = phrase, true, rest
		} else {
			it.text, text, _ = strings.Cut(body, " ")
		}
		out = append(out, it)
	}
	return out
}

// cutPhrase cuts the phrase off with which a text begins.
func cutPhrase(text string) (phrase, rest string, ok bool) {
	open, size := utf8.DecodeRuneInString(text)
	end, ok := quotes[open]
	if !ok {
		return "", "", false
	}
	return strings.Cut(text[size:], end)
}

// appendPhrase adds a phrase, unless it has no words.
func appendPhrase(to []Phrase, a *terms.Analyzer, text string) []Phrase {
	p := Phrase{normal: terms.Normalize(text)}
	lone := ""
	a.Each(text, func(t terms.Term) {
		switch t.Kind {
		case terms.Word, terms.Name, terms.Pair:
			p.Terms = append(p.Terms, t.Text)
		case terms.Ideograph:
			lone = t.Text
		case terms.Joined, terms.Part:
		}
	})
	if len(p.Terms) == 0 && lone != "" {
		p.Terms = []string{lone}
	}
	if len(p.Terms) == 0 {
		return to
	}
	return append(to, p)
}

// readWords finds the words of the text, each once. Stop words count only if there are no others, as in a band's name.
func (q *Query) readWords(a *terms.Analyzer, text string) {
	for _, stops := range []map[string]bool{stopWords, nil} {
		seen, compound, end := map[string]bool{}, 0, -1
		add := func(t terms.Term) {
			if t.Start >= end {
				compound++
			}
			apart := t.Start > end+1
			end = max(end, t.End)
			if stops[t.Surface] && t.Kind == terms.Word || seen[t.Text] || len(q.words) >= maxWords {
				return
			}
			seen[t.Text] = true
			q.words = append(q.words, word{text: t.Text, surface: t.Surface, kind: t.Kind, compound: compound, apart: apart})
		}
		var single *terms.Term
		flush := func() {
			if single != nil {
				add(*single)
			}
			single = nil
		}
		paired := -1
		a.Each(text, func(t terms.Term) {
			switch t.Kind {
			case terms.Pair:
				single, paired = nil, t.End
				add(t)
			case terms.Ideograph:
				if t.End == paired {
					return
				}
				flush()
				single = &t
			case terms.Word, terms.Joined, terms.Name, terms.Part:
				flush()
				add(t)
			}
		})
		flush()
		if len(q.words) > 0 {
			return
		}
	}
}

// IsEmpty reports whether no document has any word of the query.
func (q *Query) IsEmpty() bool { return len(q.units) == 0 }

// Terms are what parts are looked for with, and what a part must have.
func (q *Query) Terms() (some []index.Term, required []string) {
	for _, u := range q.units {
		for term, fit := range u.variants {
			some = append(some, index.Term{Text: term, Boost: fit * u.boost})
		}
	}
	for _, p := range q.Phrases {
		required = append(required, p.Terms...)
	}
	return some, required
}

// HasPhrases reports whether a document has all phrases: in a passage, its heading, the title or the path.
func (d Document) HasPhrases(phrases []Phrase) bool {
	normal := []string{terms.Normalize(d.Title), terms.Normalize(d.Path)}
	for _, p := range d.Passages {
		normal = append(normal, terms.Normalize(p.Heading), terms.Normalize(p.Text))
	}
	return !slices.ContainsFunc(phrases, func(f Phrase) bool { return !slices.ContainsFunc(normal, f.IsIn) })
}
