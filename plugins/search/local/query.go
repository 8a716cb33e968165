package local

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/blevesearch/bleve/v2"
	"github.com/blevesearch/bleve/v2/mapping"
	blevequery "github.com/blevesearch/bleve/v2/search/query"
	bleveindex "github.com/blevesearch/bleve_index_api"

	"github.com/patchbay-dev/patchbay/plugins/internal/texts"
)

const (
	// maxQuery is how much of a query is looked at, in bytes.
	maxQuery = 600
	// maxWords is how many of its words are looked up, each once, and maxTerms how many of those passages are looked for
	// with: the rarest. They bound the cost of a query, which is that of reading the lists of the passages with each word.
	maxWords = 64
	maxTerms = 20
	// particleWeight is how much a pair of ideographs counts that is hardly a word.
	particleWeight = 0.3
)

// term is a word of a query as the index knows it.
type term struct {
	text string
	// count is the number of passages with the word, weight how much the word says: the more, the fewer passages have it.
	count  uint64
	weight float64
}

// query is what is looked for: distinct words, in the order of the text.
type query struct {
	terms []term
	// ideographs: the query is written in them.
	ideographs bool
}

// parseQuery finds the words of a text. Stop words count only if there are no others, as in a band's name.
func parseQuery(text string, m mapping.IndexMapping) query {
	text = texts.Head(strings.Join(strings.Fields(text), " "), maxQuery)
	q := query{ideographs: strings.ContainsFunc(text, isCJK)}
	seen := map[string]bool{}
	for _, name := range []string{queryAnalyzer, literalAnalyzer} {
		for _, token := range m.AnalyzerNamed(name).Analyze([]byte(withoutAskingWords(text))) {
			if word := string(token.Term); word != "" && !seen[word] && len(q.terms) < maxWords {
				seen[word] = true
				q.terms = append(q.terms, term{text: word})
			}
		}
		if len(q.terms) > 0 {
			break
		}
	}
	return q
}

// weigh looks the words up and keeps those that say most. A word that no passage has is left out.
func (q *query) weigh(ctx context.Context, reader bleveindex.IndexReader) error {
	total, err := reader.DocCount()
	if err != nil {
		return fmt.Errorf("count passages: %w", err)
	}
	var known []term
	for _, t := range q.terms {
		if t.count, err = passagesWith(ctx, reader, t.text); err != nil {
			return err
		}
		if t.count == 0 {
			continue
		}
		t.weight = math.Log(1 + (float64(total)-float64(t.count)+0.5)/(float64(t.count)+0.5))
		if strings.ContainsAny(t.text, particles) {
			t.weight *= particleWeight
		}
		known = append(known, t)
	}
	if len(known) > maxTerms {
		rarest := slices.SortedStableFunc(slices.Values(known), func(a, b term) int { return cmp.Compare(b.weight, a.weight) })[:maxTerms]
		known = slices.DeleteFunc(known, func(t term) bool { return !slices.Contains(rarest, t) })
	}
	q.terms = known
	return nil
}

// passagesWith returns how many passages have a word, in whichever field it is in most of.
func passagesWith(ctx context.Context, reader bleveindex.IndexReader, word string) (most uint64, err error) {
	for _, field := range passageFields {
		list, err := reader.TermFieldReader(ctx, []byte(word), field, false, false, false)
		if err != nil {
			return 0, fmt.Errorf("look up a word: %w", err)
		}
		most = max(most, list.Count())
		if err := list.Close(); err != nil {
			return 0, fmt.Errorf("look up a word: %w", err)
		}
	}
	return most, nil
}

// bleve finds passages with any of the words in any field.
func (q query) bleve() blevequery.Query {
	d := bleve.NewDisjunctionQuery()
	for _, t := range q.terms {
		for _, field := range passageFields {
			one := bleve.NewTermQuery(t.text)
			one.SetField(field)
			one.SetBoost(boosts[field])
			d.AddQuery(one)
		}
	}
	return d
}

// boosts are how much more than in the text a word counts where passages are looked for.
var boosts = map[string]float64{fieldText: 1, fieldTitle: 1, fieldHeading: 1, fieldPath: 0.5}
