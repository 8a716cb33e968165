// Package reference keeps the documents that are generated from the code as the code has them.
package reference

import (
	"flag"
	"os"
	"path/filepath"
	"testing"
)

var update = flag.Bool("update", false, "write the generated documents in core/docs")

// Compare compares the document of that name in core/docs with what the code says. The flag -update writes it; so does make generate.
func Compare(t *testing.T, name, content string) {
	t.Helper()
	path := filepath.Join(findRoot(t), "core", "docs", name)
	if *update {
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	found, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if string(found) != content {
		t.Errorf("core/docs/%s is not what the code says: run make generate", name)
	}
}

// findRoot returns the top of the tree above the working directory.
func findRoot(t *testing.T) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for ; dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "plugin.hcl")); err == nil {
			return dir
		}
	}
	t.Fatal("the top of the tree was not found")
	return ""
}
