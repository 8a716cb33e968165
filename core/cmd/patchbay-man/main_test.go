package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestManual: every command has a page with the sections that readers of manuals look for.
func TestManual(t *testing.T) {
	dir := t.TempDir()
	if err := writeManual([]string{dir, "1798761600"}); err != nil {
		t.Fatal(err)
	}
	pages, err := filepath.Glob(filepath.Join(dir, "*.1"))
	if err != nil || len(pages) < 40 {
		t.Fatalf("%d pages were written: %v", len(pages), err)
	}
	for _, p := range pages {
		content, err := os.ReadFile(p)
		if err != nil {
			t.Fatal(err)
		}
		for _, section := range []string{"NAME", "SYNOPSIS", "DESCRIPTION", "OPTIONS", "EXAMPLES", "ENVIRONMENT", "FILES", "EXIT STATUS",
			"SEE ALSO"} {
			if section == "EXAMPLES" && !strings.Contains(string(content), "EXAMPLES") && strings.Contains(string(content), ".SH COMMANDS") {
				continue // a group of commands: each of them has its examples
			}
			if !strings.Contains(string(content), ".SH "+section+"\n") {
				t.Errorf("%s has no section %s", filepath.Base(p), section)
			}
		}
	}
	if err := writeManual([]string{dir, "soon"}); err == nil {
		t.Error("a date that is no number was accepted")
	}
}
