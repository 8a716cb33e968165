package cli

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/patchbay-dev/patchbay/core/cluster"
	"github.com/patchbay-dev/patchbay/core/event"
	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/internal/testing/testkit"
	"github.com/patchbay-dev/patchbay/core/queue"
)

// TestAwaitDrained: the wait for a drain ends when the node has no jobs left, and says how many it has when the time is up.
func TestAwaitDrained(t *testing.T) {
	url := testkit.Postgres(t)
	release, ctx := make(chan struct{}), t.Context()
	st := testkit.SharedStore(t, url, queue.Migrations())
	var queues []*queue.Queue
	for _, id := range []string{"a", "b"} {
		c := testkit.OpenCluster(t, st, id, true)
		q, err := queue.New(queue.Config{Store: st, Bus: event.NewBus(), Cluster: c, Held: c.Draining, Handlers: []queue.Handler{{Type: "wait " + id,
			Run: func(context.Context, *queue.Job, queue.Progress) (any, error) { <-release; return nil, nil }}}})
		testkit.Must(t, err)
		testkit.Must(t, q.Start(ctx))
		t.Cleanup(func() { testkit.Must(t, q.Stop(context.Background())) })
		_, _, err = q.Submit(ctx, queue.Submission{Type: "wait " + id})
		testkit.Must(t, err)
		queues = append(queues, q)
	}
	testkit.Eventually(t, time.Minute, func() bool {
		running, _, err := queues[0].CountOpen(ctx)
		return err == nil && running == 2
	}, "both jobs run")
	testkit.Must(t, cluster.SetDrain(ctx, st, "a", true))
	err := awaitDrained(ctx, st, "a", time.Second)
	if fault.CodeOf(err) != fault.Timeout || !strings.Contains(err.Error(), "1 of its jobs") {
		t.Errorf("while a job runs: %v", err)
	}
	close(release)
	if err := awaitDrained(ctx, st, "a", time.Minute); err != nil {
		t.Errorf("without jobs: %v", err)
	}
	nodes, err := cluster.ListNodes(ctx, st)
	testkit.Must(t, err)
	if nodes[0].State != cluster.Draining || nodes[1].State != cluster.Running {
		t.Errorf("the nodes are %+v", nodes)
	}
}
