package notify_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"sync"
	"testing"

	"github.com/patchbay-dev/patchbay/core/internal/testing/testkit"
	"github.com/patchbay-dev/patchbay/core/notify"
	"github.com/patchbay-dev/patchbay/core/plugin/client"
	"github.com/patchbay-dev/patchbay/core/queue"
	"github.com/patchbay-dev/patchbay/core/store"
	sdk "github.com/patchbay-dev/patchbay/sdk/notify"
)

// owner is a notify.Owner and the settings of channels: it does as it is told and remembers what it hears.
type owner struct {
	mu sync.Mutex
	// targets are errors of Target, ends of Ended: one for each call, then none.
	targets, ends []error
	unwanted      error
	refuse        bool
	// calls are all calls of Ended, ended those that were committed.
	calls int
	ended []notify.Delivery
	// gone counts the recipients that do not exist any more.
	gone  int
	asked int
	store *store.Store
}

func (o *owner) Target(_ context.Context, r notify.Recipient) (sdk.Target, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.targets) > 0 {
		err := o.targets[0]
		o.targets = o.targets[1:]
		if err != nil {
			return sdk.Target{}, err
		}
	}
	return sdk.NewTarget(sdk.ChatTarget{ChatID: "to " + r.Key}, "secret")
}

func (o *owner) AlertRecipients(_ context.Context, refs []string) (to []notify.Recipient, err error) {
	for _, ref := range refs {
		to = append(to, notify.Recipient{Channel: ref})
	}
	return to, nil
}

func (o *owner) Locale() string { return "zh" }

func (o *owner) CheckEnabled(context.Context, string, notify.Recipient) error { return o.unwanted }

func (o *owner) RecipientGone(ctx context.Context, _ notify.Recipient) error {
	o.store.AfterCommit(ctx, func() {
		o.mu.Lock()
		defer o.mu.Unlock()
		o.gone++
	})
	return nil
}

func (o *owner) Wanted(context.Context, string) (bool, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.asked++
	return !o.refuse, nil
}

func (o *owner) PayloadFor(raw json.RawMessage, _ string) (json.RawMessage, error) { return raw, nil }

func (o *owner) ShortenPayload(raw json.RawMessage, _ int64) (json.RawMessage, error) {
	return raw, nil
}

func (o *owner) Ended(ctx context.Context, d notify.Delivery) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.calls++
	if !o.store.InTx(ctx) {
		return errors.New("there is no transaction")
	}
	if len(o.ends) > 0 {
		err := o.ends[0]
		o.ends = o.ends[1:]
		if err != nil {
			return err
		}
	}
	o.store.AfterCommit(ctx, func() {
		o.mu.Lock()
		defer o.mu.Unlock()
		o.ended = append(o.ended, d)
	})
	return nil
}

// heard waits for n ends that were committed, and returns all.
func (o *owner) heard(t *testing.T, n int) (ended []notify.Delivery, gone int, calls int) {
	t.Helper()
	testkit.Eventually(t, patience, func() bool {
		o.mu.Lock()
		defer o.mu.Unlock()
		ended, gone, calls = slices.Clone(o.ended), o.gone, o.calls
		return len(ended) >= n
	}, "the owner hears of the ends")
	return ended, gone, calls
}

// owned starts the sender anew with an owner of the messages of the service "shop".
func (e *env) owned(o *owner) *owner {
	e.Helper()
	o.store = e.store
	e.owner = o
	e.start()
	return o
}

func note(title string) *notify.Message {
	return &notify.Message{Kind: "sold_out", Version: 1, Severity: sdk.Info, Title: sdk.Text{Plain: title},
		Payload: []byte(`{"id":"","kind":"sold_out"}`)}
}

// post sends a message of the service "shop" to channels.
func (e *env) post(p notify.Post, channels ...string) string {
	e.Helper()
	p.Service = "shop"
	if p.Message == nil {
		p.Message = note("Sold out")
	}
	for _, ref := range channels {
		p.To = append(p.To, notify.Recipient{Channel: ref})
	}
	id, _, err := e.sender.Post(context.Background(), p)
	if err != nil {
		e.Fatal(err)
	}
	return id
}

// one waits until the only delivery there is has ended.
func (e *env) one(channel string) notify.Delivery {
	e.Helper()
	return e.settle(1)[channel][0]
}

// with starts the sender anew with other channels.
func (e *env) with(channels map[string]client.Notifier) {
	e.Helper()
	e.stop()
	for ref, ch := range channels {
		e.channels[ref] = ch
	}
	e.start()
}

func sqlite(t *testing.T) *store.Store {
	t.Helper()
	return testkit.OpenStore(t, testkit.SQLiteConfig(t), queue.Migrations(), notify.Migrations())
}
