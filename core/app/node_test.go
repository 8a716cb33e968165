package app

import (
	"strings"
	"testing"
	"time"

	"github.com/patchbay-dev/patchbay/core/cluster"
	"github.com/patchbay-dev/patchbay/core/internal/testing/testkit"
	"github.com/patchbay-dev/patchbay/core/store"
)

// TestDrain: a core that another process asks to drain is not ready and begins no job, until it is told to resume.
func TestDrain(t *testing.T) {
	r, _ := newReloadable(t, nil, "core {\n  node_id = \"core-1\"\n}\n")
	r.start()
	ctx := t.Context()
	if nodes, err := cluster.ListNodes(ctx, r.store); err != nil || len(nodes) != 1 || nodes[0].ID != "core-1" || nodes[0].State != cluster.Running ||
		nodes[0].Version != "test" {
		t.Errorf("the nodes are %+v, %v", nodes, err)
	}
	// The command line opens the database beside the core.
	cfg := r.set.Store
	cfg.Exclusive = false
	beside := testkit.OpenStore(t, cfg, r.cfg.configSource().Migrations()...)
	drain := func(st *store.Store, drain bool) {
		t.Helper()
		must(t, cluster.SetDrain(ctx, st, "core-1", drain))
		testkit.Eventually(t, time.Minute, func() bool { return r.checkReadiness(ctx).Ready == !drain }, "the core follows")
	}
	drain(beside, true)
	if state := r.checkReadiness(ctx).states()["node"]; !strings.Contains(state, "patchbay node resume core-1") || !r.cluster.Draining() {
		t.Errorf("readyz says %q", state)
	}
	if text := r.metrics(); !strings.Contains(text, "patchbay_node_draining 1") || !strings.Contains(text, `patchbay_nodes{state="draining"} 1`) {
		t.Errorf("the metrics do not tell of the drain")
	}
	drain(beside, false)
}
