package notify_test

import (
	"context"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/patchbay-dev/patchbay/core/internal/testing/fake"
	"github.com/patchbay-dev/patchbay/core/notify"
	"github.com/patchbay-dev/patchbay/core/store"
	sdk "github.com/patchbay-dev/patchbay/sdk/notify"
)

// TestTextsFromElsewhere has words of an upstream in an alert that neither a database nor a channel takes as they are.
func TestTextsFromElsewhere(t *testing.T) {
	forEachDialect(t, func(t *testing.T, st *store.Store) {
		e := newEnv(t, st)
		a := alert("answered \x00 \xff")
		a.Text, a.Fields = "\xc3 said\x00", map[string]any{"answer": "\x00\xff"}
		e.send(a, "notify.ops")
		if d := e.one("notify.ops"); d.State != notify.Delivered {
			t.Fatalf("%+v", d)
		}
		n := e.ops.Sent()[0].Notification
		for _, text := range []string{n.Title.Plain, n.Summary.Plain, string(n.Payload)} {
			if !utf8.ValidString(text) || strings.Contains(text, "\x00") || text == "" {
				t.Errorf("%q", text)
			}
		}
	})
}

func TestMessageWithoutATitle(t *testing.T) {
	e := newEnv(t, sqlite(t))
	e.post(notify.Post{Message: &notify.Message{Kind: "sold_out", Summary: sdk.Text{Plain: "all"}}}, "notify.ops")
	e.settle(1)
	if n := e.ops.Sent()[0].Notification; n.Check() != nil || n.Title.Plain != "sold_out" {
		t.Errorf("%+v", n)
	}
}

// counting is an owner that looks at the other deliveries of a message when one ends.
type counting struct {
	*owner
	sender func() *notify.Sender
	// last are the ends after which none is open.
	last int
}

func (c *counting) Ended(ctx context.Context, d notify.Delivery) error {
	all, err := c.sender().DeliveriesOf(ctx, d.MessageID)
	if err != nil {
		return err
	}
	open := 0
	for _, o := range all {
		if !o.State.Final() {
			open++
		}
	}
	if open == 0 {
		c.store.AfterCommit(ctx, func() {
			c.mu.Lock()
			defer c.mu.Unlock()
			c.last++
		})
	}
	return c.owner.Ended(ctx, d)
}

// TestLastEndIsSeenOnce has many deliveries of one message that end at once: the owner sees of exactly one that it is the
// last.
func TestLastEndIsSeenOnce(t *testing.T) {
	forEachDialect(t, func(t *testing.T, st *store.Store) {
		e := newEnv(t, st)
		e.stop()
		const messages, each = 10, 6
		var refs []string
		for _, name := range []string{"a", "b", "c", "d", "e", "f"} {
			e.channels["notify."+name], refs = fake.NewNotifier(sdk.Descriptor{}), append(refs, "notify."+name)
		}
		own := &counting{owner: &owner{store: st}, sender: func() *notify.Sender { return e.sender }}
		e.serve = own
		for range messages {
			e.post(notify.Post{}, refs...)
		}
		e.start()
		e.settle(messages * each)
		own.heard(t, messages*each)
		own.mu.Lock()
		defer own.mu.Unlock()
		if own.last != messages || len(own.ended) != messages*each {
			t.Errorf("%d were the last of %d messages, %d were told", own.last, messages, len(own.ended))
		}
	})
}

// TestOnceIsNotRepeatedAfterACrash has a channel whose receiver could tell a repetition.
func TestOnceIsNotRepeatedAfterACrash(t *testing.T) {
	e := newEnv(t, sqlite(t), sdk.CapIdempotent)
	e.stop()
	e.post(notify.Post{Once: true}, "notify.ops")
	e.crashed()
	if d := e.one("notify.ops"); d.State != notify.Unknown || len(e.ops.Sent()) != 0 {
		t.Errorf("%d sent, %+v", len(e.ops.Sent()), d)
	}
}
