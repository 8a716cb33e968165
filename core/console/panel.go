package console

import (
	"cmp"
	"fmt"
	"slices"
)

// The measures of the patch panel, in units of its drawing.
const (
	panelWidth   = 960
	boxWidth     = 190
	jackRadius   = 6
	labelGap     = 24
	charWidth    = 7
	stateWidth   = 130
	maxLabel     = 330
	jackGap      = 18
	boxPad       = 46
	boxGap       = 14
	rowHeight    = 36
	panelTop     = 6
	colours      = 7
	minBoxHeight = 50
)

// panel is the drawing of what is connected with what.
type panel struct {
	Height int
	// RightX is where cables end: the labels behind it fill the rest of the width.
	RightX int
	Boxes  []box
	Rows   []row
	Cables []cable
	// Down counts the instances that do not serve.
	Down int
}

// box is a service on the left.
type box struct {
	Service
	Href      string
	Y, Height int
}

// row is an instance on the right. Its jack is at Y.
type row struct {
	Instance
	Href string
	Y    int
	// Plugged reports whether a service uses it.
	Plugged bool
}

// cable is one reference of a service to an instance.
type cable struct {
	From, To string
	Kind     string
	Path     string
	Colour   int
	// Up reports whether the provider serves.
	Up    bool
	State string
	// X and Y are where it begins.
	Y int
}

// newPanel lays the drawing out. start tells the first page of a service; links to instances are for administrators.
func newPanel(services []Service, instances []Instance, start func(string, bool) string, admin bool) panel {
	p, kinds := panel{RightX: panelWidth - labelGap - labelWidth(instances)}, []string{}
	at := map[string]int{}
	instances = orderByUse(instances, services)
	for i, in := range instances {
		r := row{Instance: in, Y: panelTop + rowHeight/2 + i*rowHeight}
		if admin {
			r.Href = "/system/plugins/instance/" + in.Ref
		}
		if !in.Serving() {
			p.Down++
		}
		if !slices.Contains(kinds, in.Kind) {
			kinds = append(kinds, in.Kind)
		}
		at[in.Ref] = i
		p.Rows = append(p.Rows, r)
	}
	y := panelTop
	for _, s := range services {
		s.Uses = slices.Clone(s.Uses)
		slices.SortStableFunc(s.Uses, func(a, b Use) int { return cmp.Compare(at[a.Ref], at[b.Ref]) })
		b := box{Service: s, Href: start(s.Name, admin), Y: y, Height: max(minBoxHeight, boxPad+max(0, len(s.Uses)-1)*jackGap)}
		for i, use := range s.Uses {
			jack := y + b.Height/2 + i*jackGap - (len(s.Uses)-1)*jackGap/2
			p.connectUse(s, use, jack, at, kinds)
		}
		p.Boxes = append(p.Boxes, b)
		y += b.Height + boxGap
	}
	p.Height = max(y-boxGap, panelTop+len(p.Rows)*rowHeight) + panelTop
	return p
}

// labelWidth estimates how much room the labels of instances take.
func labelWidth(instances []Instance) (width int) {
	for _, in := range instances {
		width = max(width, len(in.Ref)*charWidth, len(in.Plugin)*charWidth+stateWidth)
	}
	return min(width, maxLabel)
}

// jackX returns the middle of the jacks of instances, and labelX where their labels begin.
func (p panel) jackX() int { return p.RightX + jackRadius }

func (p panel) labelX() int { return p.RightX + labelGap }

// orderByUse returns the instances in the order in which the services name them first, so that cables cross as little as can be;
// those that no service uses come last.
func orderByUse(instances []Instance, services []Service) []Instance {
	first := map[string]int{}
	for _, s := range services {
		for _, u := range s.Uses {
			if _, ok := first[u.Ref]; !ok {
				first[u.Ref] = len(first)
			}
		}
	}
	place := func(i Instance) int {
		if n, ok := first[i.Ref]; ok {
			return n
		}
		return len(first)
	}
	return slices.SortedStableFunc(slices.Values(instances), func(a, b Instance) int { return cmp.Compare(place(a), place(b)) })
}

// crossPath returns the path of a cross at a point.
func crossPath(x, y int) string {
	return fmt.Sprintf("M%d %dl8 8m0 -8l-8 8", x-4, y-4)
}

func (p *panel) connectUse(s Service, use Use, y int, at map[string]int, kinds []string) {
	i, ok := at[use.Ref]
	if !ok {
		return
	}
	to := &p.Rows[i]
	to.Plugged = true
	middle := (boxWidth + p.RightX) / 2
	p.Cables = append(p.Cables, cable{
		From: s.Name, To: use.Ref, Kind: use.Kind, Colour: slices.Index(kinds, use.Kind) % colours, Up: to.Serving(), State: to.State, Y: y,
		Path: fmt.Sprintf("M%d %dC%d %d %d %d %d %d", boxWidth, y, middle, y, middle, to.Y, p.RightX, to.Y),
	})
}

func (p panel) viewBox() string { return fmt.Sprintf("0 0 %d %d", panelWidth, p.Height) }

func formatNumber(n int) string { return fmt.Sprint(n) }

func cableClass(c cable) string {
	class := fmt.Sprintf("cable k%d", max(0, c.Colour))
	if !c.Up {
		class += " down"
	}
	return class
}
