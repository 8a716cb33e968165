package config_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/patchbay-dev/patchbay/config"
)

func TestLockRoundTrip(t *testing.T) {
	digest := "sha256:" + strings.Repeat("ab", 32)
	path := config.LockPath(filepath.Join(t.TempDir(), "plugin.hcl"))
	lock, ds := config.LoadLock(path)
	if ds != nil || len(lock.Plugins) != 0 {
		t.Fatalf("a missing file: %v, %v", lock, ds)
	}
	lock.Plugins["b"] = config.LockEntry{Digests: map[string]string{"linux_amd64": digest, "darwin_arm64": digest}}
	lock.Plugins["a"] = config.LockEntry{Digests: map[string]string{"linux_amd64": digest},
		Files: map[string]string{"./x y.py": digest, "${z}": digest}, Trees: map[string]string{"x y": digest},
		Abilities: []string{"search", "search/INDEX"}}
	if err := lock.Write(path); err != nil {
		t.Fatal(err)
	}
	first, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	back, ds := config.LoadLock(path)
	if ds != nil {
		t.Fatal(ds)
	}
	if diff := cmp.Diff(lock, back); diff != "" {
		t.Error(diff)
	}
	if err := back.Write(path); err != nil {
		t.Fatal(err)
	}
	second, err := os.ReadFile(path)
	if err != nil || !bytes.Equal(first, second) {
		t.Errorf("the order is not stable: %v\n%s\n%s", err, first, second)
	}
	if left, _ := filepath.Glob(filepath.Join(filepath.Dir(path), ".plugin*")); len(left) != 0 {
		t.Errorf("left behind: %v", left)
	}
	if _, ok := back.Lookup("a"); !ok {
		t.Error("a is not found")
	}
	var none *config.Lock
	if _, ok := none.Lookup("a"); ok {
		t.Error("a nil lock pins")
	}
}

func TestLockWriteFails(t *testing.T) {
	lock := &config.Lock{}
	if err := lock.Write(filepath.Join(t.TempDir(), "missing", "plugin.lock.hcl")); err == nil {
		t.Error("written into a directory that does not exist")
	}
	if _, ds := config.LoadLock(t.TempDir()); !ds.HasErrors() {
		t.Error("a directory is a lock file")
	}
}
