package kit

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// NewcomerCore is a core with the repository's own plugin.hcl and copies of the documents that it names.
func NewcomerCore(t *testing.T, s Storage) *Core {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(Root(), "plugin.hcl"))
	if err != nil {
		t.Fatal(err)
	}
	// Several cores run at once.
	hcl := strings.Replace(string(text), "127.0.0.1:2525", "127.0.0.1:0", 1)
	if s.HCL != "" {
		hcl = regexp.MustCompile(`(?s)storage "sqlite" \{.*?\n\}`).ReplaceAllLiteralString(hcl, s.HCL)
	}
	c := NewCore(t, hcl, "SVC_AUTH_ALLOW_ANONYMOUS_IN_DEV=false")
	CopyDocuments(t, c.Dir)
	c.Start()
	t.Cleanup(c.Stop)
	return c
}

// CopyDocuments copies the documents that plugin.hcl names to a folder.
func CopyDocuments(t testing.TB, dir string) {
	t.Helper()
	for _, name := range []string{"core/docs", "sdk/docs"} {
		CopyAll(t, filepath.Join(Root(), name), filepath.Join(dir, name))
	}
}

// CopyAll copies a file or a folder.
func CopyAll(t testing.TB, from, to string) {
	t.Helper()
	info, err := os.Stat(from)
	if err != nil {
		t.Fatal(err)
	}
	if info.IsDir() {
		if err := os.CopyFS(to, os.DirFS(from)); err != nil {
			t.Fatal(err)
		}
		return
	}
	text, err := os.ReadFile(from)
	if err == nil {
		err = os.WriteFile(to, text, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}
