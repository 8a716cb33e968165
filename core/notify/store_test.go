package notify_test

import (
	"context"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"github.com/patchbay-dev/patchbay/core/event"
	"github.com/patchbay-dev/patchbay/core/internal/testing/testkit"
	"github.com/patchbay-dev/patchbay/core/notify"
	"github.com/patchbay-dev/patchbay/core/plugin/client"
	"github.com/patchbay-dev/patchbay/core/queue"
	"github.com/patchbay-dev/patchbay/core/store"
	sdk "github.com/patchbay-dev/patchbay/sdk/notify"
)

// until is the schema as it was at a version.
func until(t *testing.T, last string) store.Migrations {
	t.Helper()
	m, out := notify.Migrations(), fstest.MapFS{}
	err := fs.WalkDir(m.FS, ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || d.Name() > last+"~" {
			return err
		}
		text, err := fs.ReadFile(m.FS, path)
		out[path] = &fstest.MapFile{Data: text}
		return err
	})
	if err != nil || len(out) == 0 {
		t.Fatalf("%d files, %v", len(out), err)
	}
	return store.Migrations{Module: m.Module, FS: out}
}

// TestDeliveriesOfTheFirstSchema has rows in every state, and jobs for those that have not ended.
func TestDeliveriesOfTheFirstSchema(t *testing.T) {
	testkit.ForEachDialect(t, func(t *testing.T, cfg store.Config) {
		st := testkit.OpenStore(t, cfg, queue.Migrations(), until(t, "0001"))
		now, ctx := time.Now().UnixMilli(), context.Background()
		old, err := queue.New(queue.Config{Store: st, Bus: event.NewBus()})
		if err != nil {
			t.Fatal(err)
		}
		states := []string{"waiting", "sending", "delivered", "failed", "unknown"}
		for i, state := range states {
			id, ended := fmt.Sprintf("ntf_%d", i), now
			if i < 2 {
				ended = 0
			}
			payload := `{"id":"` + id + `","kind":"search.pool_empty","schemaVersion":1,"sentAt":"2026-01-02T03:04:05.000Z","service":"search","severity":"error","status":"raised","title":"t","text":"x","fields":{}}`
			err := st.Tx(ctx, "insert", func(ctx context.Context) error {
				return st.Writer(ctx).Exec("INSERT INTO notify_deliveries VALUES (?, 'notify.ops', 'search', 'search.pool_empty', ?, 't', 'x', ?, ?, 1, 'e', ?, ?, ?)",
					id, int(sdk.Error), payload, state, now, now, ended).Error
			})
			if err != nil {
				t.Fatal(err)
			}
			if i < 2 {
				if _, _, err := old.Submit(ctx, queue.Submission{Type: "notify.deliver", DedupKey: id,
					Payload: map[string]string{"id": id}}); err != nil {
					t.Fatal(err)
				}
			}
		}
		if err := st.Migrate(ctx, queue.Migrations(), notify.Migrations()); err != nil {
			t.Fatal(err)
		}
		e := newEnv(t, st)
		got := e.settle(len(states))["notify.ops"]
		var became []string
		for _, d := range got {
			became = append(became, string(d.State))
		}
		if want := []string{"delivered", "unknown", "delivered", "failed", "unknown"}; !slices.Equal(became, want) {
			t.Errorf("%v, want %v", became, want)
		}
		sent := e.ops.Sent()
		if len(sent) != 1 || sent[0].Notification.ID != "ntf_0" || sent[0].Notification.Title.Plain != "t" ||
			sent[0].Notification.Summary.Plain != "x" ||
			sent[0].Notification.Severity != sdk.Error || !strings.HasPrefix(string(sent[0].Notification.Payload), `{"id":"ntf_0"`) {
			t.Errorf("sent %+v", sent)
		}
		past, err := e.sender.History(ctx, "search", "", 10)
		if err != nil || len(past) != len(states) || past[0].Kind != "search.pool_empty" || len(past[0].Deliveries) != 1 {
			t.Errorf("%+v, %v", past, err)
		}
	})
}

func TestHistoryHasPages(t *testing.T) {
	forEachDialect(t, func(t *testing.T, st *store.Store) {
		e := newEnv(t, st)
		ctx := context.Background()
		var ids []string
		for i := range 7 {
			ids = append(ids, e.post(notify.Post{Message: note(fmt.Sprint(i))}, "notify.ops", "notify.log"))
			e.send(alert("of another service"), "notify.ops")
		}
		e.settle(21)
		slices.Reverse(ids)
		var seen []string
		for before := ""; ; {
			page, err := e.sender.History(ctx, "shop", before, 3)
			if err != nil {
				t.Fatal(err)
			}
			if len(page) == 0 {
				break
			}
			for _, m := range page {
				if len(m.Deliveries) != 2 || m.Service != "shop" || m.Title == "" {
					t.Errorf("%+v", m)
				}
				seen = append(seen, m.ID)
			}
			before = page[len(page)-1].ID
		}
		if !slices.Equal(seen, ids) {
			t.Errorf("%v, want %v", seen, ids)
		}
		if page, err := e.sender.History(ctx, "nobody", "", 0); err != nil || len(page) != 0 {
			t.Errorf("%+v, %v", page, err)
		}
	})
}

