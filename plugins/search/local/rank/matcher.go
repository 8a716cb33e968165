package rank

import (
	"maps"
	"slices"

	"github.com/patchbay-dev/patchbay/plugins/search/local/terms"
)

// matcher finds the units of a query in texts.
type matcher struct {
	analyzer *terms.Analyzer
	units    []unit
	// places are the units that a term stands for.
	places map[string][]place
}

type place struct {
	unit int
	fit  float64
}

const (
	// partFit is what is left of a part of a name, and stemFit of a word with another ending.
	partFit = 0.5
	stemFit = 0.9
)

func newMatcher(units []unit) *matcher {
	m := &matcher{units: units, places: map[string][]place{}}
	for i, u := range units {
		for term, fit := range u.variants {
			m.places[term] = append(m.places[term], place{i, fit})
		}
	}
	m.analyzer = terms.NewFinder(slices.Collect(maps.Keys(m.places)))
	return m
}

// matchEach yields the units in a text with how well each fits and where it is, and returns how many words there are, and how many of
// them are ideographs.
func (m *matcher) matchEach(text string, yield func(unit int, fit float64, t terms.Term)) (words, ideographs int) {
	return m.analyzer.Each(text, func(t terms.Term) {
		for _, p := range m.places[t.Text] {
			fit := p.fit
			switch {
			case t.Kind == terms.Part:
				fit *= partFit
			case p.fit == 1 && t.Surface != m.units[p.unit].surface:
				fit *= stemFit
			}
			yield(p.unit, fit, t)
		}
	})
}
