package host_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/patchbay-dev/patchbay/core/internal/testing/testplugin"
	"github.com/patchbay-dev/patchbay/core/plugin/host"
	"github.com/patchbay-dev/patchbay/core/plugin/pin"
)

// TestUnpinnedFilesNeverRun changes each part of a pinned plugin, and swaps its executable in a loop while it is started: nothing of what
// is not pinned runs.
func TestUnpinnedFilesNeverRun(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "plugin")
	must(t, os.MkdirAll(filepath.Join(folder, "lib"), 0o700))
	ran, script, library := filepath.Join(t.TempDir(), "ran"), filepath.Join(folder, "plugin.sh"), filepath.Join(folder, "lib", "lib.sh")
	self := testplugin.Spec(testplugin.Well)
	must(t, os.WriteFile(library, nil, 0o600))
	must(t, os.WriteFile(script, fmt.Appendf(nil, "#!/bin/sh\n. '%s'\nexec '%s' '%s' '%s'\n", library, self.Path, self.Args[0], self.Args[1]),
		0o700))
	sum, err := pin.FileDigest(script)
	must(t, err)
	tree, err := pin.TreeDigest(folder)
	must(t, err)
	spec := host.Spec{Name: "x", Path: "/bin/sh", Args: []string{script}, Env: self.Env, Digests: map[string]string{script: sum},
		Trees: map[string]string{folder: "sha256:" + tree}}
	open := func(spec host.Spec, want string) {
		t.Helper()
		p, err := testplugin.NewHost(t).Open(t.Context(), spec)
		if err == nil {
			p.Release()
		}
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("it reports %v, want %q", err, want)
		}
	}
	open(spec, "")
	evil := fmt.Appendf(nil, "touch '%s'\n", ran)
	must(t, os.WriteFile(library, evil, 0o600))
	open(spec, "checksum mismatch: the folder "+folder)
	must(t, os.WriteFile(library, nil, 0o600))
	must(t, os.Mkdir(filepath.Join(folder, "__pycache__"), 0o700))
	open(spec, "holds compiled code")
	must(t, os.Remove(filepath.Join(folder, "__pycache__")))
	open(spec, "")
	spec.Trees = map[string]string{folder: ""}
	open(spec, "is not in plugin.lock.hcl")

	direct := host.Spec{Name: "x", Path: script, Env: self.Env, Digests: map[string]string{script: sum}}
	good, bad, stop, done := script+".good", script+".bad", make(chan struct{}), make(chan struct{})
	must(t, os.Link(script, good))
	must(t, os.WriteFile(bad, append([]byte("#!/bin/sh\n"), evil...), 0o700))
	go func() {
		defer close(done)
		for n := 0; ; n++ {
			select {
			case <-stop:
				return
			default:
			}
			from := []string{bad, good}[n%2]
			_, _ = os.Link(from, script+".next"), os.Rename(script+".next", script)
		}
	}()
	for range 20 {
		p, err := testplugin.NewHost(t).Open(t.Context(), direct)
		if err == nil {
			p.Release()
		} else if !strings.Contains(err.Error(), "checksum mismatch") {
			t.Error(err)
		}
	}
	close(stop)
	<-done
	if _, err := os.Stat(ran); !os.IsNotExist(err) {
		t.Error("a file that is not pinned ran")
	}
}
