package event_test

import (
	"fmt"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/patchbay-dev/patchbay/core/event"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func drain(s *event.Subscription) (types []string) {
	for {
		select {
		case ev, ok := <-s.Events():
			if !ok {
				return append(types, "closed")
			}
			if ev.Lagged {
				types = append(types, "lagged")
				continue
			}
			types = append(types, ev.Type)
		default:
			return types
		}
	}
}

func TestTopics(t *testing.T) {
	tests := []struct {
		topics []string
		want   []string
	}{
		{[]string{"job/1"}, []string{"a"}},
		{[]string{"job/"}, []string{"a", "b"}},
		{[]string{"job/", "job/1"}, []string{"a", "b"}},
		{[]string{"mail", "job/2"}, []string{"b", "c"}},
		{[]string{""}, []string{"a", "b", "c"}},
		{[]string{"job"}, nil},
		{nil, nil},
	}
	for _, tt := range tests {
		t.Run(fmt.Sprint(tt.topics), func(t *testing.T) {
			bus := event.NewBus()
			sub := bus.Subscribe(tt.topics...)
			defer sub.Close()
			bus.Publish("job/1", event.Event{Type: "a", Seq: 1})
			bus.Publish("job/2", event.Event{Type: "b", Seq: 2, Topic: "forged", Lagged: true})
			bus.Publish("mail", event.Event{Type: "c"})
			if diff := cmp.Diff(tt.want, drain(sub)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestSlowSubscriberIsMarkedAndRecovers(t *testing.T) {
	bus := event.NewBus()
	slow, quick := bus.Subscribe("t"), bus.Subscribe("t")
	defer slow.Close()
	defer quick.Close()
	seen := 0
	for i := range 200 {
		bus.Publish("t", event.Event{Type: fmt.Sprint(i)})
		seen += len(drain(quick))
	}
	if seen != 200 {
		t.Errorf("the quick subscriber saw %d of 200", seen)
	}
	got := drain(slow)
	if len(got) != 64 || got[62] != "62" || got[63] != "lagged" {
		t.Fatalf("got %v", got)
	}
	bus.Publish("t", event.Event{Type: "again"})
	if diff := cmp.Diff([]string{"again"}, drain(slow)); diff != "" {
		t.Error(diff)
	}
}

// After a mark, the first event that gets through comes after everything that was lost, and a second loss is marked
// again.
func TestEveryLossIsMarked(t *testing.T) {
	bus := event.NewBus()
	sub := bus.Subscribe("t")
	defer sub.Close()
	for round := range 3 {
		for range 100 {
			bus.Publish("t", event.Event{Type: "x"})
		}
		if got := drain(sub); got[len(got)-1] != "lagged" {
			t.Fatalf("round %d: no mark", round)
		}
	}
}

func TestClose(t *testing.T) {
	bus := event.NewBus()
	first, second := bus.Subscribe("t"), bus.Subscribe("t")
	first.Close()
	first.Close()
	bus.Publish("t", event.Event{Type: "a"})
	bus.Close()
	bus.Close()
	second.Close()
	bus.Publish("t", event.Event{Type: "b"})
	late := bus.Subscribe("t")
	late.Close()
	if diff := cmp.Diff([][]string{{"closed"}, {"a", "closed"}, {"closed"}},
		[][]string{drain(first), drain(second), drain(late)}); diff != "" {
		t.Error(diff)
	}
}

func TestConcurrentUse(t *testing.T) {
	bus := event.NewBus()
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for i := range 500 {
				bus.Publish(fmt.Sprintf("job/%d", i%3), event.Event{Seq: int64(i)})
			}
		})
		wg.Go(func() {
			for range 100 {
				sub := bus.Subscribe("job/")
				select {
				case <-sub.Events():
				default:
				}
				sub.Close()
			}
		})
	}
	wg.Wait()
	bus.Close()
}

func TestHeard(t *testing.T) {
	b := event.NewBus()
	if b.Heard("a") {
		t.Error("nobody listens")
	}
	sub := b.Subscribe("a", "b/")
	for topic, want := range map[string]bool{"a": true, "b/c": true, "b": false, "c": false} {
		if b.Heard(topic) != want {
			t.Errorf("%s: want %v", topic, want)
		}
	}
	sub.Close()
	if b.Heard("a") {
		t.Error("nobody listens any more")
	}
}
