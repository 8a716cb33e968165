package app

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/patchbay-dev/patchbay/core/internal/testing/testkit"
	"github.com/patchbay-dev/patchbay/core/internal/testing/testplugin"
)

// TestStartOnAFullDisk: a core that is restarted while the disk is full, and has given its reserve away, starts, so that something can be
// deleted.
func TestStartOnAFullDisk(t *testing.T) {
	dir := testkit.MountSmallDisk(t, "64m")
	r, _ := newReloadable(t, map[string]string{"testsearch": testplugin.Well},
		"search \"testsearch\" \"main\" {}\nservice \"search\" { backend = search.main }\nservice \"mail\" { domains = [\"mail.localhost\"] }\n")
	path := filepath.Join(dir, "patchbay.sqlite3")
	env := func(name string) (string, bool) {
		if name == "SVC_DB_PATH" {
			return path, true
		}
		return r.env(name)
	}
	start := func() *App {
		a, diags, err := Start(t.Context(), Config{Path: r.path, Env: env, Version: "test", LogOutput: t.Output()})
		must(t, err)
		must(t, diags.Err())
		return a
	}
	must(t, start().Close())
	must(t, os.Remove(path+".reserve"))
	var stat syscall.Statfs_t
	must(t, syscall.Statfs(dir, &stat))
	// The database can be opened, but there is no room for the reserve.
	must(t, os.WriteFile(filepath.Join(dir, "ballast"), make([]byte, int64(stat.Bavail)*stat.Bsize-4<<20), 0o600))
	must(t, start().Close())
}
