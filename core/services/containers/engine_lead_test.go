package containers

import (
	"testing"

	"github.com/patchbay-dev/patchbay/core/cluster"
	"github.com/patchbay-dev/patchbay/core/internal/testing/testkit"
)

// awaitBeats waits until a node has confirmed its lease a few times.
func (e *env) awaitBeats(id string) {
	e.Helper()
	seen := func() int64 {
		nodes, err := cluster.ListNodes(e.Context(), e.store)
		e.must(err)
		for _, n := range nodes {
			if n.ID == id {
				return n.Seen.UnixMilli()
			}
		}
		return 0
	}
	for range 3 {
		before := seen()
		testkit.Eventually(e, patience, func() bool { return seen() > before }, "the node confirms its lease")
	}
}

// TestOneNodeFollowsAnEngine: of two nodes with one engine one discovers, hears its events and samples, and after it the other one does.
func TestOneNodeFollowsAnEngine(t *testing.T) {
	url := testkit.Postgres(t)
	a := joinEngine(t, url, "a", "one")
	a.must(a.svc.places.updatePlace(t.Context()))
	a.blog()
	a.must(a.svc.Start(t.Context()))
	testkit.Eventually(t, patience, func() bool { return len(a.engine.CallsOf("events")) > 0 && len(a.engine.CallsOf("stats")) > 0 },
		"the first node hears of the engine and samples")
	b := joinEngine(t, url, "b", "one")
	b.must(b.svc.Start(t.Context()))
	testkit.Eventually(t, patience, func() bool { _, here := b.svc.places.findPlace(); return here }, "the other node knows the engine")
	b.awaitBeats("b")
	if calls := b.engine.CallsOf("events", "containers", "stats"); len(calls) > 0 {
		t.Errorf("the other node made %v", calls)
	}
	if a.svc.checkMinute.Load() != b.svc.checkMinute.Load() {
		t.Error("the nodes check everything at different times")
	}
	a.svc.Close()
	testkit.Eventually(t, patience, func() bool { return len(b.engine.CallsOf("events")) > 0 && len(b.engine.CallsOf("containers")) > 0 },
		"the other node hears of the engine and discovers")
}
