package queue_test

import (
	"context"
	"testing"
	"time"

	"github.com/patchbay-dev/patchbay/core/cluster"
	"github.com/patchbay-dev/patchbay/core/internal/testing/testkit"
	"github.com/patchbay-dev/patchbay/core/queue"
	"github.com/patchbay-dev/patchbay/core/store"
)

// member is a core that shares a database with others.
type member struct {
	queue   *queue.Queue
	store   *store.Store
	begun   chan string
	ended   chan error
	release chan struct{}
}

// join starts a core with a job type "long", which runs until its context ends or release is closed.
func join(t *testing.T, url, id string) *member {
	t.Helper()
	m := &member{store: testkit.SharedStore(t, url, queue.Migrations()), begun: make(chan string, 8),
		ended: make(chan error, 8), release: make(chan struct{})}
	c, err := cluster.Open(t.Context(), cluster.Config{Store: m.store, ID: id, Shared: true, Lease: time.Minute, Beat: 100 * time.Millisecond,
		Ended: func(ctx context.Context, node string) error { return m.queue.RecoverNode(ctx, node) }})
	testkit.Must(t, err)
	t.Cleanup(c.Close)
	cfg := config(m.store)
	cfg.Cluster, cfg.Heartbeat = c, time.Second
	cfg.Handlers = []queue.Handler{{Type: "long", Safe: true, Run: func(ctx context.Context, job *queue.Job, _ queue.Progress) (any, error) {
		m.begun <- job.ID
		select {
		case <-ctx.Done():
			m.ended <- context.Cause(ctx)
			return nil, context.Cause(ctx)
		case <-m.release:
			return nil, nil
		}
	}}}
	m.queue = build(t, cfg)
	return m
}

// TestJobOfLostNode: a start takes no job of another node, also if nobody has confirmed it for long. When the lease of a node has ended,
// its job runs at another, and what the first says about it then is not heard.
func TestJobOfLostNode(t *testing.T) {
	url := testkit.Postgres(t)
	a := join(t, url, "a")
	run(t, a.queue)
	id := submit(t, a.queue, queue.Submission{Type: "long", Locks: []string{"r"}}).ID
	<-a.begun
	testkit.Execute(t, a.store, "UPDATE jobs SET heartbeat_at = 1")
	b := join(t, url, "b")
	run(t, b.queue)
	testkit.Must(t, b.queue.Recover(t.Context(), false))
	if job, err := b.queue.Get(t.Context(), id); err != nil || job.State != queue.Running || job.Attempt != 1 {
		t.Fatalf("while its node lives: %+v, %v", job, err)
	}
	testkit.Execute(t, b.store, "UPDATE core_nodes SET ended_at = 1, epoch = epoch + 1 WHERE id = 'a'")
	testkit.Must(t, b.store.Tx(t.Context(), "end a node", func(ctx context.Context) error { return b.queue.RecoverNode(ctx, "a") }))
	select {
	case cause := <-a.ended:
		if cause != queue.ErrLost {
			t.Errorf("at the node that was lost it ends with %v", cause)
		}
	case <-time.After(patience):
		t.Error("it goes on at the node that was lost")
	}
	select {
	case <-a.begun: // which has joined again
	case <-b.begun:
	case <-time.After(patience):
		t.Fatal("it does not begin again")
	}
	close(a.release)
	close(b.release)
	if job := awaitEnd(t, b.queue, id); job.State != queue.Success || locksHeld(t, b.store) != 0 {
		t.Errorf("got %+v", job)
	}
}
