package local

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

// The words that a matcher finds are those that the index has of a text.
func TestMatcherFindsWhatTheIndexHas(t *testing.T) {
	m, err := newMapping()
	if err != nil {
		t.Fatal(err)
	}
	analyzer := m.AnalyzerNamed(indexAnalyzer)
	plain := []string{
		"running", "Settings", "user's", "don't", "file.md", "a/b", "snake_case", "x", "Über", "naïve", "3.14", "v2", "ＡＢＣ", "中文", "搜索引擎", "的", "标题",
		" ", ", ", "。", "-", "\n", "…", "lying", "happily", "ties",
	}
	foreign := append(slices.Clone(plain), "東京タワー", "ひらがな", "한국어", "ภาษา", "Привет")
	rapid.Check(t, func(t *rapid.T) {
		all := rapid.Bool().Draw(t, "all terms")
		parts, between := plain, rapid.SampledFrom([]string{" ", ""}).Draw(t, "between")
		if all || between != "" {
			parts = foreign
		}
		text := strings.Join(rapid.SliceOfN(rapid.SampledFrom(parts), 0, 20).Draw(t, "parts"), between)
		want := map[string]int{}
		for _, token := range analyzer.Analyze([]byte(text)) {
			want[string(token.Term)]++
		}
		var terms []term
		for word := range want {
			if !all && strings.ContainsFunc(word, func(r rune) bool { return r >= utf8.RuneSelf && !isHan(r) }) {
				delete(want, word)
				continue
			}
			terms = append(terms, term{text: word})
		}
		got := map[string]int{}
		newMatcher(terms, analyzer).each(text, func(i, _, offset int) {
			if offset < 0 || offset >= len(text) {
				t.Fatalf("offset %d in %q", offset, text)
			}
			got[terms[i].text]++
		})
		for word, n := range want {
			if got[word] != n {
				t.Fatalf("%q: %q is there %d times instead of %d", text, word, got[word], n)
			}
		}
	})
}
