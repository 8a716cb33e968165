package app

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/patchbay-dev/patchbay/config"
	"github.com/patchbay-dev/patchbay/core/admin"
	"github.com/patchbay-dev/patchbay/core/internal/testing/testplugin"
	"github.com/patchbay-dev/patchbay/core/plugin/pin"
	"github.com/patchbay-dev/patchbay/core/settings"
)

// TestFormerLockFile starts a core on the lock file of a former version, which pins no folders. The plugin runs, with a warning. A file
// that was pinned and has changed does not run. The command that the warning names pins the folder too, and keeps what was pinned.
func TestFormerLockFile(t *testing.T) {
	r, _ := newReloadable(t, nil, "")
	dir := filepath.Dir(r.path)
	module := filepath.Join(dir, "plugins", "script", "module.txt")
	must(t, os.MkdirAll(filepath.Dir(module), 0o700))
	must(t, os.WriteFile(module, []byte("pinned\n"), 0o600))
	block := r.plugins(map[string]string{"script": testplugin.Well})
	r.write("search \"script\" \"main\" {}\nservice \"search\" {\n  backend = search.main\n}\n" +
		strings.Replace(block, "\n}\n", "\n  args = [\"plugins/script/module.txt\"]\n}\n", 1))
	writeFormerLock(t, r.path, filepath.Join(dir, "script.sh"), module)

	warnings := func(diags config.Diagnostics, err error) (n int) {
		t.Helper()
		must(t, err)
		must(t, diags.Err())
		for _, d := range diags {
			if strings.Contains(d.Summary, "pinned without the folder") && strings.Contains(d.Detail, "Run patchbay plugin lock") {
				n++
			}
		}
		return n
	}
	if n := warnings(admin.CheckConfig(t.Context(), r.source(), "test")); n != 1 {
		t.Errorf("the check warns %d times", n)
	}
	if n := warnings(r.start(), nil); n != 1 {
		t.Errorf("the start warns %d times", n)
	}
	must(t, r.Close())

	must(t, os.WriteFile(module, []byte("changed\n"), 0o600))
	diags, err := admin.CheckConfig(t.Context(), r.source(), "test")
	must(t, err)
	if said := fmt.Sprint(diags); !strings.Contains(said, "checksum mismatch") || !strings.Contains(said, "module.txt") {
		t.Errorf("of a changed file the check says %s", said)
	}
	must(t, os.WriteFile(module, []byte("pinned\n"), 0o600))

	former, _ := config.LoadLock(config.LockPath(r.path))
	_, diags, err = admin.LockPlugins(t.Context(), r.source())
	must(t, err)
	must(t, diags.Err())
	lock, diags := config.LoadLock(config.LockPath(r.path))
	must(t, diags.Err())
	entry, was := lock.Plugins["script"], former.Plugins["script"]
	if entry.Digests[settings.Platform()] != was.Digests[settings.Platform()] || fmt.Sprint(entry.Files) != fmt.Sprint(was.Files) {
		t.Errorf("what was pinned has changed from %+v to %+v", was, entry)
	}
	if entry.Trees[filepath.Join("plugins", "script")] == "" {
		t.Errorf("the folder is not pinned: %+v", entry)
	}
	if n := warnings(admin.CheckConfig(t.Context(), r.source(), "test")); n != 0 {
		t.Errorf("after the command the check warns %d times", n)
	}
}

// writeFormerLock writes the lock file of a configuration in the form of a former version.
func writeFormerLock(t *testing.T, configPath, executable, file string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(formerFolder, "plugin.lock.hcl"))
	must(t, err)
	ofExecutable, err := pin.FileDigest(executable)
	must(t, err)
	ofFile, err := pin.FileDigest(file)
	must(t, err)
	lock := strings.NewReplacer("PLATFORM", settings.Platform(), "DIGEST OF PATH", ofExecutable, "DIGEST OF FILE",
		ofFile).Replace(string(text))
	must(t, os.WriteFile(config.LockPath(configPath), []byte(lock), 0o600))
}
