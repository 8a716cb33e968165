package app

import (
	"strings"
	"syscall"
	"testing"

	"github.com/patchbay-dev/patchbay/core/internal/testing/testkit"
	"github.com/patchbay-dev/patchbay/core/internal/testing/testplugin"
)

func TestTestMessageThroughAnInstance(t *testing.T) {
	a := startApp(t, nil)
	p := newProviders(a, a.set.File)
	h, err := p.SendTest(t.Context(), "notify.main", "Test", "It arrives.")
	must(t, err)
	if h.State != "ready" && h.Message == "" {
		t.Errorf("got %+v", h)
	}
	if _, err := p.SendTest(t.Context(), "search.main", "Test", "It arrives."); err == nil {
		t.Error("a test message went through a search")
	}
	if _, err := p.SendTest(t.Context(), "notify.gone", "Test", "It arrives."); err == nil {
		t.Error("a test message went through an instance that does not run")
	}
}

// The page shows how the process of an instance has ended.
func TestEventsOfAnInstance(t *testing.T) {
	r, _ := newReloadable(t, map[string]string{"one": testplugin.Well}, oneBackend)
	r.start()
	link, err := r.catalog.Instance("search.main").Process().Link()
	must(t, err)
	must(t, syscall.Kill(link.PID, syscall.SIGKILL))
	testkit.Eventually(t, eventuallyWithin, func() bool {
		events := r.forms().Instances()[0].Events
		return len(events) == 3 && events[0].Kind == "ready" && events[1].Kind == "ended"
	}, "the end is shown")
	if e := r.forms().Instances()[0].Events[1]; e.Exit != "killed" || e.PID != link.PID || !strings.Contains(e.Detail, "has ended") {
		t.Errorf("got %+v", e)
	}
}