func TestLatestByName(t *testing.T) {
	forEachDialect(t, func(t *testing.T, st *store.Store) {
		e := newEnv(t, st)
		e.ops.Fail(nil, sdk.Permanent("REFUSED", "no"))
		for range 2 {
			e.post(notify.Post{To: []notify.Recipient{{Channel: "notify.ops", Name: "chat"}, {Channel: "notify.log"}}})
			testkit.Eventually(t, patience, func() bool {
				last, err := e.sender.Latest(context.Background(), "shop")
				return err == nil && last["chat"].State.Final() && last["log"].State.Final()
			}, "both have ended")
		}
		last, err := e.sender.Latest(context.Background(), "shop")
		if err != nil || len(last) != 2 || last["chat"].State != notify.Failed || last["log"].State != notify.Delivered {
			t.Errorf("%+v, %v", last, err)
		}
	})
}

// purge runs the housekeeping and waits for it.
func (e *env) purge() {
	e.Helper()
	job, _, err := e.queue.Submit(context.Background(), queue.Submission{Type: "notify.purge"})
	if err != nil {
		e.Fatal(err)
	}
	testkit.Eventually(e, patience, func() bool {
		got, err := e.queue.Get(context.Background(), job.ID)
		return err == nil && got.State == queue.Success
	}, "the housekeeping ends")
}

func TestPurgeKeepsWhatIsOpen(t *testing.T) {
	forEachDialect(t, func(t *testing.T, st *store.Store) {
		e := newEnv(t, st)
		e.with(map[string]client.Notifier{"notify.ops": &hanging{}})
		half := e.post(notify.Post{}, "notify.ops", "notify.log")
		e.post(notify.Post{}, "notify.log")
		testkit.Eventually(t, patience, func() bool { return len(e.log.Sent()) == 2 }, "one channel gets both")
		testkit.Eventually(t, patience, func() bool {
			all, err := e.sender.Deliveries(context.Background(), 10)
			return err == nil && len(all) == 3 && all[0].State.Final() && all[1].State.Final()
		}, "that is written")
		e.purge()
		if past, err := e.sender.History(context.Background(), "shop", "", 10); err != nil || len(past) != 2 {
			t.Errorf("too early: %+v, %v", past, err)
		}
		e.ahead.Store(int64(31 * 24 * time.Hour))
		fresh := e.post(notify.Post{}, "notify.log")
		testkit.Eventually(t, patience, func() bool { return len(e.log.Sent()) == 3 }, "a new one")
		e.purge()
		past, err := e.sender.History(context.Background(), "shop", "", 10)
		if err != nil || len(past) != 2 || past[0].ID != fresh || past[1].ID != half || len(past[1].Deliveries) != 1 ||
			past[1].Deliveries[0].Channel != "notify.ops" {
			t.Errorf("%+v, %v", past, err)
		}
	})
}

// TestDeliveryWithoutAJob has one whose job ended while that could not be written.
func TestDeliveryWithoutAJob(t *testing.T) {
	forEachDialect(t, func(t *testing.T, st *store.Store) {
		e := newEnv(t, st)
		e.stop()
		e.post(notify.Post{}, "notify.ops", "notify.log")
		err := st.Tx(context.Background(), "lose a job", func(ctx context.Context) error {
			return st.Writer(ctx).Exec("UPDATE jobs SET state = 'failed', finished_at = 1 WHERE dedup_key = (SELECT id FROM notify_deliveries WHERE channel = 'notify.ops')").Error
		})
		if err != nil {
			t.Fatal(err)
		}
		e.start()
		testkit.Eventually(t, patience, func() bool { return len(e.log.Sent()) == 1 }, "the other one is sent")
		e.purge()
		if n := len(e.ops.Sent()); n != 0 {
			t.Fatalf("%d were sent too early", n)
		}
		e.ahead.Store(int64(2 * time.Hour))
		e.purge()
		e.settle(2)
		e.purge()
		if len(e.ops.Sent()) != 1 || len(e.log.Sent()) != 1 {
			t.Errorf("%d and %d were sent", len(e.ops.Sent()), len(e.log.Sent()))
		}
	})
}

// TestAlertIsRaisedOnce has several that find the same at once.
func TestAlertIsRaisedOnce(t *testing.T) {
	forEachDialect(t, func(t *testing.T, st *store.Store) {
		e := newEnv(t, st)
		var all sync.WaitGroup
		var told [6]bool
		for i := range told {
			all.Go(func() {
				var err error
				if told[i], err = e.sender.Raise(context.Background(), alert("a"), time.Hour, []string{"notify.ops"}); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		n := 0
		for _, yes := range told {
			if yes {
				n++
			}
		}
		if n != 1 {
			t.Errorf("told %d times", n)
		}
	})
}
