package card

import (
	"math"
	"slices"
	"strings"
)

// separator stands between a stack and its service, and arrow between two versions.
const (
	separator = " / "
	arrow     = " → "
)

// spaced is a sign with a space before it.
func (t *typist) spaced(sign string) []glyph { return append([]glyph{t.glyph(' ')}, t.glyphs(sign)...) }

// short is a text in at most max pixels. Where it has two sides, such as a stack and its service, both are shortened
// rather than one of them lost.
func (t *typist) short(s string, max, size float64) []glyph {
	text := t.glyphs(s)
	if width(text, size) <= max {
		return text
	}
	for _, between := range []string{separator, arrow} {
		one, other, ok := strings.Cut(s, between)
		if ok && !strings.Contains(other, between) {
			return t.sides(t.glyphs(one), append(t.spaced(strings.TrimSpace(between)), t.glyph(' ')), t.glyphs(other), max, size)
		}
	}
	return t.shorten(text, max, size)
}

// sides shortens two texts to half the room each, or the longer one to what the other leaves.
func (t *typist) sides(one, between, other []glyph, max, size float64) []glyph {
	free := max - width(between, size)
	a, b := width(one, size), width(other, size)
	half := free / 2
	return slices.Concat(t.shorten(one, math.Max(half, free-b), size), between, t.shorten(other, math.Max(half, free-a), size))
}
