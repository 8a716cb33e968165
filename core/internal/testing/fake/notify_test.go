package fake_test

import (
	"context"
	"testing"

	"github.com/patchbay-dev/patchbay/core/internal/testing/fake"
	"github.com/patchbay-dev/patchbay/sdk/notify"
	"github.com/patchbay-dev/patchbay/sdk/schema"
)

func TestNotifier(t *testing.T) {
	n := fake.NewNotifier(notify.Descriptor{MaxTextBytes: 7})
	busy := notify.Temporary(0, "BUSY", "busy")
	n.Fail(busy, nil)
	to := notify.Target{JSON: []byte(`{}`)}
	for i, want := range []notify.Outcome{notify.Retryable, notify.Delivered, notify.Delivered} {
		receipt, err := n.Send(context.Background(), &notify.Notification{ID: "n"}, to)
		if notify.OutcomeOf(err) != want || (err == nil) != (receipt != nil) {
			t.Errorf("call %d: %+v, %v", i, receipt, err)
		}
	}
	if sent := n.Sent(); len(sent) != 3 || sent[0].Err != error(busy) || sent[2].Notification.ID != "n" {
		t.Errorf("sent %+v", sent)
	}
	gone, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := n.Send(gone, &notify.Notification{}, to); err == nil || len(n.Sent()) != 3 {
		t.Errorf("a cancelled call is recorded: %v", err)
	}
	if ds, err := n.ValidateTarget(context.Background(), to); err != nil || ds.HasErrors() {
		t.Errorf("%v, %v", ds, err)
	}
	n.OnValidate(func(notify.Target) schema.Diagnostics { return schema.Errorf(nil, "no") })
	if ds, _ := n.ValidateTarget(context.Background(), to); !ds.HasErrors() {
		t.Error("accepted")
	}
	if d, err := n.Describe(); err != nil || d.MaxTextBytes != 7 {
		t.Errorf("%+v, %v", d, err)
	}
}
