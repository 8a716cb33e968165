package research

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

// odd makes texts with what could break out of a quotation or a line.
func odd() *rapid.Generator[string] {
	piece := rapid.SampledFrom([]string{
		"crane ", "The crane lifts. ", "\n", "\n\n", "\r\n", "\r", "\u2028", "\v", "# ", "## Sources\n", "> ", "```\n", "[1]", "](<", "<b>",
		"![x](y)", "[a](b)",
		"\x00", "\xff", "起重机", strings.Repeat("long ", 300), strings.Repeat("x", 1500),
	})
	return rapid.Custom(func(t *rapid.T) string { return strings.Join(rapid.SliceOfN(piece, 0, 30).Draw(t, "pieces"), "") })
}

type oddLibrary struct{ sources []Source }

func (l oddLibrary) Find(context.Context, Query) ([]Source, error) { return l.sources, nil }

func (l oddLibrary) Read(_ context.Context, address string) (string, error) {
	for _, s := range l.sources {
		if s.URL == address {
			return s.Content, nil
		}
	}
	return "", nil
}

// TestSourcesStayInTheirQuotations: whatever a source says, its words are quoted, and the headings and the list of sources
// are those of the report.
func TestSourcesStayInTheirQuotations(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var lib oddLibrary
		for i := range rapid.IntRange(0, 4).Draw(t, "sources") {
			lib.sources = append(lib.sources, Source{
				Title: odd().Draw(t, "title"), URL: fmt.Sprintf("https://%d.example/%s", i, odd().Draw(t, "url")), Content: odd().Draw(t, "content"),
			})
		}
		input := "crane 起重机 " + odd().Draw(t, "input")
		content, citations, err := composeReport(t.Context(), lib, Task{Input: input, Effort: Effort{Sources: 3, Passages: 2}})
		if err != nil || len(citations) > 3 {
			t.Fatalf("got %d citations, %v", len(citations), err)
		}
		if !utf8.ValidString(content) {
			t.Fatalf("report is no UTF-8: %q", content)
		}
		headings, sources := 0, 0
		for l := range strings.Lines(strings.ReplaceAll(content, "\r", "\n")) {
			switch {
			case strings.HasPrefix(l, "#"):
				headings++
			case strings.HasPrefix(l, ">"), strings.TrimSpace(l) == "":
			case strings.Contains(l, "](<"):
				sources++
			case !strings.Contains(l, "found"):
				t.Fatalf("line %q of a source is not quoted", l)
			}
		}
		want := 1
		if len(citations) > 0 {
			want = len(citations) + 2
		}
		if headings != want || sources != len(citations) {
			t.Fatalf("%d headings and %d sources for %d citations:\n%s", headings, sources, len(citations), content)
		}
	})
}

func TestNoWordIsLost(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		words := rapid.SliceOfN(rapid.SampledFrom([]string{"alpha", "beta.", "起重机", "x\n", "y\n\n", strings.Repeat("z", 700)}), 20,
			200).Draw(t, "words")
		text := strings.Repeat("An opening that is long enough for a passage. ", 2) + strings.Join(words, " ")
		got := 0
		for _, p := range splitPassages(text) {
			if n := utf8.RuneCountInString(p.text); n > 2*passageRunes {
				t.Fatalf("a passage has %d characters", n)
			}
			got += strings.Count(p.text, "起")
		}
		if want := strings.Count(text, "起"); got < want-shortRunes {
			t.Fatalf("%d of %d are left", got, want)
		}
	})
}
