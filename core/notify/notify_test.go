package notify_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/patchbay-dev/patchbay/core/event"
	"github.com/patchbay-dev/patchbay/core/internal/testing/fake"
	"github.com/patchbay-dev/patchbay/core/internal/testing/testkit"
	"github.com/patchbay-dev/patchbay/core/notify"
	"github.com/patchbay-dev/patchbay/core/plugin/client"
	"github.com/patchbay-dev/patchbay/core/queue"
	"github.com/patchbay-dev/patchbay/core/store"
	sdk "github.com/patchbay-dev/patchbay/sdk/notify"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const patience = 20 * time.Second

// env is a sender with two channels and a queue.
type env struct {
	*testing.T
	store    *store.Store
	sender   *notify.Sender
	queue    *queue.Queue
	bus      *event.Bus
	channels map[string]client.Notifier
	ops, log *fake.Notifier
	// ahead is what the sender's clock is ahead of the real one.
	ahead atomic.Int64
	owner *owner
	// serve, if set, is served in place of owner.
	serve notify.Owner
	stop  func()
}

func newEnv(t *testing.T, st *store.Store, capabilities ...string) *env {
	t.Helper()
	e := &env{T: t, store: st, bus: event.NewBus(), ops: fake.NewNotifier(sdk.Descriptor{Capabilities: capabilities}),
		log: fake.NewNotifier(sdk.Descriptor{})}
	e.channels = map[string]client.Notifier{"notify.ops": e.ops, "notify.log": e.log}
	e.start()
	return e
}

// start makes sender and queue, in place of those before.
func (e *env) start() {
	e.Helper()
	if e.stop != nil {
		e.stop()
	}
	var err error
	e.sender, err = notify.New(notify.Config{
		Store: e.store, Bus: e.bus,
		Channel: func(ref string) (client.Notifier, error) {
			if ch := e.channels[ref]; ch != nil {
				return ch, nil
			}
			return nil, fmt.Errorf("there is no instance %s", ref)
		},
		Now:     func() time.Time { return time.Now().Add(time.Duration(e.ahead.Load())) },
		Backoff: func(attempt int) time.Duration { return time.Duration(attempt) * 20 * time.Millisecond },
	})
	if err != nil {
		e.Fatal(err)
	}
	e.queue, err = queue.New(queue.Config{
		Store: e.store, Bus: e.bus, Handlers: e.sender.Jobs(), Schedules: e.sender.Schedules(), NoSchedules: true, Poll: 20 * time.Millisecond,
		Grace: 100 * time.Millisecond, Workers: 16,
	})
	if err != nil {
		e.Fatal(err)
	}
	e.sender.Use(e.queue)
	switch {
	case e.serve != nil:
		e.sender.Serve("shop", e.serve)
	case e.owner != nil:
		e.sender.Serve("shop", e.owner)
		e.sender.UseChannels(e.owner)
	}
	if err := e.queue.Start(context.Background()); err != nil {
		e.Fatal(err)
	}
	q := e.queue
	e.stop = sync.OnceFunc(func() {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		if err := q.Stop(ctx); err != nil {
			e.Error(err)
		}
	})
	e.Cleanup(e.stop)
}

func alert(title string) notify.Alert {
	return notify.Alert{Kind: "pool_empty", Severity: sdk.Error, Service: "search", Title: title, Text: "text",
		Fields: map[string]any{"backend": "search.web"}}
}

func (e *env) send(a notify.Alert, channels ...string) {
	e.Helper()
	if err := e.sender.Send(context.Background(), a, channels); err != nil {
		e.Fatal(err)
	}
}

// settle waits until n deliveries are final and returns them by channel, oldest first.
func (e *env) settle(n int) map[string][]notify.Delivery {
	e.Helper()
	out := map[string][]notify.Delivery{}
	testkit.Eventually(e, patience, func() bool {
		all, err := e.sender.Deliveries(context.Background(), 100)
		if err != nil {
			e.Fatal(err)
		}
		clear(out)
		final := 0
		for i := len(all) - 1; i >= 0; i-- {
			if all[i].State.Final() {
				final++
			}
			out[all[i].Channel] = append(out[all[i].Channel], all[i])
		}
		return final == n
	}, fmt.Sprintf("%d deliveries end", n))
	return out
}

func forEachDialect(t *testing.T, test func(t *testing.T, st *store.Store)) {
	testkit.ForEachDialect(t, func(t *testing.T, cfg store.Config) {
		test(t, testkit.OpenStore(t, cfg, queue.Migrations(), notify.Migrations()))
	})
}

