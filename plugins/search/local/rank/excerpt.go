package rank

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/patchbay-dev/patchbay/plugins/search/local/terms"
)

const (
	// excerptRunes is the length of an excerpt, leadRunes how much of it stands before the first match.
	excerptRunes = 500
	leadRunes    = 60
	ellipsis     = "…"
)

// Excerpt cuts the part of a text out in which most matches are. at is where they are, in bytes and in order.
func Excerpt(text string, at []int) string {
	total := utf8.RuneCountInString(text)
	if total <= excerptRunes {
		return strings.TrimSpace(text)
	}
	var marks []int
	for _, o := range at {
		if o <= len(text) {
			marks = append(marks, utf8.RuneCountInString(text[:o]))
		}
	}
	runes := []rune(text)
	from := max(0, min(densestMark(marks)-leadRunes, total-excerptRunes))
	to := min(total, from+excerptRunes)
	from, to = atSpace(runes, from, 1), atSpace(runes, to, -1)
	if from >= to {
		from, to = 0, excerptRunes
	}
	out := strings.TrimSpace(string(runes[from:to]))
	if from > 0 {
		out = ellipsis + out
	}
	if to < total {
		out += ellipsis
	}
	return out
}

// densestMark returns the mark from which on most marks lie within one excerpt.
func densestMark(marks []int) int {
	best, most := 0, 0
	for i, m := range marks {
		n := 0
		for _, other := range marks[i:] {
			if other >= m+excerptRunes-leadRunes {
				break
			}
			n++
		}
		if n > most {
			best, most = m, n
		}
	}
	return best
}

// atSpace moves a cut by at most 20 runes so that it does not split a word; ideographs may be split anywhere.
func atSpace(runes []rune, at, step int) int {
	for i, moved := at, 0; i > 0 && i < len(runes) && moved < 20; i, moved = i+step, moved+1 {
		if unicode.IsSpace(runes[i]) || unicode.IsSpace(runes[i-1]) || terms.IsIdeograph(runes[i]) {
			return i
		}
	}
	return at
}
