package console_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/patchbay-dev/patchbay/core/cluster"
	"github.com/patchbay-dev/patchbay/core/fault"
)

// nodes are cores whose drain a test looks at.
type nodes struct{ asked []string }

func (n *nodes) List(context.Context) ([]cluster.Node, error) {
	now := time.Now()
	return []cluster.Node{
		{ID: "core-1", State: cluster.Running, Roles: []string{"feed"}, Jobs: 4711, About: cluster.About{Version: "1.2.3", Host: hostile}, Started: now, Seen: now},
		{ID: "core-2", State: cluster.Draining, Started: now, Seen: now},
		{ID: "core-3", State: cluster.Lost, Started: now, Seen: now},
	}, nil
}

func (n *nodes) SetDrain(_ context.Context, id string, drain bool) error {
	if id == "core-3" {
		return fault.New(fault.NotFound, "No running node has the id %q.", id)
	}
	n.asked = append(n.asked, map[bool]string{true: "drain ", false: "resume "}[drain]+id)
	return nil
}

func (n *nodes) Self() string { return "core-1" }

// TestNodes: administrators see the cores of the database, and drain and resume them.
func TestNodes(t *testing.T) {
	s := newSite(t)
	v := s.signedIn(s.admin)
	page := v.Get("/system/nodes")
	for _, want := range []string{"core-1", "this one", "draining", "lost", "feed", "4,711", "1.2.3", `action="/system/nodes/core-1/drain"`,
		`action="/system/nodes/core-2/resume"`} {
		if page.Status != 200 || !strings.Contains(page.Body, want) {
			t.Errorf("%d, without %q", page.Status, want)
		}
	}
	if strings.Contains(page.Body, hostile) || strings.Contains(page.Body, "core-3/drain") {
		t.Error("the page has markup from outside, or drains a lost node")
	}
	v.Post("/system/nodes/core-1/drain")
	v.Post("/system/nodes/core-2/resume")
	if refused := v.Post("/system/nodes/core-3/drain"); refused.Status != 404 || !strings.Contains(refused.Body, "No running node has the id") {
		t.Errorf("%d, %s", refused.Status, refused.Body)
	}
	if want := []string{"drain core-1", "resume core-2"}; !slices.Equal(s.nodes.asked, want) {
		t.Errorf("%q, want %q", s.nodes.asked, want)
	}
	if got := s.signedIn(s.member).Get("/system/nodes").Status; got != 403 {
		t.Errorf("a member gets %d", got)
	}
}
