package host

import (
	"errors"
	"os/exec"
	"slices"
	"sync"
	"syscall"
	"time"
)

// EventKind is what happened to a plugin process.
type EventKind string

// The kinds of events.
const (
	// EventReady: the process serves.
	EventReady EventKind = "ready"
	// EventDegraded: the process serves, with what Detail says.
	EventDegraded EventKind = "degraded"
	// EventEnded: the process has ended although nobody asked it to, or it did not start.
	EventEnded EventKind = "ended"
	// EventRestart: a restart was asked for.
	EventRestart EventKind = "restart"
	// EventFailed: the process cannot be started until its files change.
	EventFailed EventKind = "failed"
)

// Event is something that happened to a plugin process.
type Event struct {
	At   time.Time
	Kind EventKind
	// Detail tells the reason in one sentence.
	Detail string
	// PID is that of the process, 0 if there was none.
	PID int
	// ExitCode is that of a process that has ended, -1 if it has none: Signal has ended it, or it did not start.
	ExitCode int
	// Signal is the name of the signal that has ended the process, such as killed; "" for none.
	Signal string
}

// maxEvents is how many events of a process are kept.
const maxEvents = 100

// eventList keeps the last events of a process.
type eventList struct {
	mu   sync.Mutex
	list []Event
}

// add adds an event. One that repeats the state of the one before is left out.
func (l *eventList) add(e Event) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if n := len(l.list); n > 0 && (e.Kind == EventReady || e.Kind == EventDegraded) {
		if last := l.list[n-1]; last.Kind == e.Kind && last.Detail == e.Detail && last.PID == e.PID {
			return
		}
	}
	if len(l.list) == maxEvents {
		l.list = slices.Delete(l.list, 0, 1)
	}
	l.list = append(l.list, e)
}

// Events returns what happened to the process, the newest first, at most 100.
func (p *Process) Events() []Event {
	p.events.mu.Lock()
	defer p.events.mu.Unlock()
	out := slices.Clone(p.events.list)
	slices.Reverse(out)
	return out
}

// noteEvent keeps an event of the process and of its last start. It is for superviseProcess and what it calls.
func (p *Process) noteEvent(kind EventKind, err error) {
	e := Event{At: time.Now(), Kind: kind, ExitCode: -1}
	if err != nil {
		e.Detail = p.host.cfg.Redact(Reason(err))
	}
	if l := p.attempt; l != nil && l.command.hasStarted() {
		e.PID = l.command.processID()
		if kind == EventEnded || kind == EventFailed {
			// One that did not connect is being killed.
			endsWithin(l.exited, killPatience)
		}
		e.ExitCode, e.Signal = l.exitStatus()
	}
	p.events.add(e)
}

// exitStatus returns how the process has ended: its exit code, or -1 and the name of a signal. Both are empty while it runs.
func (l *Link) exitStatus() (code int, signal string) {
	select {
	case <-l.command.exited:
	default:
		return -1, ""
	}
	if l.command.err == nil {
		return 0, ""
	}
	exit, ok := errors.AsType[*exec.ExitError](l.command.err)
	if !ok {
		return -1, ""
	}
	if status, ok := exit.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return -1, status.Signal().String()
	}
	return exit.ExitCode(), ""
}
