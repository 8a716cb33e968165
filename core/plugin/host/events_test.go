package host_test

import (
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/patchbay-dev/patchbay/core/internal/testing/testplugin"
	"github.com/patchbay-dev/patchbay/core/plugin/host"
)

// kinds are the kinds of events, the oldest first.
func kinds(events []host.Event) string {
	words := make([]string, len(events))
	for i, e := range events {
		words[len(events)-1-i] = string(e.Kind)
	}
	return strings.Join(words, " ")
}

// The history of a process has each end with its exit code or signal, and the reason.
func TestEventsOfAProcess(t *testing.T) {
	plugin := newSwitchable(t, testplugin.Well)
	p := start(t, testplugin.NewHost(t, func(c *host.Config) { c.BackoffMin, c.BackoffMax = time.Minute, time.Minute }), plugin.Spec)
	defer p.Release()
	if got := kinds(p.Events()); got != "ready" {
		t.Fatalf("after the start: %s", got)
	}
	pid := pidOf(t, p)
	plugin.set(t, testplugin.Exit)
	kill(t, pid, syscall.SIGKILL)
	eventually(t, func() bool { return kinds(p.Events()) == "ready ended ended" }, "both ends are noted")
	events := p.Events()
	if e := events[1]; e.PID != pid || e.Signal != "killed" || e.ExitCode != -1 || e.At.IsZero() || e.Detail == "" {
		t.Errorf("the killed process: %+v", e)
	}
	if e := events[0]; e.PID == pid || e.Signal != "" || e.ExitCode <= 0 || !strings.Contains(e.Detail, "cannot go on") {
		t.Errorf("the process that ended at its start: %+v", e)
	}
	plugin.set(t, testplugin.Well)
	p.Restart()
	eventually(t, func() bool { return kinds(p.Events()) == "ready ended ended ready" }, "it is ready again")
	p.Restart()
	eventually(t, func() bool { return kinds(p.Events()) == "ready ended ended ready restart ready" }, "the restart is noted")
}

// The history is bounded, and keeps what is newest.
func TestEventsAreBounded(t *testing.T) {
	p := start(t, testplugin.NewHost(t), testplugin.Spec(testplugin.Well))
	defer p.Release()
	for range 60 {
		pid := pidOf(t, p)
		p.Restart()
		eventually(t, func() bool { st := p.Status(); return st.State == host.Ready && st.PID != pid && st.PID != 0 }, "it is ready again")
	}
	eventually(t, func() bool { return p.Events()[0].Kind == host.EventReady }, "the last start is noted")
	if n := len(p.Events()); n != 100 {
		t.Errorf("%d events are kept", n)
	}
}
