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
		{At: now, Kind: "ready", PID: 79}, {At: now, Kind: "failed", Detail: "wrong checksum", PID: 0}, {At: now, Kind: "ended", Detail: "why " + hostile, PID: 78, Exit: "3"},
		{At: now, Kind: "ended", Detail: "no answer", PID: 77, Exit: "killed"}, {At: now, Kind: "ready", PID: 77},
	}
	v := s.signedIn(s.admin)
	page := v.get("/system/plugins/instance/search.docs")
	page.says(t, "Restart history", "code 3", "signal: killed", "why &lt;script&gt;", "wrong checksum", "no answer", "Events")
	if n := strings.Count(page.body, "why &lt;script&gt;"); n != 2 {
		t.Errorf("the reason is there %d times", n)
	}
	v.get("/system/plugins/instance/search.gone").says(t, "has not been restarted", "Nothing has happened yet.")
	s.signedIn(s.admin, "Accept-Language", "zh").get("/system/plugins/instance/search.docs").says(t, "重启历史", "代码 3", "信号：killed")
}

func TestTestMessage(t *testing.T) {
	s := newSite(t)
	v := s.signedIn(s.admin)
	if page := v.get("/system/plugins/instance/search.docs"); strings.Contains(page.body, "Send a test message") {
		t.Error("a test message can be sent through a search")
	}
	v.get("/system/plugins/instance/notify.ops").says(t, "Send a test message")
	if a := v.post("/system/plugins/instance/notify.ops/test"); a.status != http.StatusSeeOther {
		t.Fatalf("status %d", a.status)
	}
	v.get("/system/plugins/instance/notify.ops").says(t, "took the test message in")
	if len(s.providers.sent) != 1 || s.providers.sent[0] != "notify.ops: Test message: Ada has sent this through notify.ops to see that it arrives." {
		t.Errorf("sent %q", s.providers.sent)
	}
	s.providers.health = console.Health{State: "error", Message: "nobody listens"}
	v.post("/system/plugins/instance/notify.ops/test")
	v.get("/system/plugins/instance/notify.ops").says(t, "was not sent through notify.ops: nobody listens")
}

// Whoever is not signed in sees how to begin: with the set-up link while there is no user, and afterwards with a new one.
func TestHowToBegin(t *testing.T) {
	s := newSite(t)
	s.visitor().get("/system").says(t, "How to begin", "patchbay user reset")
	if page := s.visitor("Accept", "application/json").get("/system"); strings.Contains(page.body, "How to begin") || page.status != http.StatusUnauthorized {
		t.Errorf("a program gets %d: %s", page.status, page.body)
	}
}
