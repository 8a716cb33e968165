package rank

import (
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

func TestExcerpt(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringMatching(`([a-z]{1,9} ?|[中文。]{1,9}|\n){0,30}`).Draw(t, "text")
		at := rapid.SliceOfN(rapid.IntRange(0, len(text)+10), 0, 10).Draw(t, "at")
		out := Excerpt(text, at)
		if !utf8.ValidString(out) || utf8.RuneCountInString(out) > excerptRunes+2 {
			t.Fatalf("excerpt is %q", out)
		}
		if !strings.Contains(text, strings.Trim(out, ellipsis)) {
			t.Fatalf("%q is no part of the text", out)
		}
	})
}
