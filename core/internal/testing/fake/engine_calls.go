package fake

import (
	"context"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/sdk/engine"
)

// Fail appends what the next calls of an operation end with, one each; nil lets one succeed.
func (e *engineState) Fail(op string, errs ...error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.errors[op] = append(e.errors[op], errs...)
}

// FailCompose appends results with which the next commands of an action end without having done anything.
func (e *engineState) FailCompose(action string, results ...engine.ComposeResult) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.exits[action] = append(e.exits[action], results...)
}

type hold struct {
	entered chan struct{}
	release chan struct{}
}

// Hold makes the next call of an operation wait until release is called or its context ends. entered is closed when it has
// begun.
func (e *engineState) Hold(op string) (entered <-chan struct{}, release func()) {
	h := &hold{entered: make(chan struct{}), release: make(chan struct{})}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.holds[op] = h
	return h.entered, func() { close(h.release) }
}

// Emit tells all that follow the events.
func (e *engineState) Emit(ev engine.Event) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.sendEvent(ev)
}

// maxWaiting is how many events wait for a slow listener; further ones are dropped.
const maxWaiting = 1000

func (e *engineState) sendEvent(ev engine.Event) {
	for _, l := range e.listeners {
		select {
		case l <- ev:
		default:
		}
	}
}

// Events implements client.Engine.
func (e *engineState) Events(ctx context.Context, send func(engine.Event) error) error {
	if err := e.beginCall(ctx, Call{Op: "events"}); err != nil {
		return err
	}
	own := make(chan engine.Event, maxWaiting)
	e.mu.Lock()
	e.next++
	id := e.next
	e.listeners[id] = own
	ended, followers := e.outage.ended, e.outage.followers
	followers.Add(1)
	defer followers.Done()
	e.mu.Unlock()
	defer func() {
		e.mu.Lock()
		defer e.mu.Unlock()
		delete(e.listeners, id)
	}()
	if err := send(engine.Event{Type: engine.EventReady}); err != nil {
		return err
	}
	for {
		select {
		case <-ctx.Done():
			return fault.FromPlugin("engine.fake", ctx.Err())
		case <-ended:
			return errAway()
		case ev := <-own:
			if err := send(ev); err != nil {
				return err
			}
		}
	}
}

// beginCall records a call, delays it and returns an error, as was asked for.
func (e *engineState) beginCall(ctx context.Context, c Call) error {
	e.mu.Lock()
	e.calls = append(e.calls, c)
	names := []string{c.Op}
	if c.Compose != nil {
		names = append(names, c.Op+" "+c.Compose.Action)
	}
	var err error
	var held *hold
	for _, n := range names {
		if h := e.holds[n]; h != nil {
			held = h
			delete(e.holds, n)
		}
		if queue := e.errors[n]; len(queue) > 0 && err == nil {
			err, e.errors[n] = queue[0], queue[1:]
		}
	}
	e.mu.Unlock()
	if held != nil {
		close(held.entered)
		select {
		case <-held.release:
		case <-ctx.Done():
		}
	}
	if ctx.Err() != nil {
		return fault.FromPlugin("engine.fake", ctx.Err())
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if away := e.failInOutage(c.Op); away != nil {
		return away
	}
	return err
}
