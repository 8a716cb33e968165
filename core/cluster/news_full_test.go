package cluster_test

import (
	"context"
	"strings"
	"testing"

	"github.com/hashicorp/go-hclog"

	"github.com/patchbay-dev/patchbay/core/cluster"
	"github.com/patchbay-dev/patchbay/core/event"
	"github.com/patchbay-dev/patchbay/core/internal/testing/testkit"
	"github.com/patchbay-dev/patchbay/core/store"
)

// TestFullQueueOfNotifications: while PostgreSQL takes no notifications, nobody fails or waits for that, the log says once what to do, and
// others look by themselves. As soon as nothing holds the queue any more, news arrive again.
func TestFullQueueOfNotifications(t *testing.T) {
	url := testkit.Postgres(t)
	queue, log := testkit.NewNotificationQueue(t, url), &testkit.Buffer{}
	join := func(id string) *cluster.Cluster {
		return open(t, cluster.Config{Store: testkit.SharedStore(t, url), ID: id, Shared: true, Lease: longLease, Beat: beat,
			Logger: hclog.New(&hclog.LoggerOptions{Name: id, Output: log})})
	}
	a, b := join("a"), join("b")
	awaitNews(t, a, b)
	bus := event.NewBus()
	b.Relay("mail", bus)
	says := func(text string, want int) {
		t.Helper()
		testkit.Eventually(t, patience, func() bool { return strings.Count(log.String(), text) == want }, "the log says "+text)
	}
	waiting, looks := bus.Subscribe("box/"), make(chan []string)
	for round := range 2 {
		queue.Fill()
		followed, stop := context.WithCancel(t.Context())
		go b.Follow(followed, "thing", func(ctx context.Context, bodies []string) {
			select {
			case looks <- bodies:
			case <-ctx.Done():
			}
		})
		<-looks // at the beginning
		own := a.Subscribe("thing")
		const count = 10_000 // more than wait to be sent
		for range count {
			testkit.Must(t, a.Publish(t.Context(), "thing", "1"))
		}
		if ev := <-own.Events(); ev.Data != "1" {
			t.Errorf("at the node itself: %v", ev)
		}
		own.Close()
		for range 2 {
			if ev := nextEvent(t, waiting); !ev.Lagged {
				t.Errorf("who waits at the other node got %v", ev)
			}
			if bodies := <-looks; bodies != nil {
				t.Errorf("the other node got %q", bodies)
			}
		}
		stop()
		says("a: cannot send news to other nodes", round+1)
		queue.Release()
		awaitNews(t, a, b)
		says("a: other nodes get news again", round+1)
	}
	if a.Ready() != nil || b.Ready() != nil {
		t.Errorf("they are not ready: %v, %v", a.Ready(), b.Ready())
	}
	says(store.ErrNotificationsFull.Error(), 2)
	if text := "b: PostgreSQL's queue of notifications fills up: " + store.NotificationsHint; !strings.Contains(log.String(), text) {
		t.Errorf("the log does not say %q:\n%s", text, log)
	}
}
