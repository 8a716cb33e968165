// Command drawicons draws the pictures that browsers want besides icon.svg: the same patch bay as pixels. Run it from its
// folder's parent: go run ./drawicons static/icons
package main

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"math"
	"os"
	"path/filepath"
)

// icon is one picture. All lengths are in units of the drawing, which is 24 wide.
type icon struct {
	name string
	size int
	// margin is the space around the drawing; corner rounds the ground, and less than 0 means no ground.
	margin, corner float64
}

func icons() []icon {
	return []icon{
		{"icon-192.png", 192, 4, 5.5},
		{"icon-512.png", 512, 4, 5.5},
		// What is masked shows at least the circle of four fifths.
		{"icon-maskable-512.png", 512, 7.5, 0},
		{"apple-touch-icon.png", 180, 5, 0},
		{"badge-96.png", 96, 0, -1},
	}
}

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: drawicons FOLDER")
		os.Exit(2)
	}
	for _, i := range icons() {
		var out bytes.Buffer
		enc := png.Encoder{CompressionLevel: png.BestCompression}
		err := enc.Encode(&out, i.draw())
		if err == nil {
			err = os.WriteFile(filepath.Join(os.Args[1], i.name), out.Bytes(), 0o644)
		}
		if err != nil {
			fmt.Fprintf(os.Stderr, "draw %s: %v\n", i.name, err)
			os.Exit(1)
		}
	}
}

// draw takes the colour of each pixel from the distance to the nearest edge.
func (i icon) draw() image.Image {
	img := image.NewNRGBA(image.Rect(0, 0, i.size, i.size))
	whole := 24 + 2*i.margin
	unit := whole / float64(i.size)
	for y := range i.size {
		for x := range i.size {
			px, py := (float64(x)+.5)*unit-i.margin, (float64(y)+.5)*unit-i.margin
			line := cover(drawing(px, py), unit)
			if i.corner < 0 {
				img.SetNRGBA(x, y, color.NRGBA{255, 255, 255, uint8(math.Round(255 * line))})
				continue
			}
			ground := cover(box(px-12, py-12, whole/2, whole/2, i.corner*whole/24), unit)
			img.SetNRGBA(x, y, mix(color.NRGBA{0x0f, 0x76, 0x6e, 255}, color.NRGBA{255, 255, 255, 255}, line, ground))
		}
	}
	return img
}

// cover is how much of a pixel lies inside an edge at a signed distance.
func cover(distance, pixel float64) float64 { return max(0, min(1, .5-distance/pixel)) }

func mix(a, b color.NRGBA, part, alpha float64) color.NRGBA {
	at := func(a, b uint8) uint8 { return uint8(math.Round(float64(a)*(1-part) + float64(b)*part)) }
	return color.NRGBA{at(a.R, b.R), at(a.G, b.G), at(a.B, b.B), uint8(math.Round(255 * alpha))}
}

// drawing is the signed distance to icon.svg: a frame, two sockets, and a cord between them.
func drawing(x, y float64) float64 {
	frame := math.Abs(box(x-12, y-12, 10.5, 8, 3.5)) - 1
	one, two := math.Hypot(x-7, y-9.5)-1.8, math.Hypot(x-17, y-14.5)-1.8
	return min(frame, one, two, cord(x, y)-1)
}

// box is the signed distance to a rectangle with round corners around the origin.
func box(x, y, halfWidth, halfHeight, radius float64) float64 {
	dx, dy := math.Abs(x)-halfWidth+radius, math.Abs(y)-halfHeight+radius
	return math.Hypot(max(dx, 0), max(dy, 0)) + min(max(dx, dy), 0) - radius
}

// cord is the distance to the curve from (7, 9.5) by (7, 15.5) and (17, 9.5) to (17, 14.5).
func cord(x, y float64) float64 {
	const steps = 64
	best := math.Inf(1)
	ax, ay := curve(0)
	for n := 1; n <= steps; n++ {
		bx, by := curve(float64(n) / steps)
		vx, vy := bx-ax, by-ay
		t := max(0, min(1, ((x-ax)*vx+(y-ay)*vy)/(vx*vx+vy*vy)))
		best = min(best, math.Hypot(x-ax-t*vx, y-ay-t*vy))
		ax, ay = bx, by
	}
	return best
}

func curve(t float64) (x, y float64) {
	u := 1 - t
	a, b, c, d := u*u*u, 3*u*u*t, 3*u*t*t, t*t*t
	return 7*a + 7*b + 17*c + 17*d, 9.5*a + 15.5*b + 9.5*c + 14.5*d
}
