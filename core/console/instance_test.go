package console_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/patchbay-dev/patchbay/core/console"
)

// The page of an instance has the restarts of its process with exit codes and reasons, and the events beside the log.
func TestHistoryOfAnInstance(t *testing.T) {
	s := newSite(t)
	now := time.Now()
	s.providers.instances[0].Events = []console.Event{
		{At: now, Kind: "ready", PID: 79}, {At: now, Kind: "failed", Detail: "wrong checksum", PID: 0},
		{At: now, Kind: "ended", Detail: "why " + hostile, PID: 78, Exit: "3"},
		{At: now, Kind: "ended", Detail: "no answer", PID: 77, Exit: "killed"}, {At: now, Kind: "ready", PID: 77},
	}
	v := s.signedIn(s.admin)
	page := v.Get("/system/plugins/instance/search.docs")
	page.Says(t, "Restart history", "code 3", "signal: killed", "why &lt;script&gt;", "wrong checksum", "no answer", "Events")
	if n := strings.Count(page.Body, "why &lt;script&gt;"); n != 2 {
		t.Errorf("the reason is there %d times", n)
	}
	v.Get("/system/plugins/instance/search.gone").Says(t, "has not been restarted", "No events yet.")
	s.signedIn(s.admin, "Accept-Language", "zh").Get("/system/plugins/instance/search.docs").Says(t, "重启历史", "代码 3", "信号：killed")
}

func TestTestMessage(t *testing.T) {
	s := newSite(t)
	v := s.signedIn(s.admin)
	if page := v.Get("/system/plugins/instance/search.docs"); strings.Contains(page.Body, "Send a test message") {
		t.Error("a test message can be sent through a search")
	}
	v.Get("/system/plugins/instance/notify.ops").Says(t, "Send a test message")
	if a := v.Post("/system/plugins/instance/notify.ops/test"); a.Status != http.StatusSeeOther {
		t.Fatalf("status %d", a.Status)
	}
	v.Get("/system/plugins/instance/notify.ops").Says(t, "took the test message in")
	if len(s.providers.sent) != 1 || s.providers.sent[0] != "notify.ops: Test message: Ada has sent this through notify.ops to see that it arrives." {
		t.Errorf("sent %q", s.providers.sent)
	}
	s.providers.health = console.Health{State: "error", Message: "nobody listens"}
	v.Post("/system/plugins/instance/notify.ops/test")
	v.Get("/system/plugins/instance/notify.ops").Says(t, "was not sent through notify.ops: nobody listens")
}

// Whoever is not signed in sees how to begin: with the set-up link while there is no user, and afterwards with a new one.
func TestHowToBegin(t *testing.T) {
	s := newSite(t)
	s.visitor().Get("/system").Says(t, "How to begin", "patchbay user reset")
	if page := s.visitor("Accept", "application/json").Get("/system"); strings.Contains(page.Body, "How to begin") ||
		page.Status != http.StatusUnauthorized {
		t.Errorf("a program gets %d: %s", page.Status, page.Body)
	}
}
