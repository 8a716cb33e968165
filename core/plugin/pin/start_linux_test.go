package pin_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/patchbay-dev/patchbay/core/plugin/pin"
)

// TestUseFileRunsTheOpenFile puts another file under the name of a pinned one before it starts: what was opened runs, as a program and as a
// script.
func TestUseFileRunsTheOpenFile(t *testing.T) {
	self, err := os.Executable()
	must(t, err)
	program, err := os.ReadFile(self)
	must(t, err)
	for name, c := range map[string]struct{ content, want string }{
		"program": {string(program), "first PATH PATH\n"},
		"script":  {"#!/bin/sh\necho first \"${0##*/}\" \"$1\"\n", "first plugin one\n"},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "plugin")
			must(t, os.WriteFile(path, []byte(c.content), 0o700))
			f, _, err := pin.OpenFile(path)
			must(t, err)
			defer f.Close()
			must(t, os.WriteFile(path+".next", []byte("#!/bin/sh\necho other\n"), 0o700))
			cmd := exec.Command(path, "one")
			cmd.Env = []string{"PATCHBAY_TEST_PROGRAM=1"}
			must(t, pin.UseFile(cmd, f, t.TempDir()))
			must(t, os.Rename(path, path+".moved"))
			must(t, os.Rename(path+".next", path))
			out, err := cmd.CombinedOutput()
			if want := strings.Replace(strings.Replace(c.want, "PATH", path, 1), "PATH", path+".moved", 1); err != nil || string(out) != want {
				t.Errorf("it says %q, %v; want %q", out, err, want)
			}
		})
	}
}
