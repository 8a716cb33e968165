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

// spacedSign returns a sign with a space before it.
func (t *typist) spacedSign(sign string) []glyph {
	return append([]glyph{t.toGlyph(' ')}, t.toGlyphs(sign)...)
}

// fitText returns a text in at most max pixels. Where it has two sides, such as a stack and its service, both are shortened
// rather than one of them lost.
func (t *typist) fitText(s string, max, size float64) []glyph {
	text := t.toGlyphs(s)
	if textWidth(text, size) <= max {
		return text
	}
	for _, between := range []string{separator, arrow} {
		one, other, ok := strings.Cut(s, between)
		if ok && !strings.Contains(other, between) {
			return t.shortenSides(t.toGlyphs(one), append(t.spacedSign(strings.TrimSpace(between)), t.toGlyph(' ')), t.toGlyphs(other), max, size)
		}
	}
	return t.shortenText(text, max, size)
}

// shortenSides shortens two texts to half the room each, or the longer one to what the other leaves.
func (t *typist) shortenSides(one, between, other []glyph, max, size float64) []glyph {
	free := max - textWidth(between, size)
	a, b := textWidth(one, size), textWidth(other, size)
	half := free / 2
	return slices.Concat(t.shortenText(one, math.Max(half, free-b), size), between, t.shortenText(other, math.Max(half, free-a), size))
}
