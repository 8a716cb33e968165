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
