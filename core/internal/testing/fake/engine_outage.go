package fake

import (
	"sync"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/sdk/engine"
	"github.com/patchbay-dev/patchbay/sdk/errs"
)

// outage is an engine that is away.
type outage struct {
	// calls is how many calls fail before it is back; below 0 it is away until Start.
	calls int
	// ended is closed when it goes away, for those that follow its events.
	ended chan struct{}
	// followers are the calls of Events.
	followers *sync.WaitGroup
}

func newOutage() outage { return outage{ended: make(chan struct{}), followers: new(sync.WaitGroup)} }

// errAway is how calls end while the engine is away.
func errAway() error {
	return fault.FromPlugin("engine.fake", errs.Unavailable(errs.ReasonConnect, "the engine does not answer"))
}

// Stop ends the engine as a restart of its daemon does: containers end, streams of events too, and calls fail until so many others than
// Events have failed; below 0 until Start.
func (e *engineState) Stop(calls int) {
	e.mu.Lock()
	followers := e.stop(calls)
	e.mu.Unlock()
	followers.Wait()
}

// stop is Stop for who holds the lock. Events has returned to everybody when the result has been waited for.
func (e *engineState) stop(calls int) (followers *sync.WaitGroup) {
	followers = e.outage.followers
	e.outage.followers = new(sync.WaitGroup)
	e.outage.calls = calls
	close(e.outage.ended)
	e.outage.ended = make(chan struct{})
	for _, h := range e.containers {
		if h.State == "running" {
			h.State, h.Health, h.ExitCode, h.script = "exited", "", 137, nil
		}
	}
	return followers
}

// Start has an engine be there again that was stopped.
func (e *engineState) Start() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.outage.calls = 0
}

// StopInCompose makes the engine stop during the next commands of an action, one for each leftover, as Stop does for so many calls. The
// command fails then, and leaves the containers so that were to be recreated; NotInterrupted lets one do its work.
func (e *Engine) StopInCompose(action string, calls int, leftovers ...Leftover) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, l := range leftovers {
		e.stops[action] = append(e.stops[action], stopInCompose{l, calls})
	}
}

type stopInCompose struct {
	leave Leftover
	calls int
}

// failInOutage returns the error of a call while the engine is away.
func (e *engineState) failInOutage(op string) error {
	if e.outage.calls == 0 {
		return nil
	}
	if op != "events" && e.outage.calls > 0 {
		e.outage.calls--
	}
	return errAway()
}

// stopDuring carries the next stop of an action out, and returns what stop returns; nil without one.
func (e *Engine) stopDuring(req *engine.ComposeRequest) (followers *sync.WaitGroup) {
	queue := e.stops[req.Action]
	if len(queue) == 0 {
		return nil
	}
	e.stops[req.Action] = queue[1:]
	if queue[0].leave == NotInterrupted {
		return nil
	}
	e.leaveInterrupted(req, queue[0].leave)
	return e.stop(queue[0].calls)
}
