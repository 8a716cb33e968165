package notify_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/patchbay-dev/patchbay/core/internal/testing/fake"
	"github.com/patchbay-dev/patchbay/core/internal/testing/testkit"
	"github.com/patchbay-dev/patchbay/core/notify"
	"github.com/patchbay-dev/patchbay/core/plugin/client"
	"github.com/patchbay-dev/patchbay/core/store"
	sdk "github.com/patchbay-dev/patchbay/sdk/notify"
)

func TestPostWithAKeyIsStoredOnce(t *testing.T) {
	forEachDialect(t, func(t *testing.T, st *store.Store) {
		e := newEnv(t, st)
		const at = 6
		ids, fresh, errs := make([]string, at), make([]bool, at), make([]error, at)
		var all sync.WaitGroup
		for i := range at {
			all.Go(func() {
				// The transactions overlap: none ends before all have begun to post, or waited for that long enough.
				errs[i] = st.Tx(context.Background(), "post", func(ctx context.Context) (err error) {
					ids[i], fresh[i], err = e.sender.Post(ctx,
						notify.Post{Service: "shop", Key: "k", Message: note("a"), To: []notify.Recipient{{Channel: "notify.ops"}}})
					return err
				})
			})
		}
		all.Wait()
		if err := errors.Join(errs...); err != nil {
			t.Fatal(err)
		}
		if len(slices.Compact(slices.Clone(ids))) != 1 || ids[0] == "" {
			t.Errorf("ids %v", ids)
		}
		n := 0
		for _, f := range fresh {
			if f {
				n++
			}
		}
		e.settle(1)
		if n != 1 || len(e.ops.Sent()) != 1 {
			t.Errorf("%d are fresh, %d were sent", n, len(e.ops.Sent()))
		}
		// The same key of another service is another message, and so is another key.
		for _, p := range []notify.Post{{Service: "mall", Key: "k"}, {Service: "shop", Key: "l"}, {Service: "shop"}, {Service: "shop"}} {
			p.Message = note("b")
			if _, fresh, err := e.sender.Post(context.Background(), p); err != nil || !fresh {
				t.Errorf("%+v: %t, %v", p, fresh, err)
			}
		}
	})
}

func TestPostsThatCannotBeStored(t *testing.T) {
	e := newEnv(t, sqlite(t))
	for _, p := range []notify.Post{{Message: note("a")}, {Service: "shop"}} {
		if _, _, err := e.sender.Post(context.Background(), p); err == nil {
			t.Errorf("%+v is stored", p)
		}
	}
}

func TestOwnerSaysWhereItGoes(t *testing.T) {
	for name, tt := range map[string]struct {
		owner *owner
		state notify.State
		sent  int
		says  string
	}{
		"nobody":               {&owner{targets: []error{notify.NoRecipient("nobody is there")}}, notify.Failed, 0, "nobody is there"},
		"not now":              {&owner{targets: []error{errors.New("busy"), errors.New("busy")}}, notify.Delivered, 1, ""},
		"no longer wanted":     {&owner{refuse: true}, notify.Superseded, 0, ""},
		"unwanted for a cause": {&owner{unwanted: notify.NoRecipient("it is switched off")}, notify.Failed, 0, "switched off"},
	} {
		t.Run(name, func(t *testing.T) {
			forEachDialect(t, func(t *testing.T, st *store.Store) {
				e := newEnv(t, st)
				own := e.owned(&owner{targets: tt.owner.targets, refuse: tt.owner.refuse, unwanted: tt.owner.unwanted})
				id := e.post(notify.Post{To: []notify.Recipient{{Channel: "notify.ops", Name: "chat", Key: "7"}}})
				d := e.one("notify.ops")
				if d.State != tt.state || !strings.Contains(d.Error, tt.says) || tt.says == "" && d.Error != "" || d.Name != "chat" || d.Key != "7" {
					t.Errorf("%+v", d)
				}
				sent := e.ops.Sent()
				if len(sent) != tt.sent || tt.sent > 0 && (string(sent[0].Target.JSON) != `{"chatId":"to 7"}` || sent[0].Target.Secret != "secret") {
					t.Errorf("sent %+v", sent)
				}
				if ended, _, _ := own.heard(t, 1); len(ended) != 1 || ended[0].MessageID != id || ended[0].State != tt.state {
					t.Errorf("heard %+v", ended)
				}
			})
		})
	}
}

