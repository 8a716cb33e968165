package dockerauth_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/patchbay-dev/patchbay/plugins/internal/dockerauth"
)

// TestStageSweeps: what a process has left that is gone goes with the next use; what belongs to one that lives stays.
func TestStageSweeps(t *testing.T) {
	tmp := t.TempDir()
	t.Setenv("TMPDIR", tmp)
	gone := exec.Command("true")
	if err := gone.Run(); err != nil {
		t.Fatal(err)
	}
	left := filepath.Join(tmp, fmt.Sprintf("patchbay-docker-config-%d-1", gone.Process.Pid))
	alive := filepath.Join(tmp, fmt.Sprintf("patchbay-docker-config-%d-1", os.Getppid()))
	other := filepath.Join(tmp, "patchbay-docker-config-notes")
	for _, dir := range []string{left, alive, other} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	c, err := dockerauth.Load("")
	if err != nil {
		t.Fatal(err)
	}
	dir, cleanup, err := c.Stage()
	if err != nil {
		t.Fatal(err)
	}
	cleanup()
	for path, want := range map[string]bool{left: false, alive: true, other: true, dir: false} {
		if _, err := os.Stat(path); (err == nil) != want {
			t.Errorf("%s: %v", filepath.Base(path), err)
		}
	}
}
