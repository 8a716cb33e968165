package store

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

// ErrBusy is in the chain of every BusyError.
var ErrBusy = errors.New("the database is busy")

// BusyError says that a write transaction did not get its turn in time, and which transaction had it.
type BusyError struct {
	// Name is the transaction that waited.
	Name string
	// Waited is for how long.
	Waited time.Duration
	// Holder is the transaction that ran longest meanwhile, "" if it belongs to another process.
	Holder string
	// Held is how long Holder has been running.
	Held time.Duration
}

// Error implements error.
func (e *BusyError) Error() string {
	who := "another process holds it"
	if e.Holder != "" {
		who = fmt.Sprintf("%q has held it for %s", e.Holder, e.Held.Round(time.Millisecond))
	}
	return fmt.Sprintf("begin the write transaction %q: waited %s for the writer, %s", e.Name, e.Waited.Round(time.Millisecond), who)
}

// Is makes errors.Is(err, ErrBusy) true.
func (e *BusyError) Is(target error) bool { return target == ErrBusy }

// holder is one running transaction.
type holder struct {
	name  string
	since time.Time
}

// gate admits a fixed number of transactions and knows them.
type gate struct {
	slots chan struct{}
	mu    sync.Mutex
	held  map[*holder]struct{}
}

func newGate(slots int) *gate {
	return &gate{slots: make(chan struct{}, slots), held: map[*holder]struct{}{}}
}

// acquire waits for a slot, at most for the given time. The returned function releases it.
func (g *gate) acquire(ctx context.Context, name string, wait time.Duration) (func(), error) {
	select {
	case g.slots <- struct{}{}:
		return g.registerHolder(name), nil
	default:
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case g.slots <- struct{}{}:
		return g.registerHolder(name), nil
	case <-ctx.Done():
		return nil, fmt.Errorf("begin the write transaction %q: %w", name, ctx.Err())
	case <-timer.C:
		return nil, g.busyError(name, wait)
	}
}

// registerHolder registers the transaction that has taken a slot. The returned function releases the slot.
func (g *gate) registerHolder(name string) func() {
	h := &holder{name: name, since: time.Now()}
	g.mu.Lock()
	g.held[h] = struct{}{}
	g.mu.Unlock()
	return func() {
		g.mu.Lock()
		delete(g.held, h)
		g.mu.Unlock()
		<-g.slots
	}
}

// busyError returns the error for a transaction that waited in vain. It names the transaction that has run longest.
func (g *gate) busyError(name string, waited time.Duration) *BusyError {
	out := &BusyError{Name: name, Waited: waited}
	if h := g.longestHolder(); h != nil {
		out.Holder, out.Held = h.name, time.Since(h.since)
	}
	return out
}

// longestHolder returns the transaction that has run longest, or nil.
func (g *gate) longestHolder() *holder {
	g.mu.Lock()
	defer g.mu.Unlock()
	var first *holder
	for h := range g.held {
		if first == nil || h.since.Before(first.since) {
			first = h
		}
	}
	return first
}