func TestEveryChannelGetsItOnce(t *testing.T) {
	forEachDialect(t, func(t *testing.T, st *store.Store) {
		e := newEnv(t, st)
		news := e.bus.Subscribe(notify.Topic)
		defer news.Close()
		e.send(alert("The pool is empty"), "notify.ops", "notify.log")
		got := e.settle(2)
		for ref, ch := range map[string]*fake.Notifier{"notify.ops": e.ops, "notify.log": e.log} {
			sent := ch.Sent()
			if len(sent) != 1 || len(got[ref]) != 1 || got[ref][0].State != notify.Delivered || got[ref][0].Attempts != 1 {
				t.Fatalf("%s: %+v, %+v", ref, sent, got[ref])
			}
			n := sent[0].Notification
			if err := n.Check(); err != nil || n.Kind != "search.pool_empty" || n.Severity != sdk.Error || n.Title.Plain != "The pool is empty" {
				t.Errorf("%s got %+v: %v", ref, n, err)
			}
			var p notify.Payload
			if err := json.Unmarshal(n.Payload, &p); err != nil || p.ID != n.ID || p.Status != "raised" || p.Severity != "error" ||
				p.Fields["backend"] != "search.web" {
				t.Errorf("payload %s: %v", n.Payload, err)
			}
		}
		if ev := <-news.Events(); ev.Type != "search.pool_empty" {
			t.Errorf("event %+v", ev)
		}
	})
}

func TestTemporaryFailuresAreTriedAgainWithTheSameID(t *testing.T) {
	forEachDialect(t, func(t *testing.T, st *store.Store) {
		e := newEnv(t, st)
		e.ops.Fail(sdk.Temporary(0, "BUSY", "busy"), sdk.Temporary(300*time.Millisecond, "BUSY", "busy"), sdk.Temporary(0, "BUSY", "busy"))
		began := time.Now()
		e.send(alert("a"), "notify.ops", "notify.log")
		got := e.settle(2)
		sent := e.ops.Sent()
		if len(sent) != 4 || got["notify.ops"][0].State != notify.Delivered || got["notify.ops"][0].Attempts != 4 {
			t.Fatalf("%d attempts, %+v", len(sent), got["notify.ops"])
		}
		for _, s := range sent {
			if s.Notification.ID != sent[0].Notification.ID || !s.Notification.SentAt.Equal(sent[0].Notification.SentAt) {
				t.Errorf("a repetition differs: %+v", s.Notification)
			}
		}
		if took := time.Since(began); took < 300*time.Millisecond {
			t.Errorf("the wait that the channel asked for was not kept: all over after %s", took)
		}
		if n := len(e.log.Sent()); n != 1 {
			t.Errorf("the other channel got %d", n)
		}
	})
}

func TestWhatIsNotTriedAgain(t *testing.T) {
	for name, tt := range map[string]struct {
		err   error
		state notify.State
		says  string
	}{
		"refused":          {sdk.Permanent("GONE", "the receiver wants no more"), notify.Failed, "wants no more"},
		"unknown":          {sdk.Unknown("the call ended"), notify.Unknown, "the call ended"},
		"not told":         {errors.New("odd"), notify.Unknown, "odd"},
		"too long a pause": {sdk.Temporary(48*time.Hour, "BUSY", "come back much later"), notify.Failed, "within a day"},
	} {
		t.Run(name, func(t *testing.T) {
			e := newEnv(t, testkit.OpenStore(t, testkit.SQLiteConfig(t), queue.Migrations(), notify.Migrations()))
			e.ops.Fail(tt.err)
			a := alert("a")
			a.Time = time.Now().Add(-2 * time.Hour)
			e.send(a, "notify.ops")
			d := e.settle(1)["notify.ops"][0]
			if d.State != tt.state || !strings.Contains(d.Error, tt.says) || len(e.ops.Sent()) != 1 || d.EndedAt.IsZero() {
				t.Errorf("%d attempts, %+v", len(e.ops.Sent()), d)
			}
		})
	}
}

func TestUnknownOutcomeIsRepeatedWhereTheReceiverCanTell(t *testing.T) {
	e := newEnv(t, testkit.OpenStore(t, testkit.SQLiteConfig(t), queue.Migrations(), notify.Migrations()), sdk.CapIdempotent)
	e.ops.Fail(sdk.Unknown("the call ended"))
	e.send(alert("a"), "notify.ops")
	if d := e.settle(1)["notify.ops"][0]; d.State != notify.Delivered || d.Attempts != 2 {
		t.Errorf("%+v", d)
	}
}

