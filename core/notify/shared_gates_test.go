package notify

import (
	"errors"
	"testing"
	"time"

	"github.com/patchbay-dev/patchbay/core/internal/testing/testkit"
	"github.com/patchbay-dev/patchbay/core/plugin/client"
)

// TestGatesOfNodes: one of all nodes sends to a recipient at a time, and all know its pause and how often it has failed.
func TestGatesOfNodes(t *testing.T) {
	url := testkit.Postgres(t)
	open := func(id string) *Sender {
		st := testkit.SharedStore(t, url, Migrations())
		s, err := New(Config{Store: st, Cluster: testkit.OpenCluster(t, st, id, true), Backoff: func(n int) time.Duration {
			return time.Duration(n) * time.Hour
		}, Channel: func(string) (client.Notifier, error) { return nil, errors.New("no channel") }})
		testkit.Must(t, err)
		return s
	}
	a, b := open("a"), open("b")
	to, other := &delivery{Channel: "notify.ops", Recipient: "ada"}, &delivery{Channel: "notify.ops", Recipient: "bob"}
	release, wait, err := a.acquireGate(t.Context(), to)
	if err != nil || wait != 0 {
		t.Fatalf("wait %s, %v", wait, err)
	}
	if _, wait, err := b.acquireGate(t.Context(), to); err != nil || wait == 0 {
		t.Errorf("two nodes send to one recipient: %v", err)
	}
	releaseOther, wait, err := b.acquireGate(t.Context(), other)
	if err != nil || wait != 0 {
		t.Fatalf("another recipient waits %s, %v", wait, err)
	}
	releaseOther(false, 0)
	if pause := release(true, 0); pause != time.Hour {
		t.Errorf("after a failure the pause is %s", pause)
	}
	if _, wait, err := b.acquireGate(t.Context(), to); err != nil || wait < 59*time.Minute {
		t.Errorf("the other node waits %s, %v", wait, err)
	}
	once := *to
	once.Once = true
	release, wait, err = b.acquireGate(t.Context(), &once)
	if err != nil || wait != 0 {
		t.Fatalf("what is sent once waits %s, %v", wait, err)
	}
	if pause := release(true, 0); pause != 2*time.Hour {
		t.Errorf("after a second failure, at another node, the pause is %s", pause)
	}
	if release, _, err = a.acquireGate(t.Context(), &once); err != nil {
		t.Fatal(err)
	}
	release(false, 0)
	if release, wait, err = b.acquireGate(t.Context(), to); err != nil || wait != 0 {
		t.Fatalf("after a success the other node waits %s, %v", wait, err)
	}
	release(false, 0)
}
