package kit

import (
	"bytes"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"slices"
	"testing"
)

// PackPicture returns a PNG with at most 256 colours.
func PackPicture(t testing.TB, raw []byte) []byte {
	t.Helper()
	full, err := png.Decode(bytes.NewReader(raw))
	Must(t, err)
	small := image.NewPaletted(full.Bounds(), mostFrequentColours(full, 256))
	draw.Draw(small, small.Rect, full, full.Bounds().Min, draw.Src)
	var out bytes.Buffer
	Must(t, (&png.Encoder{CompressionLevel: png.BestCompression}).Encode(&out, small))
	return out.Bytes()
}

// mostFrequentColours returns at most so many colours of a picture, the most frequent first.
func mostFrequentColours(m image.Image, most int) (out color.Palette) {
	counts := map[color.RGBA]int{}
	for y := m.Bounds().Min.Y; y < m.Bounds().Max.Y; y++ {
		for x := m.Bounds().Min.X; x < m.Bounds().Max.X; x++ {
			counts[color.RGBAModel.Convert(m.At(x, y)).(color.RGBA)]++
		}
	}
	all := make([]color.RGBA, 0, len(counts))
	for c := range counts {
		all = append(all, c)
	}
	slices.SortFunc(all, func(a, b color.RGBA) int { return counts[b] - counts[a] })
	for _, c := range all[:min(most, len(all))] {
		out = append(out, c)
	}
	return out
}
