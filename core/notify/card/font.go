package card

import (
	_ "embed"
	"fmt"
	"sync"

	"golang.org/x/image/font"
	"golang.org/x/image/font/sfnt"
	"golang.org/x/image/math/fixed"
)

//go:embed font/PatchbayCardSans-Regular.otf
var fontFile []byte

// face is the font and what is known of it. It is safe for concurrent use; buffers are the caller's.
type face struct {
	font *sfnt.Font
	em   float64
}

// loaded parses the font when the first card is drawn.
var loaded = sync.OnceValues(func() (*face, error) {
	f, err := sfnt.Parse(fontFile)
	if err != nil {
		return nil, fmt.Errorf("parse the font of the card: %w", err)
	}
	return &face{font: f, em: float64(f.UnitsPerEm())}, nil
})

// glyphIndex returns the glyph of a character, if there is one.
func (f *face) glyphIndex(buf *sfnt.Buffer, r rune) (sfnt.GlyphIndex, bool) {
	i, err := f.font.GlyphIndex(buf, r)
	return i, err == nil && i != 0
}

// glyphAdvance returns the width of a glyph in em.
func (f *face) glyphAdvance(buf *sfnt.Buffer, i sfnt.GlyphIndex) float64 {
	w, err := f.font.GlyphAdvance(buf, i, fixed.I(int(f.em)), font.HintingNone)
	if err != nil {
		return 0
	}
	return float64(w) / 64 / f.em
}

// glyphOutline returns the shape of a glyph, with 26.6 coordinates at a size of one em.
func (f *face) glyphOutline(buf *sfnt.Buffer, i sfnt.GlyphIndex) (sfnt.Segments, error) {
	return f.font.LoadGlyph(buf, i, fixed.I(int(f.em)), nil)
}
