package local

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/blevesearch/bleve/v2"
	"github.com/blevesearch/bleve/v2/analysis/lang/cjk"
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
	text  string
	cjk   bool
	words int
}

func parseQuery(text string) query {
	q := query{text: clip(strings.Join(strings.Fields(text), " "), maxQuery)}
	q.words = len(strings.Fields(q.text))
	q.cjk = strings.ContainsFunc(q.text, isCJK)
	return q
}

func isCJK(r rune) bool {
	return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul)
}

// bleve finds passages with any of the words; those with all of them, in the title or as a phrase come first.
func (q query) bleve() blevequery.Query {
	d := bleve.NewDisjunctionQuery()
	add := func(field, analyzed string, boost float64) {
		m := bleve.NewMatchQuery(analyzed)
		m.SetField(field)
		m.Analyzer = analyzerOf(field)
		m.SetBoost(boost)
		d.AddQuery(m)
	}
	latin, ideographs := q.parts()
	for _, f := range []struct {
		name  string
		boost float64
	}{{fieldText, 1}, {fieldHeading, 1}, {fieldTitle, 1.5}, {fieldPath, 0.5}} {
		if latin != "" {
			add(f.name, latin, f.boost)
			add(f.name+cjkSuffix, latin, f.boost/4)
		}
		if ideographs != "" {
			add(f.name+cjkSuffix, ideographs, f.boost*1.5)
		}
		// A single ideograph makes no pair; the English field knows it as a word.
		if q.cjk && utf8.RuneCountInString(ideographs) == 1 {
			add(f.name, ideographs, f.boost)
		}
	}
	q.addPhrase(d)
	return d
}

// analyzerOf is the analyzer that a field was indexed with.
func analyzerOf(field string) string {
	if strings.HasSuffix(field, cjkSuffix) {
		return cjk.AnalyzerName
	}
	return english
}

func (q query) addPhrase(d *blevequery.DisjunctionQuery) {
	field := fieldText
	if q.cjk {
		field += cjkSuffix
	}
	if q.words > maxPhrase || q.words < 2 && !q.cjk || utf8.RuneCountInString(q.text) < 3 {
		return
	}
	m := bleve.NewMatchPhraseQuery(strings.Trim(q.text, `"`))
	m.SetField(field)
	m.Analyzer = analyzerOf(field)
	m.SetBoost(2)
	d.AddQuery(m)
}

// parts separates words in ideographs from the others.
func (q query) parts() (latin, ideographs string) {
	if !q.cjk {
		return q.text, ""
	}
	var l, c strings.Builder
	for _, r := range q.text {
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
	terms := map[string]bool{}
	for field, found := range m.Locations {
		if strings.HasSuffix(field, cjkSuffix) != q.cjk {
			continue
		}
		for term := range found {
			terms[term] = true
		}
	}
	want := q.words
	if q.cjk {
		want = 0
		latin, ideographs := q.parts()
		for _, run := range strings.Fields(ideographs) {
			want += max(1, utf8.RuneCountInString(run)-1)
		}
		want += len(strings.Fields(latin))
	}
	return min(1, float64(len(terms))/float64(max(1, want)))
}
