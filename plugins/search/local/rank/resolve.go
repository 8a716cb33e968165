package rank

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/patchbay-dev/patchbay/plugins/search/local/index"
	"github.com/patchbay-dev/patchbay/plugins/search/local/terms"
)

// Dictionary knows the words of the index.
type Dictionary interface {
	// Parts is how many parts of documents there are, Count how many of them have a term.
	Parts() uint64
	Count(term string) (uint64, error)
	// WithPrefix and Similar find folded words and stems that begin with a text, or differ from it in few letters.
	WithPrefix(prefix string) (map[string]index.Word, error)
	Similar(word string, differences int) (map[string]index.Word, error)
}

// How well a term stands for a word of the query that no document has: a longer word that begins with it, one that differs in
// a letter or in two, and one of the words that it is made of.
const (
	asPrefix  = 0.8
	asTypo    = 0.8
	asTwoTypo = 0.6
	asPart    = 0.7
	// asVersion is for 1.2 where 1.2.10 is asked for.
	asVersion = 0.15

	// minPrefix and minTypo are how long a word is at least that may be the beginning of another, or have a mistake; minTwoTypos
	// is for two.
	minPrefix   = 3
	minTypo     = 4
	minTwoTypos = 8
	// maxVariants is how many terms may stand for a word.
	maxVariants = 8

	// particleWeight is how much a pair of ideographs counts that is hardly a word. wholeKnown is for the parts of an
	// identifier that documents have as a whole, joinedKnown for the words of a-b where they have ab, and neighbours for words
	// that others write as one.
	particleWeight = 0.3
	// leastCohesion is the weight of a pair that is no word, cohesive how sharply such pairs are told from words.
	leastCohesion = 0.15
	cohesive      = 2.0
	wholeKnown    = 0.3
	joinedKnown   = 0.7
	neighbours    = 0.6
	maxNeighbours = 4
)

// resolver makes units of words.
type resolver struct {
	dictionary Dictionary
	query      *Query
	counts     map[string]uint64
}

// Resolve looks the words up, finds what stands for those that no document has, and weighs all.
func (q *Query) Resolve(d Dictionary) error {
	r := resolver{dictionary: d, query: q, counts: map[string]uint64{}}
	for _, w := range q.words {
		if _, err := r.countTerm(w.text); err != nil {
			return err
		}
	}
	for i, w := range q.words {
		if err := r.resolveWord(i, w); err != nil {
			return err
		}
	}
	if !q.exact {
		if err := r.joinNeighbours(); err != nil {
			return err
		}
	}
	q.keepRarest()
	for _, u := range q.units {
		q.most += u.weight
	}
	return nil
}

func (r *resolver) countTerm(term string) (uint64, error) {
	if n, ok := r.counts[term]; ok {
		return n, nil
	}
	n, err := r.dictionary.Count(term)
	r.counts[term] = n
	return n, err
}

// measureRarity is how much a term says that so many parts have.
func (r *resolver) measureRarity(count uint64) float64 {
	total := float64(r.dictionary.Parts())
	return math.Log(1 + (max(total-float64(count), 0)+0.5)/(float64(count)+0.5))
}

// resolveWord makes a unit of a word, or of what stands for it.
func (r *resolver) resolveWord(i int, w word) error {
	variants, factor := map[string]float64{}, r.shareFor(w)
	if w.kind == terms.Pair && r.counts[w.text] > 0 {
		cohesion, err := r.measureCohesion(w.text)
		if err != nil {
			return err
		}
		factor *= cohesion
	}
	switch {
	case factor == 0:
		return nil
	case r.counts[w.text] > 0:
		variants[w.text] = 1
	case r.query.exact || w.kind == terms.Pair || w.kind == terms.Ideograph:
	default:
		var err error
		if variants, err = r.guessWords(w.surface); err != nil {
			return err
		}
	}
	if w.kind == terms.Name {
		r.addFallbacks(w, variants)
	}
	if len(variants) == 0 {
		if w.kind == terms.Word || w.kind == terms.Pair {
			r.query.unknown += r.measureRarity(0) * factor
		}
		return nil
	}
	return r.addVariants(w.surface, variants, factor, r.previousWord(i))
}

// shareFor is how much a word of the query counts by what it is.
func (r *resolver) shareFor(w word) float64 {
	switch w.kind {
	case terms.Joined:
		if r.counts[w.text] == 0 && !r.unknownIn(w.compound) {
			return 0
		}
	case terms.Part:
		if strings.Contains(w.text, ".") || isNumber(w.text) || r.hasSigns(w.compound) {
			return 0 // addFallbacks takes it
		}
		if r.knowsCompound(w.compound, terms.Name) {
			return wholeKnown
		}
	case terms.Word:
		if r.knowsCompound(w.compound, terms.Joined) {
			return joinedKnown
		}
	case terms.Pair, terms.Ideograph:
		if strings.ContainsAny(w.text, particles) {
			return particleWeight
		}
	case terms.Name:
	}
	return 1
}

