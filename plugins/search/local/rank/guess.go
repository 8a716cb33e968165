package rank

import (
	"cmp"
	"maps"
	"slices"
	"unicode/utf8"

	"github.com/patchbay-dev/patchbay/plugins/search/local/index"
	"github.com/patchbay-dev/patchbay/plugins/search/local/terms"
)

// guessWords finds the terms that may be meant by a word that no document has: the nearest of longer words, of words with other
// letters, and of the words that it is made of.
func (r *resolver) guessWords(word string) (map[string]float64, error) {
	out := map[string]float64{}
	size := utf8.RuneCountInString(word)
	if size >= minTypo {
		if err := r.addSimilar(out, word, 1, asTypo); err != nil {
			return nil, err
		}
	}
	if size >= minPrefix {
		found, err := r.dictionary.WithPrefix(word)
		if err != nil {
			return nil, err
		}
		r.addWords(out, found, asPrefix)
	}
	if len(out) == 0 && size >= minTwoTypos {
		if err := r.addSimilar(out, word, 2, asTwoTypo); err != nil {
			return nil, err
		}
	}
	if len(out) == 0 {
		return r.splitWord(word)
	}
	return out, nil
}

// addSimilar adds the words that differ in so many letters, of which two that are exchanged count as one.
func (r *resolver) addSimilar(out map[string]float64, word string, differences int, fit float64) error {
	// Two letters that are exchanged are two differences for the dictionary.
	found, err := r.dictionary.Similar(word, 2)
	if err != nil {
		return err
	}
	maps.DeleteFunc(found, func(w string, _ index.Word) bool { return editDistance(word, w) > differences })
	r.addWords(out, found, fit)
	return nil
}

// addWords adds the words that most documents have. One that is much rarer than another is hardly meant.
func (r *resolver) addWords(out map[string]float64, found map[string]index.Word, fit float64) {
	words := slices.SortedFunc(maps.Keys(found), func(a, b string) int {
		return cmp.Or(cmp.Compare(found[b].Count, found[a].Count), cmp.Compare(a, b))
	})
	for _, w := range words[:min(len(words), maxVariants)] {
		term := found[w].Term
		out[term] = max(out[term], fit)
	}
}

// splitWord finds two words that a word is made of.
func (r *resolver) splitWord(word string) (map[string]float64, error) {
	best, parts := uint64(0), map[string]float64{}
	for at := minPrefix; at+minPrefix <= len(word); at++ {
		if !utf8.RuneStart(word[at]) {
			continue
		}
		left, right := terms.Stem(word[:at]), terms.Stem(word[at:])
		n, err := r.countTerm(left)
		if err != nil {
			return nil, err
		}
		m, err := r.countTerm(right)
		if err != nil {
			return nil, err
		}
		if least := min(n, m); least > best {
			best, parts = least, map[string]float64{left: asPart, right: asPart}
		}
	}
	return parts, nil
}

// editDistance is how many letters are left out, added, replaced or exchanged with their neighbour to make b of a.
func editDistance(a, b string) int {
	from, to := []rune(a), []rune(b)
	rows := [3][]int{make([]int, len(to)+1), make([]int, len(to)+1), make([]int, len(to)+1)}
	for j := range rows[1] {
		rows[1][j] = j
	}
	for i := 1; i <= len(from); i++ {
		before, last, row := rows[0], rows[1], rows[2]
		row[0] = i
		for j := 1; j <= len(to); j++ {
			cost := 1
			if from[i-1] == to[j-1] {
				cost = 0
			}
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+cost)
			if i > 1 && j > 1 && from[i-1] == to[j-2] && from[i-2] == to[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		rows[0], rows[1], rows[2] = last, row, before
	}
	return rows[1][len(to)]
}