// TestWhatIsSentOnceIsAlwaysWanted has somebody who tries a channel that is switched off.
func TestWhatIsSentOnceIsAlwaysWanted(t *testing.T) {
	e := newEnv(t, sqlite(t))
	own := e.owned(&owner{refuse: true})
	e.post(notify.Post{Once: true}, "notify.ops")
	if d := e.one("notify.ops"); d.State != notify.Delivered || own.asked != 0 {
		t.Errorf("asked %d times, %+v", own.asked, d)
	}
}

// TestEndIsToldInItsTransaction has an owner that fails at first: nothing is sent again, and what became of it stays true.
func TestEndIsToldInItsTransaction(t *testing.T) {
	fails := errors.New("the owner fails")
	for name, tt := range map[string]struct {
		err   error
		state notify.State
	}{
		"delivered": {nil, notify.Delivered},
		"refused":   {sdk.Permanent("REFUSED", "no"), notify.Failed},
		"gone":      {sdk.Permanent(sdk.ReasonGone, "gone"), notify.Failed},
		"unknown":   {sdk.Unknown("who knows"), notify.Unknown},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			forEachDialect(t, func(t *testing.T, st *store.Store) {
				t.Parallel()
				e := newEnv(t, st)
				own := e.owned(&owner{ends: []error{fails}})
				e.ops.Fail(tt.err)
				e.post(notify.Post{}, "notify.ops")
				d := e.one("notify.ops")
				ended, gone, calls := own.heard(t, 1)
				if d.State != tt.state || len(e.ops.Sent()) != 1 || calls != 2 || len(ended) != 1 || ended[0].State != tt.state ||
					(gone == 1) != (name == "gone") {
					t.Errorf("%+v, sent %d, called %d times, heard %+v, %d are gone", d, len(e.ops.Sent()), calls, ended, gone)
				}
			})
		})
	}
}

func TestOnceIsTriedOnce(t *testing.T) {
	forEachDialect(t, func(t *testing.T, st *store.Store) {
		e := newEnv(t, st)
		e.ops.Fail(sdk.Temporary(time.Hour, "BUSY", "come back in an hour"), sdk.Temporary(0, "BUSY", "still busy"))
		e.post(notify.Post{}, "notify.ops")
		testkit.Eventually(t, patience, func() bool { return len(e.ops.Sent()) == 1 }, "the channel rests")
		id := e.post(notify.Post{Once: true}, "notify.ops")
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		got, err := e.sender.Wait(ctx, id)
		if err != nil || len(got) != 1 || got[0].State != notify.Failed || got[0].Attempts != 1 || got[0].Error != "still busy" ||
			len(e.ops.Sent()) != 2 {
			t.Errorf("%d sent, %+v, %v", len(e.ops.Sent()), got, err)
		}
	})
}

// crashed makes deliveries look as if the core had ended while they were sent.
func (e *env) crashed() {
	e.Helper()
	e.stop()
	err := e.store.Tx(context.Background(), "as a crash leaves it", func(ctx context.Context) error {
		w := e.store.Writer(ctx)
		return errors.Join(w.Exec("UPDATE notify_deliveries SET state = 'sending', attempts = 1").Error,
			w.Exec("UPDATE jobs SET state = 'running', owner = 'dead', heartbeat_at = 1 WHERE type = 'notify.deliver'").Error)
	})
	if err != nil {
		e.Fatal(err)
	}
	e.start()
}

// TestUncertainAfterACrashStaysUncertain has sends that a crash interrupted and that cannot be tried again since.
func TestUncertainAfterACrashStaysUncertain(t *testing.T) {
	absent := func(e *env) { e.channels = map[string]client.Notifier{} }
	for name, tt := range map[string]struct {
		once         bool
		capabilities []string
		meanwhile    func(e *env)
	}{
		"once":                             {once: true, meanwhile: func(*env) {}},
		"once, and the channel is gone":    {once: true, meanwhile: absent},
		"the channel stays gone for a day": {meanwhile: func(e *env) { absent(e); e.ahead.Store(int64(26 * time.Hour)) }},
		"nobody is there to get it any more": {capabilities: []string{sdk.CapIdempotent}, meanwhile: func(e *env) {
			e.owner = &owner{store: e.store, targets: []error{notify.NoRecipient("nobody is there")}}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			e := newEnv(t, sqlite(t), tt.capabilities...)
			e.stop()
			e.post(notify.Post{Once: tt.once}, "notify.ops")
			tt.meanwhile(e)
			e.crashed()
			if d := e.one("notify.ops"); d.State != notify.Unknown || len(e.ops.Sent()) != 0 {
				t.Errorf("%d sent, %+v", len(e.ops.Sent()), d)
			}
		})
	}
}

