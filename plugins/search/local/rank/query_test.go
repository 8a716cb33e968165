package rank

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/patchbay-dev/patchbay/plugins/search/local/index"
)

// everything is a dictionary in which parts have every other term, by its length.
type everything struct{}

func (everything) Parts() uint64 { return 100 }

func (everything) Count(term string) (uint64, error) { return uint64(len(term)%2) * 10, nil }

func (everything) WithPrefix(prefix string) (map[string]index.Word, error) {
	return map[string]index.Word{prefix + "s": {Term: prefix + "s", Count: 3}}, nil
}

func (everything) Similar(word string, _ int) (map[string]index.Word, error) {
	return map[string]index.Word{word + "x": {Term: word + "x", Count: 1}}, nil
}

// Whatever a query is, it is read and resolved within its bounds, and documents are ranked from 0 to 1.
func TestAnyQuery(t *testing.T) {
	parts := []string{`"`, "-", "“", "”", "「", "C#", "c++", "1.2.10", "v2", "getUser", "a-b", "x_y", "teleprot", "监听器", "的",
		" ", " ", "the", "'", "\xff"}
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(rapid.OneOf(rapid.SampledFrom(parts), rapid.String()), 0, 40).Draw(t, "parts"), "")
		q := Parse(text, rapid.Bool().Draw(t, "exact"))
		if err := q.Resolve(everything{}); err != nil {
			t.Fatal(err)
		}
		if len(q.units) > maxUnits || len(q.words) > maxWords {
			t.Fatalf("%d units of %d words", len(q.units), len(q.words))
		}
		d := Document{Title: text, Path: "a/b.md", Passages: []index.Passage{{Heading: "Heading", Text: text}, {Text: "other words " + text}}}
		if _, score := NewRanker(q).Rank(d); score < 0 || score > 1 {
			t.Fatalf("%q: score %f", text, score)
		}
		d.HasPhrases(q.Phrases)
	})
}

func TestDistance(t *testing.T) {
	for _, tt := range []struct {
		a, b string
		want int
	}{
		{"teleprot", "teleport", 1}, {"injct", "inject", 1}, {"computted", "computed", 1}, {"conputed", "computed", 1}, {"same", "same", 0},
		{"", "ab", 2}, {"naïve", "naive", 1},
	} {
		if got := editDistance(tt.a, tt.b); got != tt.want {
			t.Errorf("%s and %s: got %d, want %d", tt.a, tt.b, got, tt.want)
		}
	}
}
