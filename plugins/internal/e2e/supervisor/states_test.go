package supervisor

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/patchbay-dev/patchbay/plugins/internal/e2e/kit"
	"github.com/patchbay-dev/patchbay/plugins/internal/systemdtest"
)

// recordedOperation returns an operation as the state file holds it, with hostile texts where other machines write.
func recordedOperation(i int, status, step, mode string) map[string]any {
	at := time.Now().UTC().Add(-time.Duration(i) * 7 * time.Hour)
	text := kit.HostileTexts[i%len(kit.HostileTexts)]
	var logs []map[string]any
	for n := range 12 {
		logs = append(logs, map[string]any{"ts": at.Add(time.Duration(n) * time.Second), "level": []string{"info", "warn", "error"}[n%3],
			"msg": kit.HostileTexts[(i+n)%len(kit.HostileTexts)]})
	}
	return map[string]any{
		"opId": fmt.Sprintf("sup_%d", i), "state": status, "step": step, "message": text, "failure": text, "startedAt": at, "updatedAt": at,
		"logs":    logs,
		"request": map[string]any{"mode": mode, "rollbackOnFailure": true, "target": map[string]string{"tag": kit.UnbrokenText[:128]}},
		"target": map[string]string{"id": "other", "ref": "other", "tag": kit.UnbrokenText[:128], "version": "2.0.0-rc.1+" + kit.UnbrokenText[:200],
			"digest": "sha256:" + strings.Repeat("ab", 32)},
		"previous": map[string]string{"id": "first", "ref": "first", "tag": "v1.0.0-" + kit.UnbrokenText[:120], "version": "1.0.0+" + kit.UnbrokenText[:200],
			"digest": "sha256:" + strings.Repeat("cd", 32)},
	}
}

// record ends the supervisor and starts it again with operations in its state file, the newest first.
func (s *unitSite) record(operations ...map[string]any) {
	s.T.Helper()
	s.Stop()
	raw, err := json.Marshal(map[string]any{"schemaVersion": 1, "operations": operations})
	kit.Must(s.T, err)
	kit.Must(s.T, os.WriteFile(filepath.Join(s.Core.Dir, "data", "supervisor", "self-upgrade.json"), raw, 0o600))
	s.Start()
}

// TestSupervisorPageInEveryState looks at the page of a supervised unit without any operation, with one that runs, is undone, was
// undone, has failed or succeeded, and with as many as are kept, whose texts are hostile.
func TestSupervisorPageInEveryState(t *testing.T) {
	t.Parallel()
	s := startUnitSite(t, servingVersions)
	source := kit.ReadAxe(t)
	look := func(state string) {
		t.Helper()
		b := kit.Browse(t, s.Core)
		b.Walk(kit.HostilePage+"supervisor-"+state, "/supervisor/", source, kit.Wide, kit.Narrow)
		if state != "idle" && state != "running" {
			b.WalkOpened(kit.HostilePage+"supervisor-"+state+"-open", func() {
				b.Open("/supervisor/")
				b.Do(chromedp.Evaluate[chromedp.Void](`document.querySelectorAll("details").forEach((d) => { d.open = true; })`))
			}, "")
		}
		kit.RequireValue(b, "a text was run", `window.ran === undefined`, true)
		// The supervisor ends next.
		b.Do(chromedp.Navigate("about:blank"))
	}
	look("idle")
	s.publish("0.2.0", "0.2.0", s.sources["0.2.0"])
	thaw := s.manager.Freeze()
	beginUpgrade(s.Supervised, "0.2.0", "apply")
	waitForUpgradeStep(s.Supervised, "apply")
	look("running")
	thaw()
	waitForState(s.Supervised, "rolled_back")
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
	beginUpgrade(s.Supervised, "9.4.0", "apply")
	waitForUpgradeStep(s.Supervised, "wait_healthy")
	thaw = s.manager.Freeze()
	t.Cleanup(thaw)
	waitForUpgradeStep(s.Supervised, "rollback")
	look("undone")
	if st := readState(s.Supervised); st.State != "running" || st.Progress.Step != "rollback" {
		t.Errorf("the operation is %+v", st)
	}
}
