package rank

import (
	"cmp"
	"math"
	"slices"

	"github.com/patchbay-dev/patchbay/plugins/search/local/index"
	"github.com/patchbay-dev/patchbay/plugins/search/local/terms"
)

// The rank of a passage is BM25 over all its fields at once: how often a word is there is summed over the fields, with the
// boost of each, before it is weighed by how rare the word is. So a rare word in the text is more than a common word in a
// title, however many fields repeat that one. Added are a part for words that are neighbours in the query and close to
// each other in the text, and one for a title that fits the query. The values are those that did best for the queries of
// the benchmark and for others that it does not have; small changes of any of them change little.
const (
	// saturation is how often a word must be there to weigh half of what it can.
	saturation = 3.0
	// typicalText is the number of words of a text that is neither favoured for its length nor the opposite. textShare is how much
	// the length matters, from 0 to 1. The other two are for titles, headings and paths.
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
	// weighs; maxDistance is how many words apart they may be.
	nearness    = 0.4
	maxDistance = 6
	// otherScript is the part that is left of the rank of a passage in another script than the query's: who asks in English
	// is answered in English first.
	otherScript    = 0.5
	fewIdeographs  = 0.05
	manyIdeographs = 0.3
	// furtherPassages is how much the other passages of a document add to the rank of its best one, as a part of theirs.
	furtherPassages = 0.1
	maxFurther      = 4
	// wholeDocument is how much the words in all passages together add. The others are as for a passage.
	wholeDocument      = 1.3
	documentSaturation = 3.0
	typicalDocument    = 800
	documentShare      = 0.6
	// spread spreads what is reached over the scores from 0 to 1.
	spread = 1.3
)

// Ranker ranks passages and documents for a query. It is not safe for concurrent use.
type Ranker struct {
	query   Query
	matcher *matcher
	// short holds the titles, headings and paths that were looked at, which many passages share.
	short map[string]shortMatch
}

// shortMatch is what of the query is in a title, heading or path.
type shortMatch struct {
	counts []float64
	// fit is 1 if it consists of the query's words, and 0 if it has none of them.
	fit float64
}

// NewRanker makes a ranker for a query that was resolved.
func NewRanker(q Query) *Ranker {
	return &Ranker{query: q, matcher: newMatcher(q.units), short: map[string]shortMatch{}}
}

// Document is a document, or the parts of it that are ranked.
type Document struct {
	Title, Path string
	Passages    []index.Passage
}

// Ranked is what a ranker finds out about a passage.
type Ranked struct {
	Text  string
	Score float64
	// Offsets are the places of the query's words in the text, in bytes and in order.
	Offsets []int
}

// Rank returns the passages of a document that have words of the query, the best first, and the score of the document, from 0 to 1.
func (r *Ranker) Rank(d Document) (passages []Ranked, score float64) {
	all := tally{counts: make([]float64, len(r.query.units))}
	for _, p := range d.Passages {
		ranked, text := r.rankPassage(d, p)
		if ranked.Score > 0 {
			passages = append(passages, ranked)
		}
		all.addMatch(text)
	}
	slices.SortStableFunc(passages, func(a, b Ranked) int { return cmp.Compare(b.Score, a.Score) })
	share := 1.0
	for _, p := range passages[:min(len(passages), maxFurther)] {
		score += share * p.Score
		share = furtherPassages
	}
	score += wholeDocument * r.rankWhole(d, all)
	if all.isForeign(r.query.ideographs) {
		score *= otherScript
	}
	if score <= 0 {
		return passages, 0
	}
	return passages, 1 - math.Exp(-spread*score/(r.query.most+r.query.unknown))
}

// rankPassage ranks a passage, with the title and path of its document.
func (r *Ranker) rankPassage(d Document, p index.Passage) (Ranked, textMatch) {
	counts := r.countShort(d, p.Heading)
	text := r.matchText(p.Text)
	norm := lengthNorm(text.words, typicalText, textShare)
	out := Ranked{Text: p.Text, Score: titleFit * r.matchShort(d.Title).fit * r.query.most, Offsets: text.offsets}
	for i, u := range r.query.units {
		n := counts[i] + text.counts[i]/norm
		out.Score += u.weight * n / (n + saturation)
		if near := text.distances[i]; near > 0 && near <= maxDistance {
			out.Score += nearness * min(u.weight, r.query.units[u.previous].weight) / float64(near)
		}
	}
	return out, text
}

