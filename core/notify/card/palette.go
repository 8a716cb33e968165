package card

import (
	"image"
	"image/color"
)

// The colours of the light theme.
var (
	background = rgbColour(0xf6f7f9)
	panel      = rgbColour(0xffffff)
	ink        = rgbColour(0x16202c)
	muted      = rgbColour(0x5b6878)
	hairline   = rgbColour(0xe1e6ec)
	accent     = rgbColour(0x0f766e)
	rail       = rgbColour(0xeef5f4)
	socket     = rgbColour(0xb9d2cf)
	hole       = rgbColour(0x3b5450)
)

func rgbColour(v uint32) color.RGBA {
	return color.RGBA{R: uint8(v >> 16), G: uint8(v >> 8), B: uint8(v), A: 0xff}
}

// toneColours returns the colours of a tone: for words, and softer behind them.
func (t Tone) toneColours() (strong, soft color.RGBA) {
	switch t {
	case Success:
		return rgbColour(0x15803d), rgbColour(0xe7f4ec)
	case Error:
		return rgbColour(0xb42318), rgbColour(0xfdecea)
	case Warning:
		return rgbColour(0xa15c07), rgbColour(0xfdf3e1)
	case Info:
		return rgbColour(0x1d5fa8), rgbColour(0xe8f1fb)
	}
	return muted, rgbColour(0xeef1f4)
}

// shades is how many steps there are between a colour and the one behind it.
const shades = 14

// reducePalette returns the picture with a palette, which makes it several times smaller: all colours that stand beside each other
// and a few steps between them.
func reducePalette(src *image.RGBA, tone Tone) *image.Paletted {
	strong, soft := tone.toneColours()
	palette := color.Palette{}
	ramp := func(from, to color.RGBA) {
		for i := range shades {
			palette = append(palette, mixColours(from, to, i, shades-1))
		}
	}
	for _, pair := range [][2]color.RGBA{
		{panel, ink}, {panel, muted}, {panel, accent}, {panel, hairline}, {background, hairline}, {soft, strong}, {panel, soft},
		{rail, socket}, {socket, hole}, {rail, strong}, {hole, strong}, {socket, strong}, {panel, rail}, {background, rail},
	} {
		ramp(pair[0], pair[1])
	}
	out := image.NewPaletted(src.Rect, palette)
	known := map[color.RGBA]uint8{}
	var last color.RGBA
	var index uint8
	for i := 0; i < len(src.Pix); i += 4 {
		c := color.RGBA{R: src.Pix[i], G: src.Pix[i+1], B: src.Pix[i+2], A: src.Pix[i+3]}
		if c != last || i == 0 {
			found, ok := known[c]
			if !ok {
				found = uint8(palette.Index(c))
				known[c] = found
			}
			last, index = c, found
		}
		out.Pix[i/4] = index
	}
	return out
}

// mixColours returns the colour n of the steps on the way from one to another.
func mixColours(from, to color.RGBA, n, steps int) color.RGBA {
	part := func(a, b uint8) uint8 { return uint8((int(a)*(steps-n) + int(b)*n) / steps) }
	return color.RGBA{R: part(from.R, to.R), G: part(from.G, to.G), B: part(from.B, to.B), A: 0xff}
}
