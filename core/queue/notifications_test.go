package queue_test

import (
	"testing"

	"github.com/patchbay-dev/patchbay/core/internal/testing/testkit"
	"github.com/patchbay-dev/patchbay/core/queue"
	"github.com/patchbay-dev/patchbay/core/store"
)

// TestFullQueueOfNotifications: while PostgreSQL takes no notifications, jobs are submitted, begin at the node that may, and are followed at
// the other one.
func TestFullQueueOfNotifications(t *testing.T) {
	url := testkit.Postgres(t)
	testkit.NewNotificationQueue(t, url).Fill()
	a, _, _ := joinTalking(t, url, "a", true)
	_, lines, _ := joinTalking(t, url, "b", false)
	id := submit(t, a, queue.Submission{Type: "talk"}).ID
	events, err := a.Follow(t.Context(), id, 0)
	testkit.Must(t, err)
	lines <- "one"
	close(lines)
	last := ""
	for ev := range events {
		last = ev.Type
	}
	if last != queue.EventFinished {
		t.Errorf("the last event that the other node tells is %s", last)
	}
}

// TestEndWhileNotificationsAreRefused: a core that ends leaves its role among the tickets to others at once.
func TestEndWhileNotificationsAreRefused(t *testing.T) {
	cfg := testkit.PostgresConfig(t)
	testkit.NewNotificationQueue(t, cfg.URL).Fill()
	st := testkit.OpenStore(t, cfg, queue.Migrations())
	t.Run("run", func(t *testing.T) {
		start(t, st)
		testkit.Eventually(t, patience, func() bool { return leaders(t, st) == 1 }, "it leads")
	})
	if n := leaders(t, st); n != 0 {
		t.Errorf("%d lead after the end", n)
	}
}

// leaders counts those who lead among the tickets.
func leaders(t *testing.T, st *store.Store) (n int64) {
	t.Helper()
	testkit.Must(t, st.DB(t.Context()).Raw("SELECT count(*) FROM river_leader").Scan(&n).Error)
	return n
}
