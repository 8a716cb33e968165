// Package event is publish and subscribe between goroutines. It carries news of what the store already holds: publish
// after commit only, and let a subscriber that fell behind read the store again.
package event

import (
	"strings"
	"sync"
)

// buffer is how many events a subscriber may be behind before it loses some.
const buffer = 64

// Event is one piece of news.
type Event struct {
	// Topic is where it was published; Publish sets it.
	Topic string
	// Seq is the number under which the store holds the event; 0 if it does not.
	Seq int64
	// Type names what happened, such as "task.running".
	Type string
	// Data is what a reader gets to see. It is shared by all subscribers and must not be changed.
	Data any
	// Lagged marks that events were lost before this one, which carries nothing else: read the store again.
	Lagged bool
}

// Bus connects publishers and subscribers. The zero Bus is not usable; use NewBus.
type Bus struct {
	mu     sync.RWMutex
	subs   map[*Subscription]struct{}
	closed bool
}

// NewBus returns an empty bus.
func NewBus() *Bus { return &Bus{subs: map[*Subscription]struct{}{}} }

// Publish hands ev to all subscribers of the topic and never waits for them.
func (b *Bus) Publish(topic string, ev Event) {
	ev.Topic, ev.Lagged = topic, false
	b.mu.RLock()
	defer b.mu.RUnlock()
	for s := range b.subs {
		if s.wants(topic) {
			s.offer(ev)
		}
	}
}

// Lag tells all subscribers that events may be lost.
func (b *Bus) Lag() {
	b.mu.RLock()
	defer b.mu.RUnlock()
	for s := range b.subs {
		s.markLagged()
	}
}

// Heard reports whether anybody listens to a topic, for publishers whose events cost something to make.
func (b *Bus) Heard(topic string) bool {
	b.mu.RLock()
	defer b.mu.RUnlock()
	for s := range b.subs {
		if s.wants(topic) {
			return true
		}
	}
	return false
}

// Subscribe returns a subscription to the topics. A topic that ends in "/" stands for all that begin with it; "" stands
// for all. Close it when done. On a closed bus the subscription is closed already.
func (b *Bus) Subscribe(topics ...string) *Subscription {
	s := &Subscription{bus: b, topics: append([]string(nil), topics...), events: make(chan Event, buffer)}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		s.end()
		return s
	}
	b.subs[s] = struct{}{}
	return s
}

// Close ends all subscriptions. Publishing afterwards does nothing.
func (b *Bus) Close() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.closed = true
	for s := range b.subs {
		s.end()
	}
	clear(b.subs)
}

// Subscription receives the events of its topics, in the order in which they were published.
type Subscription struct {
	bus    *Bus
	topics []string
	events chan Event

	mu     sync.Mutex
	lagged bool
	closed bool
}

// Events is closed when the subscription or the bus is.
func (s *Subscription) Events() <-chan Event { return s.events }

// Close ends the subscription. It may be called again.
func (s *Subscription) Close() {
	s.bus.mu.Lock()
	defer s.bus.mu.Unlock()
	delete(s.bus.subs, s)
	s.end()
}

func (s *Subscription) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.closed {
		s.closed = true
		close(s.events)
	}
}

func (s *Subscription) wants(topic string) bool {
	for _, t := range s.topics {
		if t == topic || t == "" || (strings.HasSuffix(t, "/") && strings.HasPrefix(topic, t)) {
			return true
		}
	}
	return false
}

// offer puts ev into the buffer. The last place is kept for the mark that tells of lost events.
func (s *Subscription) offer(ev Event) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return
	}
	if len(s.events) < cap(s.events)-1 {
		s.lagged = false
		s.events <- ev
		return
	}
	if !s.lagged {
		s.lagged = true
		s.events <- Event{Topic: ev.Topic, Lagged: true}
	}
}

// markLagged puts the mark that tells of lost events into the buffer, if it is not the last there.
func (s *Subscription) markLagged() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed || s.lagged {
		return
	}
	s.lagged = len(s.events) == cap(s.events)-1
	s.events <- Event{Lagged: true}
}
