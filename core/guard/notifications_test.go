package guard

import (
	"os/exec"
	"strings"
	"testing"
)

// TestNotificationIsOneLine follows the recipe of core/docs/CONTRIBUTING.md: beside the files of testdata/notification, which write and
// declare a kind of notification, one line of the tree changes. The settings then have its switch, and the previews its message.
func TestNotificationIsOneLine(t *testing.T) {
	t.Parallel()
	const last = "\t\ttrialKind,\n"
	overlay := writeOverlay(t, "notification", edit{"core/services/containers/notice/kinds.go", last, strings.Replace(last, "trial", "nothing", 1)})
	out, err := exec.Command(buildOverlay(t, overlay, "core/services/containers/notice/recipe")).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, want := range []string{"switch: update job_finished\n", "switch: nothing nothing_happened\n", "job_finished (svc.notification.job.v2): ",
		"nothing_happened (svc.notification.nothing.v2): Nothing happened\n"} {
		if !strings.Contains(string(out), want) {
			t.Errorf("there is no %q in\n%s", want, out)
		}
	}
}

// TestAlertsHaveKinds: an alert comes from NewAlert of a kind that notify.RegisterKind has added, so that a test can list all kinds.
func TestAlertsHaveKinds(t *testing.T) {
	registered := 0
	files(t, "core", func(path string, content []byte) {
		if strings.HasSuffix(path, "_test.go") {
			return
		}
		code := string(content)
		registered += strings.Count(code, "notify.RegisterKind(")
		if strings.Contains(code, "notify.Alert{") || strings.Contains(code, "new(notify.Alert)") {
			t.Errorf("%s makes an alert without a kind: use NewAlert of one", path)
		}
	}, ".go")
	if registered < 9 {
		t.Errorf("%d kinds are registered", registered)
	}
}
