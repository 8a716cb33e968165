package console

import (
	"strings"
	"testing"
)

func TestPanel(t *testing.T) {
	services := []Service{
		{Name: "search", BaseURL: "/search", Uses: []Use{{"search", "search.docs"}, {"notify", "notify.ops"}, {"search", "search.unknown"}}},
		{Name: "mail", BaseURL: "/mail", Uses: []Use{{"notify", "notify.ops"}}},
		{Name: "idle", BaseURL: "/idle"},
	}
	instances := []Instance{
		{Ref: "search.docs", Kind: "search", State: "ready"}, {Ref: "notify.ops", Kind: "notify", State: "backoff"},
		{Ref: "search.spare", Kind: "search", State: "degraded"},
	}
	start := func(service string, admin bool) string {
		if service == "search" && admin {
			return "/search/overview"
		}
		return ""
	}
	p := newPanel(services, instances, start, true)
	if len(p.Boxes) != 3 || len(p.Rows) != 3 || len(p.Cables) != 3 {
		t.Fatalf("%d boxes, %d rows, %d cables", len(p.Boxes), len(p.Rows), len(p.Cables))
	}
	if p.Down != 1 {
		t.Errorf("%d instances are down", p.Down)
	}
	if p.Rows[0].Href == "" || !p.Rows[1].Plugged || p.Rows[2].Plugged {
		t.Errorf("the rows are %+v", p.Rows)
	}
	if p.Cables[0].Colour == p.Cables[1].Colour || p.Cables[1].Colour != p.Cables[2].Colour {
		t.Errorf("the colours are %d, %d and %d", p.Cables[0].Colour, p.Cables[1].Colour, p.Cables[2].Colour)
	}
	if up, down := cableClass(p.Cables[0]), cableClass(p.Cables[1]); strings.Contains(up, "down") || !strings.Contains(down, "down") {
		t.Errorf("the classes are %q and %q", up, down)
	}
	for _, c := range p.Cables[:2] {
		if b := p.Boxes[0]; c.Y <= b.Y || c.Y >= b.Y+b.Height {
			t.Errorf("a cable begins at %d, beside its box from %d to %d", c.Y, b.Y, b.Y+b.Height)
		}
	}
	for i, b := range p.Boxes {
		if b.Y+b.Height > p.Height || i > 0 && b.Y < p.Boxes[i-1].Y+p.Boxes[i-1].Height {
			t.Errorf("the box %d overlaps or stands outside: %+v of %d", i, b, p.Height)
		}
	}
	member := newPanel(services, instances, start, false)
	if member.Rows[0].Href != "" || member.Boxes[0].Href != "" {
		t.Error("a member gets links to what administrators see")
	}
	if empty := newPanel(nil, nil, start, true); len(empty.Boxes) != 0 || empty.Height < 0 {
		t.Errorf("the empty panel is %+v", empty)
	}
}

// TestCablesDoNotCross: instances stand in the order in which services use them, and the cables of a service leave it in the order
// of their ends.
func TestCablesDoNotCross(t *testing.T) {
	services := []Service{
		{Name: "one", Uses: []Use{{"c", "c.1"}, {"a", "a.1"}, {"b", "b.1"}}},
		{Name: "two", Uses: []Use{{"d", "d.1"}, {"b", "b.1"}}},
	}
	var instances []Instance
	for _, ref := range []string{"unused.1", "d.1", "b.1", "a.1", "c.1"} {
		instances = append(instances, Instance{Ref: ref, Kind: ref[:1], State: "ready"})
	}
	p := newPanel(services, instances, func(string, bool) string { return "" }, true)
	var order []string
	ends := map[string]int{}
	for _, r := range p.Rows {
		order, ends[r.Ref] = append(order, r.Ref), r.Y
	}
	if got := strings.Join(order, " "); got != "c.1 a.1 b.1 d.1 unused.1" {
		t.Errorf("the instances stand as %s", got)
	}
	for i, a := range p.Cables {
		for _, b := range p.Cables[:i] {
			if a.From == b.From && (a.Y-b.Y)*(ends[a.To]-ends[b.To]) < 0 {
				t.Errorf("the cables of %s to %s and %s cross", a.From, a.To, b.To)
			}
		}
	}
}