// countShort returns how much of each unit is in title, heading and path.
func (r *Ranker) countShort(d Document, heading string) []float64 {
	counts := make([]float64, len(r.query.units))
	for _, field := range []struct {
		text  string
		boost float64
	}{{d.Title, titleBoost}, {heading, headingBoost}, {d.Path, pathBoost}} {
		for i, n := range r.matchShort(field.text).counts {
			counts[i] += field.boost * n
		}
	}
	return counts
}

// tally sums what is found in the passages of a document.
type tally struct {
	counts            []float64
	words, ideographs int
}

func (t *tally) addMatch(m textMatch) {
	for i, n := range m.counts {
		t.counts[i] += n
	}
	t.words += m.words
	t.ideographs += m.ideographs
}

// isForeign reports whether the text is in another script than the query. Much of a text in ideographs may be code.
func (t *tally) isForeign(ideographs bool) bool {
	share := float64(t.ideographs) / float64(max(1, t.words))
	if ideographs {
		return share < fewIdeographs
	}
	return share > manyIdeographs
}

// rankWhole ranks a document by all its passages together.
func (r *Ranker) rankWhole(d Document, all tally) (score float64) {
	counts := r.countShort(d, "")
	norm := lengthNorm(all.words, typicalDocument, documentShare)
	for i, u := range r.query.units {
		n := counts[i] + all.counts[i]/norm
		score += u.weight * n / (n + documentSaturation)
	}
	return score
}

// textMatch is where a text has the query's words.
type textMatch struct {
	counts []float64
	// distances are how far each word is from the one before it in the query, where they are closest; 0 is nowhere.
	distances []int
	offsets   []int
	// words is how many words there are, ideographs how many of them are ideographs.
	words, ideographs int
}

// matchText finds the query's words in the text of a passage.
func (r *Ranker) matchText(s string) textMatch {
	n := len(r.query.units)
	out := textMatch{counts: make([]float64, n), distances: make([]int, n)}
	last := make([]int, n)
	out.words, out.ideographs = r.matcher.matchEach(s, func(i int, fit float64, t terms.Term) {
		position := t.Position + 1
		out.counts[i] += fit
		out.offsets = append(out.offsets, t.Start)
		last[i] = position
		if before := r.query.units[i].previous; before >= 0 && last[before] > 0 {
			lowerTo(&out.distances[i], position-last[before])
		}
		if i+1 < n && r.query.units[i+1].previous == i && last[i+1] > 0 {
			// In the opposite order they are farther from each other.
			lowerTo(&out.distances[i+1], position-last[i+1]+1)
		}
	})
	slices.Sort(out.offsets)
	return out
}

// lowerTo makes a distance the smaller one of itself and d.
func lowerTo(distance *int, d int) {
	if d > 0 && (*distance == 0 || d < *distance) {
		*distance = d
	}
}

// lengthNorm is by how much a word counts less in a text of so many words.
func lengthNorm(words int, typical, share float64) float64 {
	return 1 - share + share*float64(words)/typical
}

// matchShort finds the query's words in a title, heading or path. A word that is there twice counts once.
func (r *Ranker) matchShort(s string) shortMatch {
	if known, ok := r.short[s]; ok {
		return known
	}
	out := shortMatch{counts: make([]float64, len(r.query.units))}
	words, _ := r.matcher.matchEach(s, func(i int, fit float64, _ terms.Term) { out.counts[i] = max(out.counts[i], fit) })
	found, weight := 0.0, 0.0
	for i, u := range r.query.units {
		found += out.counts[i]
		weight += out.counts[i] * u.weight
		out.counts[i] /= lengthNorm(words, typicalShort, shortShare)
	}
	if weight > 0 {
		out.fit = weight / r.query.most * math.Sqrt(min(1, found/float64(words)))
	}
	r.short[s] = out
	return out
}
