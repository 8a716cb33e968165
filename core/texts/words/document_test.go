package words_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/patchbay-dev/patchbay/core/internal/testing/testkit"
	"github.com/patchbay-dev/patchbay/core/texts/words"
)

// parseTerms reads a search with the columns of the test.
func parseTerms(text string) (terms []words.Term) {
	for rest := text; rest != ""; rest = strings.TrimSpace(rest) {
		var name, value string
		var quoted, not bool
		rest, not = words.CutMinus(rest)
		name, value, quoted, rest = words.CutTerm(rest, []string{"title"})
		if t, ok := words.NewTerm(name, value, quoted); ok {
			t.Excluded = not
			terms = append(terms, t)
		}
	}
	return terms
}

// TestFormatDocumentCondition compares what the condition chooses with what the index finds.
func TestFormatDocumentCondition(t *testing.T) {
	st := testkit.OpenStore(t, testkit.SQLiteConfig(t))
	run := func(statement string, args ...any) {
		t.Helper()
		if err := st.Tx(t.Context(), "seed", func(ctx context.Context) error {
			return st.Writer(ctx).Exec(statement,
				args...).Error
		}); err != nil {
			t.Fatal(err)
		}
	}
	run("CREATE VIRTUAL TABLE docs USING fts4(title, body, tokenize=simple, matchinfo=fts3, order=desc)")
	for _, d := range [][2]string{
		{"Order one", "two three"}, {"one", "Order, two"}, {"border", "one-two"}, {"two one", ""}, {"", "ordering two; three one"},
		{"one", "two one two three"}, {"登录错误", "one two"}, {"Crème", "录"}, {"x", "50% off_er ' \" x"},
	} {
		columns := words.FormatColumns([]words.Section{{Words: words.ListWords(d[0])},
			{Words: append(words.ListWords(d[1]), words.FormatMarker("code"))}})
		run("INSERT INTO docs (title, body) VALUES (?, ?)", columns[0], columns[1])
	}
	run("INSERT INTO docs (title, body) VALUES ('order', 'one')")
	columns := []words.Column{{Name: "title", SQL: "w.title"}, {SQL: "w.body"}}
	list := func(condition string, values ...any) (ids []int64) {
		t.Helper()
		if err := st.DB(t.Context()).Raw("SELECT docid FROM docs AS w WHERE "+condition+" ORDER BY docid",
			values...).Scan(&ids).Error; err != nil {
			t.Fatal(err)
		}
		return ids
	}
	found := 0
	for _, text := range []string{
		"order", "or*", "o*", "title:order", "title:or*", `"one two"`, `"two three"`, "one-two", "title:one-two", `title:"two one"`, "order one",
		"order -one", "one -or*", `one -"one two"`, "title:one -title:two", "登", "登录", "登录错误", "录",
		"creme", "CR*", "50%", "off_er", "x", "nowhere", "one*", "rder",
	} {
		for _, terms := range [][]words.Term{parseTerms(text), append(parseTerms(text), words.NewMarkerTerm("code", false)),
			append(parseTerms(text), words.NewMarkerTerm("code", true))} {
			condition, values := words.FormatDocumentCondition(terms, columns)
			got, want := list(condition, values...), list("docs MATCH ?", words.FormatMatch(terms))
			if found += len(want); !slices.Equal(got, want) {
				t.Errorf("%s: %s chooses %v, the index finds %v", text, condition, got, want)
			}
		}
	}
	if found < 50 {
		t.Errorf("only %d are found", found)
	}
	condition, values := words.FormatDocumentCondition(parseTerms("-order -x"), columns)
	if got := list(condition, values...); !slices.Equal(got,
		list("docid NOT IN (SELECT docid FROM docs WHERE docs MATCH ?)", words.FormatExcluded(parseTerms("-order -x")))) || len(got) == 0 {
		t.Errorf("without two words there are %v", got)
	}
}

// TestHasShortPrefix counts characters, not bytes.
func TestHasShortPrefix(t *testing.T) {
	for text, want := range map[string]bool{"o*": true, "orde*": true, "order*": false, "order": false, "x or*": true, "登": true,
		"登录": false, `"or*"`: false, "one-two*": true} {
		if got := words.HasShortPrefix(parseTerms(text)); got != want {
			t.Errorf("%s: got %v", text, got)
		}
	}
}
