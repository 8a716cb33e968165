package words_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/patchbay-dev/patchbay/core/texts/words"
)

func TestListWords(t *testing.T) {
	for text, want := range map[string][]string{
		"": nil, "Hello, World!": {"hello", "world"}, "v1.2.3-rc.1": {"v1", "2", "3", "rc", "1"}, "Crème brûlée": {"creme", "brulee"},
		"登录错误":  {"登录", "录错", "错误", "误"},
		"修复bug": {"修复", "复", "bug"}, "ＡＢＣ": {"abc"}, strings.Repeat("x", 60): {strings.Repeat("x", 48)},
		"한글": {"한글", "글"}, "a'b\\c:d\"e*": {"a", "b", "c", "d", "e"},
	} {
		if got := words.ListWords(text); !slices.Equal(got, want) {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
	if got := words.ListWords(strings.Repeat("a ", 20_000)); len(got) != words.MaxWords {
		t.Errorf("got %d words", len(got))
	}
}

func TestFormat(t *testing.T) {
	for text, want := range map[string][2]string{
		`one`: {"one", "('one')"}, `one two`: {"one AND two", "('one') & ('two')"}, `"one two"`: {`"one two"`, "('one' <-> 'two')"},
		`one*`:          {"one*", "('one':*)"},
		`title:one-two`: {"(title:one AND title:two)", "('one':B & 'two':B)"},
		`登录错误`:          {`"登录 录错 错误"`, "('登录' <-> '录错' <-> '错误')"}, `登`: {"登*", "('登':*)"}, `' OR "1"=1`: {"or AND 1 AND 1", "('or') & ('1') & ('1')"},
	} {
		var terms []words.Term
		for rest := text; rest != ""; {
			var name, value string
			var quoted bool
			name, value, quoted, rest = words.CutTerm(strings.TrimSpace(rest), []string{"title"})
			if term, ok := words.NewTerm(name, value, quoted); ok {
				terms = append(terms, term)
			}
		}
		if match, query := words.FormatMatch(terms), words.FormatTSQuery(terms, map[string]byte{"title": 'B'}); match != want[0] ||
			query != want[1] {
			t.Errorf("%s: got %s and %s, want %s", text, match, query, want)
		}
	}
}

// TestMarkers: no text and no search has the word of a marker.
func TestMarkers(t *testing.T) {
	marker := words.FormatMarker("code")
	if got := words.ListWords(marker); !slices.Equal(got, []string{"code"}) {
		t.Errorf("a text has the words %q", got)
	}
	for _, text := range []string{marker, marker + "*", marker[:1] + "*", `"` + marker + `"`} {
		if term, ok := words.NewTerm("", text, false); ok && strings.Contains(words.FormatMatch([]words.Term{term}), marker) {
			t.Errorf("%s looks for the marker", text)
		}
	}
	terms := []words.Term{words.NewMarkerTerm("code", false), words.NewMarkerTerm("file", true)}
	if match, query := words.FormatMatch(terms), words.FormatTSQuery(terms, nil); match != "(¤code) NOT (¤file)" ||
		query != "('¤code') & !('¤file')" {
		t.Errorf("got %s and %s", match, query)
	}
}

func TestFormatVector(t *testing.T) {
	sections := []words.Section{{Weight: 'A', Words: []string{"one", "two"}}, {Weight: 'B', Words: []string{"one"}}}
	parts := strings.Fields(words.FormatVector(sections))
	slices.Sort(parts)
	if want := []string{"'one':1A,5B", "'two':2A"}; !slices.Equal(parts, want) {
		t.Errorf("got %q, want %q", parts, want)
	}
	if got := words.FormatColumns(sections); !slices.Equal(got, []string{"one two", "one"}) {
		t.Errorf("got %q", got)
	}
}
