package card

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"math"
	"slices"
	"strings"
)

// Width and Height are the size of a picture in pixels, and MaxBytes is more than any has.
const (
	Width    = 1200
	Height   = 630
	MaxBytes = 100_000
)

// The places on the card, in pixels.
const (
	outer      = 36.0
	railWidth  = 92.0
	left       = outer + railWidth + 48
	right      = Width - outer - 52
	room       = right - left
	headLine   = 104.0
	kindLine   = 178.0
	bottom     = Height - outer - 34
	columnGap  = 36.0
	labelShare = 0.45
)

// Draw makes the PNG of a card. It may be called concurrently.
func Draw(c Card) ([]byte, error) {
	f, err := loaded()
	if err != nil {
		return nil, err
	}
	p := painter{canvas: canvas{image.NewRGBA(image.Rect(0, 0, Width, Height))}, typist: typist{face: f}, card: c}
	p.drawBackground()
	p.drawRail()
	p.drawHeader()
	p.drawLines(p.drawSubject())
	var out bytes.Buffer
	enc := png.Encoder{}
	if err := enc.Encode(&out, reducePalette(p.RGBA, c.Tone)); err != nil {
		return nil, fmt.Errorf("encode a card: %w", err)
	}
	return out.Bytes(), nil
}

type painter struct {
	canvas
	typist
	card Card
}

func (p *painter) drawBackground() {
	p.paintBox(0, 0, Width, Height, 0, background)
	p.paintBox(outer, outer, Width-2*outer, Height-2*outer, 26, hairline)
	p.paintBox(outer+1.5, outer+1.5, Width-2*outer-3, Height-2*outer-3, 24.5, panel)
}

// drawRail draws a strip of a patch bay: sockets, and one cable in the colour of what happened.
func (p *painter) drawRail() {
	const sockets, radius, from, to = 7, 14.0, 1, 4
	strong, _ := p.card.Tone.toneColours()
	x, top := outer+28, outer+28
	w, h := railWidth-20, Height-2*outer-56
	p.paintBox(x, top, w, h, 18, rail)
	at := func(i int) float64 { return top + h*(float64(i)+0.5)/sockets }
	middle := x + w/2
	for i := range sockets {
		p.paintDisc(middle, at(i), radius, socket)
		p.paintDisc(middle, at(i), radius*0.55, hole)
	}
	p.paintCable(middle, at(from), middle, at(to), -w*0.95, 9, strong)
	p.paintDisc(middle, at(from), radius*0.8, strong)
	p.paintDisc(middle, at(to), radius*0.8, strong)
}

// drawHeader draws the name of the product and the footer's text on top, then what happened, and how it went.
func (p *painter) drawHeader() {
	p.typist.drawText(p.RGBA, p.toGlyphs("Patchbay"), left, headLine, 30, 1, accent)
	p.drawFooter()
	strong, soft := p.card.Tone.toneColours()
	const size, least, height = 32.0, 24.0, 54.0
	kind, at := p.fitSize(p.toGlyphs(p.card.Kind), room*0.6, size, least)
	p.typist.drawText(p.RGBA, kind, left, kindLine, at, 0, muted)
	kindWidth := textWidth(kind, at)
	status, at := p.fitSize(p.toGlyphs(p.card.Status), room-kindWidth-120, 28, 20)
	if len(status) == 0 {
		return
	}
	x := left + math.Ceil(kindWidth) + 24
	if len(kind) == 0 {
		x = left
	}
	p.paintBox(x, kindLine-38, textWidth(status, at)+68, height, height/2, soft)
	p.paintDisc(x+28, kindLine-11, 7, strong)
	p.typist.drawText(p.RGBA, status, x+46, kindLine-1, at, 0.6, strong)
}

func (p *painter) drawFooter() {
	text, at := p.fitSize(p.toGlyphs(p.card.Footer), room/2, 26, 20)
	p.typist.drawText(p.RGBA, text, right-textWidth(text, at), headLine, at, 0, muted)
}

// drawSubject draws the subject in one line as big as fits, or in two smaller ones. It returns where the rest begins.
func (p *painter) drawSubject() float64 {
	const most, least, wrapped = 66.0, 50.0, 46.0
	text := p.toGlyphs(p.card.Subject)
	if textWidth(text, least) <= room {
		text, size := p.fitSize(text, room, most, least)
		p.typist.drawText(p.RGBA, text, left, 262, size, size/36, ink)
		return 300
	}
	rows, size := p.splitSubject(text, wrapped)
	for i, row := range rows {
		p.typist.drawText(p.RGBA, row, left, 250+float64(i)*60, size, size/38, ink)
	}
	return 338
}

// splitSubject returns two lines of a subject and their size: a stack and its service where it names them, so that both stay readable.
func (p *painter) splitSubject(text []glyph, most float64) ([][]glyph, float64) {
	const least = 38.0
	stack, service, ok := strings.Cut(p.card.Subject, separator)
	if !ok {
		return p.wrapLines(text, room, most), most
	}
	slash := p.spacedSign("/")
	first, second := p.toGlyphs(stack), p.toGlyphs(service)
	size := most
	for _, row := range [][]glyph{slices.Concat(first, slash), second} {
		size = math.Min(size, math.Max(least, math.Floor(most*room/math.Max(textWidth(row, most), 1))))
	}
	first, second = p.shortenText(first, room-textWidth(slash, size), size), p.shortenText(second, room, size)
	return [][]glyph{slices.Concat(first, slash), second}, size
}

// drawLines draws the facts in two columns of one size, and how much is left out.
func (p *painter) drawLines(top float64) {
	lines := p.card.Lines[:min(len(p.card.Lines), MaxLines)]
	rows := len(lines)
	if p.card.Omitted != "" {
		rows++
	}
	if rows == 0 {
		return
	}
	p.paintBox(left, top, room, 1.5, 0, hairline)
	pitch := math.Min(66, (bottom-top-10)/float64(rows))
	label, value, size := p.layOutColumns(lines, math.Min(34, math.Floor(pitch*0.68)))
	y := top + 10 + pitch*0.5 + size*0.36
	for _, l := range lines {
		p.drawCell(l.Label, left, y, label, size, muted)
		p.drawCell(l.Value, left+label+columnGap, y, value, size, ink)
		y += pitch
	}
	if p.card.Omitted != "" {
		p.drawCell(p.card.Omitted, left, y, room, size, muted)
	}
}

func (p *painter) drawCell(s string, x, y, max, size float64, c color.RGBA) {
	p.typist.drawText(p.RGBA, p.fitText(s, max, size), x, y, size, 0, c)
}

// layOutColumns returns the widths of labels and values, and the size at which all fits. Where there is none, labels get their share,
// and more if values need less.
func (p *painter) layOutColumns(lines []Line, most float64) (label, value, size float64) {
	const least = 24.0
	for _, l := range lines {
		label = math.Max(label, textWidth(p.toGlyphs(l.Label), 1))
		value = math.Max(value, textWidth(p.toGlyphs(l.Value), 1))
	}
	size = math.Min(most, math.Max(least, math.Floor((room-columnGap)/math.Max(label+value, 1))))
	// Whole pixels, and a trifle for those that are whole already, so that what was just measured is not found too wide by the
	// last bit.
	const trifle = 1e-6
	label, value = math.Ceil(label*size+trifle), math.Ceil(value*size+trifle)
	if label+columnGap+value > room {
		label = math.Min(label, math.Max(room*labelShare, room-columnGap-value))
	}
	return label, room - columnGap - label, size
}
