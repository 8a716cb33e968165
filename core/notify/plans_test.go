package notify_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/patchbay-dev/patchbay/core/event"
	"github.com/patchbay-dev/patchbay/core/internal/testing/fake"
	"github.com/patchbay-dev/patchbay/core/internal/testing/testkit"
	"github.com/patchbay-dev/patchbay/core/notify"
	"github.com/patchbay-dev/patchbay/core/plugin/client"
	"github.com/patchbay-dev/patchbay/core/queue"
	"github.com/patchbay-dev/patchbay/core/store"
	sdk "github.com/patchbay-dev/patchbay/sdk/notify"
)

// fillMessages makes as many messages as of a month, with two deliveries each, of which few are open and few are old. Most are of the
// service "shop".
func fillMessages(t *testing.T, st *store.Store) {
	t.Helper()
	values := func(text string) string {
		return strings.ReplaceAll(text, "?", fmt.Sprintf("(CAST(%d AS BIGINT) - 61000 * (40000 - i))", time.Now().Add(-48*time.Hour).UnixMilli()))
	}
	testkit.FillTable(t, st, "notify_messages",
		"id, service, key, kind, schema, version, severity, title, summary, detail, rich, payload, created_at",
		values("'ntm_' || (100000 + i), CASE WHEN i % 10 = 0 THEN 'other' ELSE 'shop' END, 'k' || i, 'sold_out', '', 1, 1, 'Sold out', '', '', '{}', '{}', ?"), 20_000)
	testkit.FillTable(t, st, "notify_deliveries",
		"id, message_id, service, channel, name, recipient, once, state, attempts, error, created_at, attempted_at, ended_at",
		values("'ntf_' || (100000 + i), 'ntm_' || (100000 + i / 2), CASE WHEN i % 10 = 0 THEN 'other' ELSE 'shop' END, 'notify.ops', 'name' || (i % 4), '', FALSE, CASE WHEN i % 4000 = 0 THEN 'waiting' ELSE 'delivered' END, 1, '', ?, ?, CASE WHEN i % 4000 = 0 THEN 0 ELSE ? END"), 40_000)
	testkit.Analyze(t, st)
}

// TestNoQueryScans: with many messages and deliveries, every list, look-up and job finds its rows by an index. There are no more alerts
// than there are conditions that services tell of.
func TestNoQueryScans(t *testing.T) {
	forEachDialect(t, func(t *testing.T, st *store.Store) {
		statements := testkit.WatchStatements(t, st)
		bus := event.NewBus()
		t.Cleanup(bus.Close)
		channel := fake.NewNotifier(sdk.Descriptor{})
		s, err := notify.New(notify.Config{Store: st, Channel: func(string) (client.Notifier, error) { return channel, nil }})
		testkit.Must(t, err)
		q, err := queue.New(queue.Config{Store: st, Bus: bus, Handlers: s.Jobs()})
		testkit.Must(t, err)
		s.Use(q)
		fillMessages(t, st)
		ctx := t.Context()
		// run runs a job of the sender, which may have to be run again.
		run := func(kind, payload string) func() error {
			return func() error {
				for _, h := range s.Jobs() {
					if h.Type == kind {
						_, err := h.Run(ctx, &queue.Job{ID: "job", Payload: []byte(payload)}, nil)
						return err
					}
				}
				return fmt.Errorf("there is no job %s", kind)
			}
		}
		raised := alert("a")
		statements.CheckScans(t, st, map[string]func() error{
			"deliveries":       func() error { _, err := s.Deliveries(ctx, 50); return err },
			"history":          func() error { _, err := s.History(ctx, "shop", "", 50); return err },
			"older history":    func() error { _, err := s.History(ctx, "other", "ntm_110000", 50); return err },
			"deliveries of it": func() error { _, err := s.DeliveriesOf(ctx, "ntm_110000"); return err },
			"newest by name":   func() error { _, err := s.Latest(ctx, "shop"); return err },
			"active alerts":    func() error { _, err := s.Active(ctx, "service7"); return err },
			"raised alert":     func() error { _, err := s.Raise(ctx, raised, time.Hour, []string{"notify.ops"}); return err },
			"resolved alert":   func() error { _, err := s.Resolve(ctx, raised, []string{"notify.ops"}); return err },
			"message": func() error {
				_, _, err := s.Post(ctx, notify.Post{Service: "shop", Key: "new", Message: note("Sold out"),
					To: []notify.Recipient{{Channel: "notify.ops"}}})
				return err
			},
			"waiting": func() error {
				wait, cancel := context.WithCancel(ctx)
				cancel()
				_, err := s.Wait(wait, "ntm_110000")
				return err
			},
			"attempt": run("notify.deliver", `{"id":"ntf_104000"}`),
			"purge":   run("notify.purge", ""),
		}, "notify_messages", "notify_deliveries", "d")
	})
}
