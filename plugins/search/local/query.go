package local

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/blevesearch/bleve/v2"
	"github.com/blevesearch/bleve/v2/analysis/lang/cjk"
	"github.com/blevesearch/bleve/v2/mapping"
	blevesearch "github.com/blevesearch/bleve/v2/search"
	blevequery "github.com/blevesearch/bleve/v2/search/query"
)

const (
	// maxQuery is how much of a query is looked at, in bytes; maxPhrase up to how many words it may be a phrase.
	maxQuery  = 600
	maxPhrase = 12
)

// query is what is looked for.
type query struct {
	text string
	// latin and ideographs are the two kinds of its words.
	latin, ideographs string
	// terms are the distinct words as the index knows them, in the fields that suffix names.
	terms  map[string]bool
	suffix string
	// count is how many words there are, stop words and repetitions included.
	count int
}

func parseQuery(text string, m mapping.IndexMapping) query {
	q := query{text: clip(strings.Join(strings.Fields(text), " "), maxQuery), terms: map[string]bool{}}
	q.count = len(strings.Fields(q.text))
	q.latin, q.ideographs = parts(q.text)
	q.analyze(m)
	if len(q.terms) == 0 && q.suffix == "" {
		// Stop words alone, such as a band's name, are words to the other analyzer.
		q.suffix = cjkSuffix
		q.analyze(m)
	}
	return q
}

func (q *query) analyze(m mapping.IndexMapping) {
	if q.ideographs != "" && utf8.RuneCountInString(q.ideographs) > 1 {
		q.suffix = cjkSuffix
	}
	if a := m.AnalyzerNamed(analyzerOf(q.suffix)); a != nil {
		for _, token := range a.Analyze([]byte(q.text)) {
			q.terms[string(token.Term)] = true
		}
	}
}

func isCJK(r rune) bool {
	return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul)
}

// bleve finds passages with any of the words; those with all of them, in the title or as a phrase come first.
func (q query) bleve() blevequery.Query {
	d := bleve.NewDisjunctionQuery()
	add := func(field, words string, boost float64) {
		if words == "" {
			return
		}
		m := bleve.NewMatchQuery(words)
		m.SetField(field)
		m.Analyzer = analyzerOf(field)
		m.SetBoost(boost)
		d.AddQuery(m)
	}
	for _, f := range []struct {
		name  string
		boost float64
	}{{fieldText, 1}, {fieldHeading, 1}, {fieldTitle, 1.5}, {fieldPath, 0.5}} {
		add(f.name, q.latin, f.boost)
		switch {
		case q.ideographs == "":
			if q.suffix != "" {
				add(f.name+q.suffix, q.latin, f.boost)
			}
		case q.suffix == "":
			// A single ideograph makes no pair; the English field knows it as a word.
			add(f.name, q.ideographs, f.boost)
		default:
			add(f.name+cjkSuffix, q.ideographs, f.boost*1.5)
		}
	}
	q.addPhrase(d, fieldText+q.suffix)
	return d
}

// analyzerOf is the analyzer that a field was indexed with.
func analyzerOf(field string) string {
	if strings.HasSuffix(field, cjkSuffix) {
		return cjk.AnalyzerName
	}
	return english
}

func (q query) addPhrase(d *blevequery.DisjunctionQuery, field string) {
	if q.count > maxPhrase || len(q.terms) < 2 {
		return
	}
	m := bleve.NewMatchPhraseQuery(strings.Trim(q.text, `"`))
	m.SetField(field)
	m.Analyzer = analyzerOf(field)
	m.SetBoost(2)
	d.AddQuery(m)
}

// parts separates words in ideographs from the others.
func parts(text string) (latin, ideographs string) {
	if !strings.ContainsFunc(text, isCJK) {
		return text, ""
	}
	var l, c strings.Builder
	for _, r := range text {
		if isCJK(r) {
			c.WriteRune(r)
			l.WriteByte(' ')
			continue
		}
		l.WriteRune(r)
		c.WriteByte(' ')
	}
	return strings.TrimSpace(l.String()), strings.TrimSpace(c.String())
}

// coverage is which part of the query's words a passage holds, from 0 to 1.
func (q query) coverage(m *blevesearch.DocumentMatch) float64 {
	found := map[string]bool{}
	for field, terms := range m.Locations {
		if strings.HasSuffix(field, cjkSuffix) != (q.suffix == cjkSuffix) {
			continue
		}
		for term := range terms {
			if q.terms[term] {
				found[term] = true
			}
		}
	}
	return float64(len(found)) / float64(max(1, len(q.terms)))
}