// panicking is a channel that panics once.
type panicking struct {
	*fake.Notifier
	once sync.Once
}

func (p *panicking) Send(ctx context.Context, n *sdk.Notification, to sdk.Target) (*sdk.Receipt, error) {
	p.once.Do(func() { panic("a defect") })
	return p.Notifier.Send(ctx, n, to)
}

func TestPanicHoldsUpNothing(t *testing.T) {
	e := newEnv(t, sqlite(t))
	e.with(map[string]client.Notifier{"notify.ops": &panicking{Notifier: e.ops}})
	e.post(notify.Post{}, "notify.ops")
	if d := e.one("notify.ops"); d.State != notify.Unknown {
		t.Errorf("%+v", d)
	}
	e.post(notify.Post{}, "notify.ops")
	e.settle(2)
	if len(e.ops.Sent()) != 1 {
		t.Errorf("%d were sent", len(e.ops.Sent()))
	}
}

func TestMessageThatIsGone(t *testing.T) {
	e := newEnv(t, sqlite(t))
	e.stop()
	e.post(notify.Post{}, "notify.ops")
	err := e.store.Tx(context.Background(), "lose the message", func(ctx context.Context) error {
		return e.store.Writer(ctx).Exec("DELETE FROM notify_messages").Error
	})
	if err != nil {
		t.Fatal(err)
	}
	e.start()
	if d := e.one("notify.ops"); d.State != notify.Failed || !strings.Contains(d.Error, "message") {
		t.Errorf("%+v", d)
	}
}

func TestWaitEnds(t *testing.T) {
	e := newEnv(t, sqlite(t))
	e.with(map[string]client.Notifier{"notify.ops": &hanging{}})
	id := e.post(notify.Post{}, "notify.ops", "notify.log")
	ctx, cancel := context.WithTimeout(context.Background(), 300*time.Millisecond)
	defer cancel()
	got, err := e.sender.Wait(ctx, id)
	if err != nil || len(got) != 2 || got[0].State.Final() {
		t.Errorf("when the context ends: %+v, %v", got, err)
	}
	ctx, cancel = context.WithTimeout(context.Background(), patience)
	defer cancel()
	id = e.post(notify.Post{}, "notify.log", "notify.log")
	got, err = e.sender.Wait(ctx, id)
	if err != nil || ctx.Err() != nil || len(got) != 2 || got[0].State != notify.Delivered || got[1].State != notify.Delivered {
		t.Errorf("when all have ended: %+v, %v", got, err)
	}
	if got, err = e.sender.Wait(ctx, "ntm_none"); err != nil || len(got) != 0 {
		t.Errorf("for a message that is not there: %+v, %v", got, err)
	}
}

// TestSlowAndDeadChannelsDelayNoOther has a channel with many recipients that hang, as when a push service is down.
func TestSlowAndDeadChannelsDelayNoOther(t *testing.T) {
	e := newEnv(t, sqlite(t))
	e.stop()
	var dead []string
	for i := range 6 {
		ref := fmt.Sprintf("notify.dead%d", i)
		e.channels[ref], dead = &hanging{}, append(dead, ref)
	}
	e.channels["notify.many"] = &hanging{}
	e.start()
	var many []notify.Recipient
	for i := range 40 {
		many = append(many, notify.Recipient{Channel: "notify.many", Key: fmt.Sprint(i)})
	}
	e.post(notify.Post{To: many})
	for range 3 {
		e.post(notify.Post{}, dead...)
	}
	for range 5 {
		e.post(notify.Post{}, "notify.log")
	}
	testkit.Eventually(t, 10*time.Second, func() bool { return len(e.log.Sent()) == 5 }, "the living channel gets all")
	// Those that wait do not keep the database busy.
	events := func() (n int64) {
		if err := e.store.DB(context.Background()).Raw("SELECT COUNT(*) FROM job_events").Scan(&n).Error; err != nil {
			t.Fatal(err)
		}
		return n
	}
	before, began := events(), time.Now()
	testkit.Eventually(t, patience, func() bool { return time.Since(began) > 2*time.Second }, "some time passes")
	if rate := float64(events()-before) / time.Since(began).Seconds(); rate > 60 {
		t.Errorf("%.0f events a second", rate)
	}
}