// measureCohesion is how likely a pair of ideographs is a word, rather than the end of one and the beginning of the next: from
// leastCohesion to 1. The ideographs of a word are together in most parts that have the rarer one.
func (r *resolver) measureCohesion(pair string) (float64, error) {
	first, size := utf8.DecodeRuneInString(pair)
	n, err := r.countTerm(string(first))
	if err != nil {
		return 0, err
	}
	m, err := r.countTerm(pair[size:])
	if err != nil {
		return 0, err
	}
	together := float64(r.counts[pair]) / float64(max(1, min(n, m)))
	return max(leastCohesion, min(1, math.Sqrt(together*cohesive))), nil
}

func isNumber(s string) bool { return strings.Trim(s, "0123456789") == "" }

// knowsCompound reports whether documents have a word of a kind in a compound of the query.
func (r *resolver) knowsCompound(compound int, kind terms.Kind) bool {
	return slices.ContainsFunc(r.query.words, func(w word) bool { return w.compound == compound && w.kind == kind && r.counts[w.text] > 0 })
}

// hasSigns reports whether a compound is a name such as C#.
func (r *resolver) hasSigns(compound int) bool {
	return slices.ContainsFunc(r.query.words, func(w word) bool {
		return w.compound == compound && w.kind == terms.Name && strings.ContainsAny(w.text, "#+")
	})
}

// unknownIn reports whether no document has one of the words of a compound.
func (r *resolver) unknownIn(compound int) bool {
	return slices.ContainsFunc(r.query.words,
		func(w word) bool { return w.compound == compound && w.kind == terms.Word && r.counts[w.text] == 0 })
}

// previousWord returns the unit of the word before a word, or -1.
func (r *resolver) previousWord(i int) int {
	if i == 0 || len(r.query.units) == 0 {
		return -1
	}
	return len(r.query.units) - 1
}

// addFallbacks lets the versions that one belongs to stand for it, and the word without signs for a name such as C#.
func (r *resolver) addFallbacks(w word, variants map[string]float64) {
	for _, other := range r.query.words {
		if other.compound != w.compound || other.kind != terms.Part || r.counts[other.text] == 0 {
			continue
		}
		rest, ok := strings.CutPrefix(w.text, other.text)
		if !ok || rest == "" {
			continue
		}
		switch {
		case rest[0] == '.' && strings.Contains(other.text, "."):
			variants[other.text] = asVersion
		case (rest[0] == '#' || rest[0] == '+') && len(variants) == 0:
			variants[other.text] = asPart
		}
	}
}

func (r *resolver) addVariants(surface string, variants map[string]float64, factor float64, previous int) error {
	most := uint64(0)
	for v, fit := range variants {
		n, err := r.countTerm(v)
		if err != nil {
			return err
		}
		if fit > asVersion {
			most = max(most, n)
		}
	}
	u := unit{surface: surface, variants: variants, weight: r.measureRarity(most) * factor, boost: factor, previous: previous}
	r.query.units = append(r.query.units, u)
	return nil
}

// joinNeighbours adds what neighbouring words make when they are written as one: "get user" finds getUser.
func (r *resolver) joinNeighbours() error {
	words := r.query.words
	for i := range words {
		joined := words[i].surface
		for n := i + 1; n < min(len(words), i+maxNeighbours) && words[i].kind == terms.Word && words[n].kind == terms.Word; n++ {
			joined += words[n].surface
			if words[n].compound == words[i].compound {
				continue
			}
			stem := terms.Stem(joined)
			if known, err := r.countTerm(stem); err != nil || known == 0 {
				if err != nil {
					return err
				}
				continue
			}
			if err := r.addVariants(joined, map[string]float64{stem: 1}, neighbours, -1); err != nil {
				return err
			}
		}
	}
	return nil
}

// keepRarest leaves as many units as are looked for.
func (q *Query) keepRarest() {
	if len(q.units) <= maxUnits {
		return
	}
	order := make([]int, len(q.units))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(q.units[b].weight, q.units[a].weight) })
	rarest := order[:maxUnits]
	slices.Sort(rarest)
	kept := make([]unit, 0, maxUnits)
	for _, i := range rarest {
		u := q.units[i]
		if u.previous >= 0 {
			u.previous = len(kept) - 1
		}
		kept = append(kept, u)
	}
	q.units = kept
}
