package notify

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/patchbay-dev/patchbay/core/internal/testing/fake"
	"github.com/patchbay-dev/patchbay/core/internal/testing/testkit"
	"github.com/patchbay-dev/patchbay/core/plugin/client"
	"github.com/patchbay-dev/patchbay/core/queue"
	sdk "github.com/patchbay-dev/patchbay/sdk/notify"
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

// forgetful is an owner that fails to hear of an end so many times.
type forgetful struct {
	Owner
	fails int
}

func (*forgetful) Wanted(context.Context, string) (bool, error) { return true, nil }

func (o *forgetful) Ended(context.Context, Delivery) error {
	if o.fails--; o.fails >= 0 {
		return errors.New("the database is gone")
	}
	return nil
}

// TestOutcomeAtOtherNodes: what one node knows of an attempt is stored before another node can run the job of the delivery.
func TestOutcomeAtOtherNodes(t *testing.T) {
	url := testkit.Postgres(t)
	ch := fake.NewNotifier(sdk.Descriptor{})
	open := func(id string, fails int) *Sender {
		st := testkit.SharedStore(t, url, Migrations())
		s, err := New(Config{Store: st, Cluster: testkit.OpenCluster(t, st, id, true),
			Channel: func(string) (client.Notifier, error) { return ch, nil }})
		testkit.Must(t, err)
		s.owners["shop"] = &forgetful{fails: fails}
		return s
	}
	a, b := open("a", 2), open("b", 0)
	d := delivery{ID: "ntf_1", MessageID: "ntm_1", Service: "shop", Channel: "notify.ops", State: Waiting, CreatedAt: time.Now().UnixMilli()}
	testkit.Must(t, a.cfg.Store.Tx(t.Context(), "store", func(ctx context.Context) error {
		w := a.cfg.Store.Writer(ctx)
		if err := w.Create(&message{ID: d.MessageID, Service: "shop", Key: "k", Kind: "k", Title: "t", CreatedAt: d.CreatedAt}).Error; err != nil {
			return err
		}
		return w.Create(&d).Error
	}))
	job := &queue.Job{ID: "job_1", Payload: []byte(`{"id":"ntf_1"}`)}
	for _, s := range []*Sender{a, b} {
		result, err := s.runDelivery(t.Context(), job, nil)
		if got, _ := result.(map[string]any); err != nil || got["state"] != Delivered {
			t.Errorf("%v, %v", result, err)
		}
	}
	if n := len(ch.Sent()); n != 1 {
		t.Errorf("%d sent", n)
	}
}