// TestAfterACrash has deliveries that were being sent when the core ended.
func TestAfterACrash(t *testing.T) {
	forEachDialect(t, func(t *testing.T, st *store.Store) {
		e := newEnv(t, st, sdk.CapIdempotent)
		// Both channels are gone, so that the deliveries wait.
		e.stop()
		e.channels = map[string]client.Notifier{}
		e.start()
		e.send(alert("a"), "notify.ops", "notify.log")
		e.stop()
		err := st.Tx(context.Background(), "as a crash leaves it", func(ctx context.Context) error {
			w := st.Writer(ctx)
			return errors.Join(w.Exec("UPDATE notify_deliveries SET state = 'sending', attempts = 1, error = ''").Error,
				w.Exec("UPDATE jobs SET state = 'running', owner = 'dead', heartbeat_at = 1 WHERE type = 'notify.deliver'").Error)
		})
		if err != nil {
			t.Fatal(err)
		}
		// At first the channels are still not there: that they were being used is not forgotten.
		e.start()
		testkit.Eventually(t, patience, func() bool {
			var n int64
			err := st.DB(context.Background()).Raw("SELECT COUNT(*) FROM notify_deliveries WHERE error <> ''").Scan(&n).Error
			return err == nil && n == 2
		}, "both are looked at")
		e.stop()
		e.channels = map[string]client.Notifier{"notify.ops": e.ops, "notify.log": e.log}
		e.start()
		got := e.settle(2)
		if d := got["notify.ops"][0]; d.State != notify.Delivered || len(e.ops.Sent()) != 1 {
			t.Errorf("where the receiver can tell: %d sent, %+v", len(e.ops.Sent()), d)
		}
		if d := got["notify.log"][0]; d.State != notify.Unknown || len(e.log.Sent()) != 0 {
			t.Errorf("where it cannot: %d sent, %+v", len(e.log.Sent()), d)
		}
	})
}

// hanging is a channel that answers nothing.
type hanging struct{ fake.Notifier }

func (h *hanging) Describe() (*sdk.Descriptor, error) { return &sdk.Descriptor{}, nil }

func (h *hanging) Send(ctx context.Context, _ *sdk.Notification, _ sdk.Target) (*sdk.Receipt, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

func TestDeadChannelDelaysNoOther(t *testing.T) {
	e := newEnv(t, testkit.OpenStore(t, testkit.SQLiteConfig(t), queue.Migrations(), notify.Migrations()))
	e.stop()
	e.channels["notify.ops"] = &hanging{}
	e.start()
	for i := range 8 {
		e.send(alert(fmt.Sprint(i)), "notify.ops", "notify.log")
	}
	testkit.Eventually(t, 15*time.Second, func() bool { return len(e.log.Sent()) == 8 }, "the living channel gets all")
}

func TestMissingChannelIsWaitedFor(t *testing.T) {
	e := newEnv(t, testkit.OpenStore(t, testkit.SQLiteConfig(t), queue.Migrations(), notify.Migrations()))
	e.send(alert("a"), "notify.other")
	testkit.Eventually(t, patience, func() bool {
		all, err := e.sender.Deliveries(context.Background(), 1)
		return err == nil && len(all) == 1 && all[0].Error != ""
	}, "an attempt fails")
	e.ahead.Store(int64(26 * time.Hour))
	if d := e.settle(1)["notify.other"][0]; d.State != notify.Failed || !strings.Contains(d.Error, "within a day") {
		t.Errorf("%+v", d)
	}
}

func TestSendIsPartOfTheTransaction(t *testing.T) {
	e := newEnv(t, testkit.OpenStore(t, testkit.SQLiteConfig(t), queue.Migrations(), notify.Migrations()))
	undone := errors.New("undone")
	err := e.store.Tx(context.Background(), "test", func(ctx context.Context) error {
		if err := e.sender.Send(ctx, alert("a"), []string{"notify.ops"}); err != nil {
			return err
		}
		return undone
	})
	if !errors.Is(err, undone) {
		t.Fatal(err)
	}
	all, err := e.sender.Deliveries(context.Background(), 10)
	if err != nil || len(all) != 0 {
		t.Errorf("%v, %v", all, err)
	}
	if jobs, _, err := e.queue.List(context.Background(), queue.Filter{}, "", 0); err != nil || len(jobs) != 0 {
		t.Errorf("%v, %v", jobs, err)
	}
}
