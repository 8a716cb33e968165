package kit

import (
	"os"
	"path/filepath"
	"testing"
)

// LocalHCL is a configuration on a folder of its own, without an account anywhere.
const LocalHCL = `
search "local" "docs" {
  config { folders = ["docs"] }
}
service "search" {
  backend = search.docs
}
`

// LocalCore prepares a core with one document.
func LocalCore(t testing.TB, hcl string, env ...string) *Core {
	t.Helper()
	c := NewCore(t, hcl, env...)
	if err := os.Mkdir(filepath.Join(c.Dir, "docs"), 0o700); err != nil {
		t.Fatal(err)
	}
	text := "# Guide\n\nA plugin that crashes is started again by its host.\n"
	if err := os.WriteFile(filepath.Join(c.Dir, "docs", "guide.md"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return c
}
