package config

import (
	"strconv"
	"strings"

	"github.com/agext/levenshtein"
)

// suggestion returns the candidate that is most like what was written, or nothing if none is like it.
func suggestion(given string, candidates []string) string {
	best, distance := "", 3
	for _, c := range candidates {
		if n := levenshtein.Distance(given, c, nil); n < distance {
			best, distance = c, n
		}
	}
	return best
}

// didYouMean writes the hint behind a sentence: the nearest candidate, else all of them.
func didYouMean(given string, candidates []string, none string) string {
	if best := suggestion(given, candidates); best != "" {
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
