package cluster_test

import (
	"context"
	"reflect"
	"strings"
	"testing"

	"github.com/patchbay-dev/patchbay/core/cluster"
	"github.com/patchbay-dev/patchbay/core/event"
	"github.com/patchbay-dev/patchbay/core/internal/testing/testkit"
)

// TestRelay: what is published on a bus of one node is published on that of the other, without its data; where nobody else is, it is
// published here alone.
func TestRelay(t *testing.T) {
	a, b, st := openPair(t)
	awaitNews(t, a, b)
	awaitNews(t, b, a)
	buses := []*event.Bus{event.NewBus(), event.NewBus(), event.NewBus()}
	atA, atB := a.Relay("mail", buses[0]), b.Relay("mail", buses[1])
	a.Relay("other", buses[2])
	here, there, other := buses[0].Subscribe("box/"), buses[1].Subscribe("box/"), buses[2].Subscribe("")
	atB.Publish("box/1", event.Event{Type: "message", Seq: 7, Data: []string{"here only"}})
	atB.Publish("box/2", event.Event{Type: "message", Data: "msg_1"})
	atB.Publish("box/3", event.Event{Type: "message", Data: strings.Repeat("long", cluster.MaxNews)})
	want := []event.Event{{Topic: "box/1", Type: "message", Seq: 7}, {Topic: "box/2", Type: "message", Data: "msg_1"}, {Topic: "box/3", Type: "message"}}
	for _, w := range want {
		if got := nextEvent(t, here); !reflect.DeepEqual(got, w) {
			t.Errorf("the other node got %v, want %v", got, w)
		}
		if got := nextEvent(t, there); got.Topic != w.Topic || got.Data == nil {
			t.Errorf("this node got %v", got)
		}
	}
	atA.Publish("box/4", event.Event{Type: "message"})
	if got := nextEvent(t, there); got.Topic != "box/4" {
		t.Errorf("the other node got %v", got)
	}
	if got := nextEvent(t, here); got.Topic != "box/4" {
		t.Errorf("this node got %v", got)
	}
	select {
	case ev := <-there.Events():
		t.Errorf("an event came twice: %v", ev)
	case ev := <-other.Events():
		t.Errorf("another bus got %v", ev)
	default:
	}
	// A lost connection.
	testkit.Execute(t, st, `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'patchbay news'
		AND datname = current_database()`)
	for _, sub := range []*event.Subscription{here, there} {
		if got := nextEvent(t, sub); !got.Lagged {
			t.Errorf("after a lost connection: %v", got)
		}
	}
	alone, bus := (*cluster.Cluster)(nil), event.NewBus()
	sub := bus.Subscribe("box/")
	alone.Relay("mail", bus).Publish("box/5", event.Event{Data: "x"})
	if got := nextEvent(t, sub); got.Topic != "box/5" {
		t.Errorf("alone: %v", got)
	}
}

// nextEvent returns the next event of a subscription.
func nextEvent(t *testing.T, sub *event.Subscription) event.Event {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	select {
	case ev := <-sub.Events():
		return ev
	case <-ctx.Done():
		t.Fatal("no event came")
	}
	return event.Event{}
}
