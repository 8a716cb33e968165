package notify

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/patchbay-dev/patchbay/core/internal/testing/fake"
	"github.com/patchbay-dev/patchbay/core/internal/testing/testkit"
	"github.com/patchbay-dev/patchbay/core/plugin/client"
	"github.com/patchbay-dev/patchbay/core/queue"
	sdk "github.com/patchbay-dev/patchbay/sdk/notify"
)

func pause(d time.Duration) func(int) time.Duration {
	return func(failures int) time.Duration { return time.Duration(failures) * d }
}

func TestGatesLetOneThroughToEachRecipient(t *testing.T) {
	var g gates
	now := time.Unix(1e9, 0)
	if g.acquire("c", "a", now, true) != 0 || g.acquire("c", "a", now, true) == 0 || g.acquire("c", "b", now, true) != 0 {
		t.Error("one each")
	}
	if g.acquire("c", "d", now, true) == 0 {
		t.Error("a third recipient of a channel gets through")
	}
	if g.acquire("other", "a", now, true) != 0 {
		t.Error("another channel is held up")
	}
	if p := g.release("c", "a", now, true, pause(time.Minute)); p != time.Minute {
		t.Errorf("pause %s", p)
	}
	if w := g.acquire("c", "a", now.Add(time.Second), true); w != 59*time.Second {
		t.Errorf("rests %s", w)
	}
	if g.acquire("c", "a", now.Add(time.Second), false) != 0 {
		t.Error("what has no time is held up by a pause")
	}
	if p := g.release("c", "a", now, true, pause(time.Minute)); p != 2*time.Minute {
		t.Errorf("pause after the second failure %s", p)
	}
}

// TestManyThatWaitLookAtTimesOfTheirOwn: however many wait, they look ten times a second, and less often the longer nothing
// happens.
func TestManyThatWaitLookAtTimesOfTheirOwn(t *testing.T) {
	var g gates
	now := time.Unix(1e9, 0)
	g.acquire("c", "a", now, true)
	last := time.Duration(0)
	for i := range 300 {
		wait := g.acquire("c", "a", now, true)
		if wait < minBusyDelay || i > 0 && wait < last+busySpacing {
			t.Fatalf("%d waits %s after %s", i, wait, last)
		}
		last = wait
	}
	if wait := g.acquire("c", "a", now, false); wait > 2*minBusyDelay {
		t.Errorf("what is sent once waits %s behind all others", wait)
	}
	if wait := g.acquire("c", "a", now.Add(time.Hour), true); wait < 10*time.Minute {
		t.Errorf("after an hour it looks again in %s", wait)
	}
}

func TestGatesForget(t *testing.T) {
	var g gates
	now := time.Unix(1e9, 0)
	for i := range 1000 {
		key := fmt.Sprint(i)
		g.acquire("many", key, now, true)
		g.release("many", key, now, i%2 == 0, pause(time.Minute))
	}
	g.acquire("busy", "", now, true)
	if n := len(g.byChannel["many"].byKey); n != 500 {
		t.Errorf("%d are remembered after what they took", n)
	}
	g.sweep(now.Add(time.Hour))
	if n := len(g.byChannel["many"].byKey); n != 500 {
		t.Errorf("%d are remembered too early", n)
	}
	g.sweep(now.Add(forgetAfter + time.Hour))
	if len(g.byChannel) != 1 || g.byChannel["busy"] == nil {
		t.Errorf("%d are remembered", len(g.byChannel))
	}
}

// TestWhatIsOwedComesFirst: an attempt that is known not to have delivered, and could not be written, is no uncertain one.
func TestWhatIsOwedComesFirst(t *testing.T) {
	st := testkit.OpenStore(t, testkit.SQLiteConfig(t), queue.Migrations(), Migrations())
	ch := fake.NewNotifier(sdk.Descriptor{})
	s, err := New(Config{Store: st, Channel: func(string) (client.Notifier, error) { return ch, nil }})
	if err != nil {
		t.Fatal(err)
	}
	ctx, d := context.Background(), delivery{ID: "ntf_1", MessageID: "ntm_1", Service: "shop", Channel: "notify.ops", State: Sending,
		Attempts: 1, CreatedAt: time.Now().UnixMilli()}
	err = st.Tx(ctx, "store", func(ctx context.Context) error {
		if err := st.Writer(ctx).Create(&message{ID: "ntm_1", Service: "shop", Key: "k", Kind: "k", Title: "t",
			CreatedAt: d.CreatedAt}).Error; err != nil {
			return err
		}
		return st.Writer(ctx).Create(&d).Error
	})
	if err != nil {
		t.Fatal(err)
	}
	s.pending.saveOutcome(d.ID, pendingOutcome{state: Waiting})
	job := &queue.Job{ID: "job_1", Payload: []byte(`{"id":"ntf_1"}`)}
	if _, err := s.runDelivery(ctx, job, nil); err == nil {
		t.Error("the first run is to end with a repetition")
	}
	if _, ok := s.pending.findOutcome(d.ID); ok {
		t.Error("the outcome is still pending")
	}
	if _, err := s.runDelivery(ctx, job, nil); err != nil || len(ch.Sent()) != 1 {
		t.Errorf("%d sent, %v", len(ch.Sent()), err)
	}
}
