package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/patchbay-dev/patchbay/plugins/internal/systemdtest"
)

// recordedOperation returns an operation as the state file holds it, with hostile texts where other machines write.
func recordedOperation(i int, status, step, mode string) map[string]any {
	at := time.Now().UTC().Add(-time.Duration(i) * 7 * time.Hour)
	text := hostile[i%len(hostile)]
	var logs []map[string]any
	for n := range 12 {
		logs = append(logs, map[string]any{"ts": at.Add(time.Duration(n) * time.Second), "level": []string{"info", "warn", "error"}[n%3],
			"msg": hostile[(i+n)%len(hostile)]})
	}
	return map[string]any{
		"opId": fmt.Sprintf("sup_%d", i), "state": status, "step": step, "message": text, "failure": text, "startedAt": at, "updatedAt": at,
		"logs":    logs,
		"request": map[string]any{"mode": mode, "rollbackOnFailure": true, "target": map[string]string{"tag": unbroken[:128]}},
		"target": map[string]string{"id": "other", "ref": "other", "tag": unbroken[:128], "version": "2.0.0-rc.1+" + unbroken[:200],
			"digest": "sha256:" + strings.Repeat("ab", 32)},
		"previous": map[string]string{"id": "first", "ref": "first", "tag": "v1.0.0-" + unbroken[:120], "version": "1.0.0+" + unbroken[:200],
			"digest": "sha256:" + strings.Repeat("cd", 32)},
	}
}

// record ends the supervisor and starts it again with operations in its state file, the newest first.
func (s *unitSite) record(operations ...map[string]any) {
	s.t.Helper()
	s.stop()
	raw, err := json.Marshal(map[string]any{"schemaVersion": 1, "operations": operations})
	must(s.t, err)
	must(s.t, os.WriteFile(filepath.Join(s.core.dir, "data", "supervisor", "self-upgrade.json"), raw, 0o600))
	s.start()
}

// TestSupervisorPageInEveryState looks at the page of a supervised unit without any operation, with one that runs, is undone, was
// undone, has failed or succeeded, and with as many as are kept, whose texts are hostile.
func TestSupervisorPageInEveryState(t *testing.T) {
	t.Parallel()
	s := startUnitSite(t, servingVersions)
	source := axe(t)
	look := func(state string) {
		t.Helper()
		b := browse(t, s.core)
		b.walk(hostilePage+"supervisor-"+state, "/supervisor/", source, wide, narrow)
		if state != "idle" && state != "running" {
			b.walkOpened(hostilePage+"supervisor-"+state+"-open", func() {
				b.open("/supervisor/")
				b.do(chromedp.Evaluate[chromedp.Void](`document.querySelectorAll("details").forEach((d) => { d.open = true; })`))
			}, "")
		}
		evaluated(b, "a text was run", `window.ran === undefined`, true)
		// The supervisor ends next.
		b.do(chromedp.Navigate("about:blank"))
	}
	look("idle")
	s.publish("0.2.0", "0.2.0", s.sources["0.2.0"])
	thaw := s.manager.Freeze()
	s.upgrade("0.2.0", "apply")
	s.comesTo("apply")
	look("running")
	thaw()
	s.ends("rolled_back")
	var many []map[string]any
	for i := range 30 {
		many = append(many, recordedOperation(i, []string{"failed", "rolled_back", "succeeded"}[i%3],
			[]string{"check_image", "done", "done"}[i%3], []string{"apply", "apply", "dry-run"}[i%3]))
	}
	for i, state := range []string{"failed", "rolled-back", "succeeded"} {
		s.record(many[i:]...)
		look(state)
	}
	s.publishWrong("9.4.0", systemdtest.Behaviour{Prints: "9.4.0", Answers: "9.4.0", Unhealthy: true})
	s.upgrade("9.4.0", "apply")
	s.comesTo("wait_healthy")
	thaw = s.manager.Freeze()
	t.Cleanup(thaw)
	s.comesTo("rollback")
	look("undone")
	if st := s.state(); st.State != "running" || st.Progress.Step != "rollback" {
		t.Errorf("the operation is %+v", st)
	}
}
