package card

import (
	"image"
	"image/color"
	"math"

	"golang.org/x/image/font/sfnt"
	"golang.org/x/image/math/fixed"
	"golang.org/x/image/vector"
)

// round is how far the handles of a quarter of a circle stand from its ends, for a radius of 1.
const round = 0.5522847

// pen draws outlines into a rasterizer: scaled, and then moved.
type pen struct {
	r      *vector.Rasterizer
	dx, dy float64
	scale  float64
}

func (p pen) scalePoint(v fixed.Point26_6) (x, y float32) {
	return float32(p.dx + float64(v.X)*p.scale), float32(p.dy + float64(v.Y)*p.scale)
}

func (p pen) drawSegment(s sfnt.Segment) {
	x0, y0 := p.scalePoint(s.Args[0])
	x1, y1 := p.scalePoint(s.Args[1])
	x2, y2 := p.scalePoint(s.Args[2])
	switch s.Op {
	case sfnt.SegmentOpMoveTo:
		p.r.ClosePath()
		p.r.MoveTo(x0, y0)
	case sfnt.SegmentOpLineTo:
		p.r.LineTo(x0, y0)
	case sfnt.SegmentOpQuadTo:
		p.r.QuadTo(x0, y0, x1, y1)
	case sfnt.SegmentOpCubeTo:
		p.r.CubeTo(x0, y0, x1, y1, x2, y2)
	}
}

// drawMark draws a small frame that stands for a character which cannot be drawn.
func (p pen) drawMark(size float64) {
	side, line := size*0.58, math.Max(1.5, size*0.05)
	x, y := p.dx+size*(markWidth-0.58)/2, p.dy-size*0.67
	roundRect(p.r, x, y, side, side, size*0.14, false)
	roundRect(p.r, x+line, y+line, side-2*line, side-2*line, size*0.14-line, true)
}

// roundRect adds a rectangle with round corners; inside out, it cuts a hole.
func roundRect(r *vector.Rasterizer, x, y, w, h, radius float64, hole bool) {
	radius = math.Max(0, math.Min(radius, math.Min(w, h)/2))
	k := radius * (1 - round)
	type corner struct{ ax, ay, bx, by, cx, cy, dx, dy float64 }
	corners := []corner{
		{x + w - radius, y, x + w - k, y, x + w, y + k, x + w, y + radius},
		{x + w, y + h - radius, x + w, y + h - k, x + w - k, y + h, x + w - radius, y + h},
		{x + radius, y + h, x + k, y + h, x, y + h - k, x, y + h - radius},
		{x, y + radius, x, y + k, x + k, y, x + radius, y},
	}
	r.MoveTo(float32(x+radius), float32(y))
	if !hole {
		for _, c := range corners {
			r.LineTo(float32(c.ax), float32(c.ay))
			r.CubeTo(float32(c.bx), float32(c.by), float32(c.cx), float32(c.cy), float32(c.dx), float32(c.dy))
		}
	} else {
		for i := len(corners) - 1; i >= 0; i-- {
			c := corners[i]
			r.LineTo(float32(c.dx), float32(c.dy))
			r.CubeTo(float32(c.cx), float32(c.cy), float32(c.bx), float32(c.by), float32(c.ax), float32(c.ay))
		}
	}
	r.ClosePath()
}

// canvas is what shapes are painted on.
type canvas struct{ *image.RGBA }

// paintShape fills what draw outlines, whose coordinates count from the corner of box. Nothing is painted outside of it.
func (c canvas) paintShape(box image.Rectangle, ink color.RGBA, draw func(r *vector.Rasterizer, dx, dy float64)) {
	r := vector.NewRasterizer(box.Dx(), box.Dy())
	draw(r, -float64(box.Min.X), -float64(box.Min.Y))
	r.Draw(c.RGBA, box, image.NewUniform(ink), image.Point{})
}

// enclosingRect returns the smallest box of whole pixels with all that lies between two corners.
func enclosingRect(x0, y0, x1, y1 float64) image.Rectangle {
	return image.Rect(int(math.Floor(x0)), int(math.Floor(y0)), int(math.Ceil(x1)), int(math.Ceil(y1)))
}

// paintBox paints a rectangle with round corners.
func (c canvas) paintBox(x, y, w, h, radius float64, ink color.RGBA) {
	c.paintShape(enclosingRect(x, y, x+w, y+h), ink,
		func(r *vector.Rasterizer, dx, dy float64) { roundRect(r, x+dx, y+dy, w, h, radius, false) })
}

func (c canvas) paintDisc(x, y, radius float64, ink color.RGBA) {
	c.paintBox(x-radius, y-radius, 2*radius, 2*radius, radius, ink)
}

// paintCable paints a line of some thickness between two points that hangs out to the side by sag.
func (c canvas) paintCable(x0, y0, x1, y1, sag, thickness float64, ink color.RGBA) {
	const steps = 48
	type point struct{ x, y float64 }
	var left, right []point
	for i := range steps + 1 {
		t := float64(i) / steps
		u := 1 - t
		x := u*u*u*x0 + 3*u*u*t*(x0+sag) + 3*u*t*t*(x1+sag) + t*t*t*x1
		y := u*u*u*y0 + 3*u*u*t*y0 + 3*u*t*t*y1 + t*t*t*y1
		dx := 3*u*u*sag + 6*u*t*(x1-x0) - 3*t*t*sag
		dy := 6 * u * t * (y1 - y0)
		length := math.Max(math.Hypot(dx, dy), 1e-6)
		nx, ny := -dy/length*thickness/2, dx/length*thickness/2
		left, right = append(left, point{x + nx, y + ny}), append(right, point{x - nx, y - ny})
	}
	c.paintShape(enclosingRect(math.Min(x0, x0+sag), y0-thickness, math.Max(x0, x0+sag), y1+thickness), ink,
		func(r *vector.Rasterizer, dx, dy float64) {
			r.MoveTo(float32(left[0].x+dx), float32(left[0].y+dy))
			for _, p := range left[1:] {
				r.LineTo(float32(p.x+dx), float32(p.y+dy))
			}
			for i := len(right) - 1; i >= 0; i-- {
				r.LineTo(float32(right[i].x+dx), float32(right[i].y+dy))
			}
			r.ClosePath()
		})
}
