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

func (t *typist) has(r rune) bool {
	_, ok := t.face.index(&t.buf, r)
	return ok
}

// glyphs are what is drawn for a text.
func (t *typist) glyphs(s string) (out []glyph) {
	marks := 0
	for _, c := range clusters(s) {
		g := t.glyph(c[0])
		if !g.mark {
			marks = 0
		} else if marks++; marks > maxMarks {
			continue
		}
		out = append(out, g)
	}
	return out
}

func (t *typist) glyph(r rune) glyph {
	if !t.has(r) {
		to, ok := stand(r, t.has)
		if !ok {
			return glyph{mark: true, width: markWidth}
		}
		r = to
	}
	i, _ := t.face.index(&t.buf, r)
	return glyph{index: i, space: r == ' ', width: t.face.advance(&t.buf, i)}
}

// width is that of a text at a size, in pixels.
func width(text []glyph, size float64) (w float64) {
	for _, g := range text {
		w += g.width * size
	}
	return w
}

// fit finds the greatest size from most down to least at which a text is at most max wide, and shortens it where there
// is none.
func (t *typist) fit(text []glyph, max, most, least float64) ([]glyph, float64) {
	w := width(text, most)
	if w <= max {
		return text, most
	}
	if size := math.Floor(most * max / w); size >= least {
		return text, size
	}
	return t.shorten(text, max, least), least
}

// shorten leaves out the end of a text that is more than max wide, and says so.
func (t *typist) shorten(text []glyph, max, size float64) []glyph {
	if width(text, size) <= max {
		return text
	}
	dots := t.glyph('…')
	room := max - dots.width*size
	for i, g := range text {
		if room -= g.width * size; room < 0 {
			return append(trim(text[:i:i]), dots)
		}
	}
	return text
}

// trim takes spaces from the end.
func trim(text []glyph) []glyph {
	for len(text) > 0 && text[len(text)-1].space {
		text = text[:len(text)-1]
	}
	return text
}

// wrap breaks a text into at most two lines of a width, at a space if one is near enough; the second one is shortened.
func (t *typist) wrap(text []glyph, max, size float64) [][]glyph {
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
	return [][]glyph{trim(text[:at:at]), t.shorten(rest, max, size)}
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

// draw sets a text with its left end at x. heavier makes it bolder by as many pixels.
func (t *typist) draw(dst *image.RGBA, text []glyph, x, baseline, size, heavier float64, ink color.RGBA) {
	top, left := int(baseline-size*1.2), int(x)-4
	box := image.Rect(left, top, left+int(width(text, size)+heavier)+12, int(baseline+size*0.5))
	r := vector.NewRasterizer(box.Dx(), box.Dy())
	pen := pen{r: r, dx: x - float64(box.Min.X), dy: baseline - float64(box.Min.Y), scale: size / t.face.em / 64}
	for _, g := range text {
		switch {
		case g.mark:
			pen.mark(size)
		case !g.space:
			t.outline(pen, g.index)
			if heavier > 0 {
				bolder := pen
				bolder.dx += heavier
				t.outline(bolder, g.index)
			}
		}
		pen.dx += g.width * size
	}
	r.Draw(dst, box, image.NewUniform(ink), image.Point{})
}

func (t *typist) outline(p pen, i sfnt.GlyphIndex) {
	segments, err := t.face.outline(&t.buf, i)
	if err != nil {
		return
	}
	for _, s := range segments {
		p.segment(s)
	}
	p.r.ClosePath()
}
