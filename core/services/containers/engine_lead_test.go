package containers

import (
	"errors"
	"testing"

	"github.com/patchbay-dev/patchbay/core/cluster"
	"github.com/patchbay-dev/patchbay/core/internal/testing/testkit"
	"github.com/patchbay-dev/patchbay/core/services/containers/change"
	"github.com/patchbay-dev/patchbay/core/services/containers/project"
	"github.com/patchbay-dev/patchbay/core/services/containers/work"
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

// TestChangesOfNodes: while one node changes a stack, no other node does.
func TestChangesOfNodes(t *testing.T) {
	url := testkit.Postgres(t)
	gate := (*gated)(nil)
	st := testkit.SharedStore(t, url, allMigrations()...)
	a := newEnvOn(t, st, func(e *env) {
		gate = newGated(e.engine)
		e.cluster, e.asEngine = testkit.OpenCluster(t, st, "a", true), gate
	})
	a.must(a.svc.places.updatePlace(t.Context()))
	gate.let(true)
	a.blog()
	b := joinEngine(t, url, "b", "other")
	gate.let(false)
	svc := a.serviceOf("blog", "web")
	job, err := a.svc.Update(t.Context(), change.UpdateRequest{Scope: work.ScopeAll, Targets: []project.Target{{ServiceID: svc.ID, TargetTag: "1",
		TargetDigest: svc.CandidateDigest, PullTags: []string{}}}})
	a.must(err)
	key := "containers/" + a.stackOf("blog").ID
	locked := func() bool {
		lock, err := b.cluster.Locks().TryLock(t.Context(), key)
		if err == nil {
			lock.Release()
			return false
		}
		if !errors.Is(err, cluster.ErrLocked) {
			t.Error(err)
		}
		return true
	}
	testkit.Eventually(t, patience, locked, "the stack is locked at the other node")
	gate.let(true)
	if ended := a.ended(job); ended.Status != "success" || locked() {
		t.Errorf("the update: %+v, and the lock is held: %v", ended, locked())
	}
}
