package local

import (
	"math"
	"slices"

	"github.com/blevesearch/bleve/v2/analysis"
)

// The rank of a passage is BM25 over all its fields at once: how often a word is there is summed over the fields, with the
// boost of each, before it is weighed by how rare the word is. So a rare word in the text is more than a common word in a
// title, however many fields repeat that one. Added are a part for words that are neighbours in the query and close to
// each other in the text, and one for a title that fits the query. The values are those that did best for the queries of
// the benchmark and for others that it does not have; small changes of any of them change little.
const (
	// saturation is how often a word must be there to weigh half of what it can.
	saturation = 3.0
	// A text of typicalText words is neither favoured for its length nor the opposite; textShare is how much the length
	// matters, from 0 to 1. The other two are for titles, headings and paths.
	typicalText  = 160
	textShare    = 0.5
	typicalShort = 4
	shortShare   = 0.4

	titleBoost   = 3.0
	headingBoost = 1.5
	pathBoost    = 1.0

	// titleFit is what a title adds that consists of the query's words, as a part of what all the words can weigh.
	titleFit = 1.0
	// nearness is what neighbours in the query add that are neighbours in the text, as a part of what the weaker of them
	// weighs; near is how many words apart they may be.
	nearness = 0.4
	near     = 6
	// otherScript is the part that is left of the rank of a passage in another script than the query's: who asks in English
	// is answered in English first.
	otherScript = 0.5
)

// ranker ranks passages for a query.
type ranker struct {
	query   query
	matcher *matcher
	// most is what all words of the query weigh at most.
	most float64
	// short holds the titles, headings and paths that were looked at, which many passages share.
	short map[string]shortMatch
}

// shortMatch is what of the query is in a title, heading or path.
type shortMatch struct {
	counts []float64
	// fit is 1 if it consists of the query's words, and 0 if it has none of them.
	fit float64
}

func newRanker(q query, analyzer analysis.Analyzer) *ranker {
	r := &ranker{query: q, matcher: newMatcher(q.terms, analyzer), short: map[string]shortMatch{}}
	for _, t := range q.terms {
		r.most += t.weight
	}
	return r
}

// highest is a score that no passage exceeds.
func (r *ranker) highest() float64 { return r.most * (1 + nearness + titleFit) }

// ranked is what a ranker finds out about a passage.
type ranked struct {
	text  string
	score float64
	// offsets are the places of the query's words in the text, in bytes and in order.
	offsets []int
}

func (r *ranker) rank(p passage, title, path string) ranked {
	counts := make([]float64, len(r.query.terms))
	for _, field := range []struct {
		text  string
		boost float64
	}{{title, titleBoost}, {p.heading, headingBoost}, {path, pathBoost}} {
		for i, n := range r.matchShort(field.text).counts {
			counts[i] += field.boost * n
		}
	}
	text := r.matchText(p.text)
	out := ranked{text: p.text, score: titleFit * r.matchShort(title).fit * r.most, offsets: text.offsets}
	for i, t := range r.query.terms {
		n := counts[i] + text.counts[i]
		out.score += t.weight * n / (n + saturation)
		if d := text.distances[i]; d > 0 && d <= near {
			out.score += nearness * min(t.weight, r.query.terms[i-1].weight) / float64(d)
		}
	}
	if r.query.ideographs != text.ideographs {
		out.score *= otherScript
	}
	return out
}

// textMatch is where a text has the query's words.
type textMatch struct {
	counts []float64
	// distances are how far each word is from the one before it in the query, where they are closest; 0 is nowhere.
	distances []int
	offsets   []int
	// ideographs: most of the text is written in them.
	ideographs bool
}

// matchText finds the query's words in the text of a passage.
func (r *ranker) matchText(s string) textMatch {
	n := len(r.query.terms)
	out := textMatch{counts: make([]float64, n), distances: make([]int, n)}
	last := make([]int, n)
	words, ideographs := r.matcher.each(s, func(i, position, offset int) {
		position++
		out.counts[i]++
		out.offsets = append(out.offsets, offset)
		last[i] = position
		if i > 0 && last[i-1] > 0 {
			lower(&out.distances[i], position-last[i-1])
		}
		if i+1 < n && last[i+1] > 0 {
			// In the opposite order they are farther from each other.
			lower(&out.distances[i+1], position-last[i+1]+1)
		}
	})
	slices.Sort(out.offsets)
	for i := range out.counts {
		out.counts[i] /= lengthNorm(words, typicalText, textShare)
	}
	out.ideographs = ideographs*2 > words
	return out
}

// lower makes a distance the smaller one of itself and d.
func lower(distance *int, d int) {
	if d > 0 && (*distance == 0 || d < *distance) {
		*distance = d
	}
}

// lengthNorm is by how much a word counts less in a text of so many words.
func lengthNorm(words int, typical, share float64) float64 {
	return 1 - share + share*float64(words)/typical
}

// matchShort finds the query's words in a title, heading or path. A word that is there twice counts once.
func (r *ranker) matchShort(s string) shortMatch {
	if known, ok := r.short[s]; ok {
		return known
	}
	out := shortMatch{counts: make([]float64, len(r.query.terms))}
	words, _ := r.matcher.each(s, func(i, _, _ int) { out.counts[i] = 1 })
	found, weight := 0.0, 0.0
	for i, t := range r.query.terms {
		found += out.counts[i]
		weight += out.counts[i] * t.weight
		out.counts[i] /= lengthNorm(words, typicalShort, shortShare)
	}
	if weight > 0 {
		out.fit = weight / r.most * math.Sqrt(min(1, found/float64(words)))
	}
	r.short[s] = out
	return out
}
