package card

import (
	"image"
	"image/color"
	"math"

	"golang.org/x/image/font/sfnt"
	"golang.org/x/image/vector"
)

// maxMarks is how many marks stand for characters in a row that cannot be drawn.
const maxMarks = 3

// markWidth is the width of a mark in em, with its margins.
const markWidth = 0.8

// glyph is a character as it is drawn: of the font, or as a mark.
type glyph struct {
	index sfnt.GlyphIndex
	mark  bool
	space bool
	width float64
}

// typist sets texts. It is for one card.
type typist struct {
	face *face
	buf  sfnt.Buffer
}

func (t *typist) hasRune(r rune) bool {
	_, ok := t.face.glyphIndex(&t.buf, r)
	return ok
}

// toGlyphs returns what is drawn for a text.
func (t *typist) toGlyphs(s string) (out []glyph) {
	marks := 0
	for _, c := range splitClusters(s) {
		g := t.toGlyph(c[0])
		if !g.mark {
			marks = 0
		} else if marks++; marks > maxMarks {
			continue
		}
		out = append(out, g)
	}
	return out
}

func (t *typist) toGlyph(r rune) glyph {
	if !t.hasRune(r) {
		to, ok := substituteFor(r, t.hasRune)
		if !ok {
			return glyph{mark: true, width: markWidth}
		}
		r = to
	}
	i, _ := t.face.glyphIndex(&t.buf, r)
	return glyph{index: i, space: r == ' ', width: t.face.glyphAdvance(&t.buf, i)}
}

// textWidth returns the width of a text at a size, in pixels.
func textWidth(text []glyph, size float64) (w float64) {
	for _, g := range text {
		w += g.width * size
	}
	return w
}

// fitSize returns the greatest size from most down to least at which a text is at most max wide, and shortens it where there
// is none.
func (t *typist) fitSize(text []glyph, max, most, least float64) ([]glyph, float64) {
	w := textWidth(text, most)
	if w <= max {
		return text, most
	}
	if size := math.Floor(most * max / w); size >= least {
		return text, size
	}
	return t.shortenText(text, max, least), least
}

// shortenText leaves out the end of a text that is more than max wide, and says so.
func (t *typist) shortenText(text []glyph, max, size float64) []glyph {
	if textWidth(text, size) <= max {
		return text
	}
	dots := t.toGlyph('…')
	room := max - dots.width*size
	for i, g := range text {
		if room -= g.width * size; room < 0 {
			return append(trimSpaces(text[:i:i]), dots)
		}
	}
	return text
}

// trimSpaces returns a text without the spaces at its end.
func trimSpaces(text []glyph) []glyph {
	for len(text) > 0 && text[len(text)-1].space {
		text = text[:len(text)-1]
	}
	return text
}

// wrapLines breaks a text into at most two lines of a width, at a space if one is near enough; the second one is shortened.
func (t *typist) wrapLines(text []glyph, max, size float64) [][]glyph {
	at, w := 0, 0.0
	for at < len(text) && w+text[at].width*size <= max {
		w += text[at].width * size
		at++
	}
	if at == len(text) {
		return [][]glyph{text}
	}
	at = breakAt(text, at)
	rest := text[at:]
	for len(rest) > 0 && rest[0].space {
		rest = rest[1:]
	}
	return [][]glyph{trimSpaces(text[:at:at]), t.shortenText(rest, max, size)}
}

// breakAt is the last space in the second half of what fits, else where the room ends.
func breakAt(text []glyph, end int) int {
	for i := end; i > end/2; i-- {
		if text[i].space {
			return i
		}
	}
	return max(end, 1)
}

// drawText sets a text with its left end at x. heavier makes it bolder by as many pixels.
func (t *typist) drawText(dst *image.RGBA, text []glyph, x, baseline, size, heavier float64, ink color.RGBA) {
	top, left := int(baseline-size*1.2), int(x)-4
	box := image.Rect(left, top, left+int(textWidth(text, size)+heavier)+12, int(baseline+size*0.5))
	r := vector.NewRasterizer(box.Dx(), box.Dy())
	pen := pen{r: r, dx: x - float64(box.Min.X), dy: baseline - float64(box.Min.Y), scale: size / t.face.em / 64}
	for _, g := range text {
		switch {
		case g.mark:
			pen.drawMark(size)
		case !g.space:
			t.drawOutline(pen, g.index)
			if heavier > 0 {
				bolder := pen
				bolder.dx += heavier
				t.drawOutline(bolder, g.index)
			}
		}
		pen.dx += g.width * size
	}
	r.Draw(dst, box, image.NewUniform(ink), image.Point{})
}

func (t *typist) drawOutline(p pen, i sfnt.GlyphIndex) {
	segments, err := t.face.glyphOutline(&t.buf, i)
	if err != nil {
		return
	}
	for _, s := range segments {
		p.drawSegment(s)
	}
	p.r.ClosePath()
}
