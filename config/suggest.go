package config

import (
	"strconv"
	"strings"

	"github.com/agext/levenshtein"
)

// nearestCandidate returns the candidate within an edit distance of 2 that is closest to given, or "".
func nearestCandidate(given string, candidates []string) string {
	best, distance := "", 3
	for _, c := range candidates {
		if n := levenshtein.Distance(given, c, nil); n < distance {
			best, distance = c, n
		}
	}
	return best
}

// didYouMean returns a hint that names the nearest candidate, else all of them, else none.
func didYouMean(given string, candidates []string, none string) string {
	if best := nearestCandidate(given, candidates); best != "" {
		return "Did you mean " + best + "?"
	}
	if len(candidates) == 0 {
		return none
	}
	return "Possible are " + strings.Join(candidates, ", ") + "."
}

// blockTitle writes a block's type and labels as they stand in the file.
func blockTitle(kind string, labels []string) string {
	for _, l := range labels {
		kind += " " + strconv.Quote(l)
	}
	return kind
}
