package index

import (
	"github.com/blevesearch/bleve/v2/document"
	bleveindex "github.com/blevesearch/bleve_index_api"

	"github.com/patchbay-dev/patchbay/plugins/search/local/terms"
)

const (
	// titleCount is how often a word of a title counts where passages are looked for.
	titleCount = 3
	// maxWord is how long a word may be that corrections are made of, in bytes.
	maxWord = 64
)

// analysis finds the terms of what is indexed.
type analysis struct{ analyzer *terms.Analyzer }

func newAnalysis() *analysis { return &analysis{analyzer: terms.NewAnalyzer()} }

// termCounts are the terms of a field, with how often each is there.
type termCounts struct {
	terms bleveindex.TokenFrequencies
	total int
	// free are terms to come, which are made many at a time.
	free []bleveindex.TokenFreq
}

// manyTerms is how many terms are made at a time.
const manyTerms = 128

func newTermCounts(size int) *termCounts {
	return &termCounts{terms: make(bleveindex.TokenFrequencies, size)}
}

// countTerm adds a term so many times.
func (c *termCounts) countTerm(term string, times int) {
	c.total += times
	known := c.terms[term]
	if known == nil {
		if len(c.free) == 0 {
			c.free = make([]bleveindex.TokenFreq, manyTerms)
		}
		known, c.free = &c.free[0], c.free[1:]
		c.terms[term] = known
	}
	known.SetFrequency(known.Frequency() + times)
}

// addTerms adds the terms of a text, each so many times, and its words to words.
func (c *termCounts) addTerms(a *analysis, text string, times int, words map[string]bool) {
	a.analyzer.Each(text, func(t terms.Term) {
		c.countTerm(t.Text, times)
		switch t.Kind {
		case terms.Word, terms.Name, terms.Joined:
			// A word that is its own stem is among the terms.
			if n := len(t.Surface); n != len(t.Text) && n <= maxWord && !words[t.Surface] {
				words[t.Surface] = true
			}
		case terms.Part, terms.Ideograph, terms.Pair:
		}
	})
}

func (c *termCounts) addAll(other *termCounts) {
	for term, f := range other.terms {
		c.countTerm(term, f.Frequency())
	}
}

// termField is a field whose terms were found already.
type termField struct {
	name    string
	options bleveindex.FieldIndexingOptions
	length  int
	terms   bleveindex.TokenFrequencies
}

var _ document.Field = (*termField)(nil)

func (c *termCounts) makeField(name string, options bleveindex.FieldIndexingOptions) *termField {
	return &termField{name: name, options: options, length: c.total, terms: c.terms}
}

func (f *termField) Name() string                                          { return f.name }
func (f *termField) Value() []byte                                         { return nil }
func (f *termField) ArrayPositions() []uint64                              { return nil }
func (f *termField) EncodedFieldType() byte                                { return 't' }
func (f *termField) Analyze()                                              {}
func (f *termField) Options() bleveindex.FieldIndexingOptions              { return f.options }
func (f *termField) AnalyzedLength() int                                   { return f.length }
func (f *termField) AnalyzedTokenFrequencies() bleveindex.TokenFrequencies { return f.terms }
func (f *termField) NumPlainTextBytes() uint64                             { return 0 }

// termSize is about how much memory a term takes.
const termSize = 64

// Size implements document.Field.
func (f *termField) Size() int { return len(f.terms) * termSize }

// addStored adds a field that is kept and not looked for.
func addStored(to *document.Document, name string, value []byte) {
	to.AddField(document.NewTextFieldCustom(name, nil, value, bleveindex.StoreField, nil))
}
