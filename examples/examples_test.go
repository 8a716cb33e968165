package examples_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Each Go example is a module of its own: it is vetted, tested and built as its reader would, from the module cache alone.
func TestGoExamplesBuildAndConform(t *testing.T) {
	modules, err := filepath.Glob(filepath.Join("*", "go.mod"))
	if err != nil || len(modules) == 0 {
		t.Fatalf("no example has a go.mod: %v", err)
	}
	for _, m := range modules {
		dir := filepath.Dir(m)
		t.Run(dir, func(t *testing.T) {
			binary := filepath.Join(t.TempDir(), dir)
			run(t, dir, "go", "vet", "./...")
			run(t, dir, "go", "test", "./...")
			run(t, dir, "go", "build", "-trimpath", "-o", binary, ".")
			if out := run(t, dir, binary, "describe"); !strings.Contains(out, `"`+dir+`"`) || !strings.Contains(out, `"patchbay.`) {
				t.Errorf("describe prints:\n%s", out)
			}
		})
	}
}

// TestAuthoringShowsTheChannel: the channel that AUTHORING.md shows is the one that is built and tested here.
func TestAuthoringShowsTheChannel(t *testing.T) {
	guide, err := os.ReadFile(filepath.Join("..", "sdk", "docs", "AUTHORING.md"))
	if err != nil {
		t.Fatal(err)
	}
	program, err := os.ReadFile(filepath.Join("notify-minimal", "main.go"))
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(guide), "\n## Notification channels\n")
	_, code, _ := strings.Cut(section, "\n```go\n")
	code, _, shown := strings.Cut(code, "```")
	if !shown || !strings.Contains(string(program), code) {
		t.Errorf("AUTHORING.md shows this in place of notify-minimal/main.go:\n%s", code)
	}
}

func run(t *testing.T, dir, name string, args ...string) string {
	t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOFLAGS=-mod=readonly", "GOPROXY=off", "GOWORK=off", "CGO_ENABLED=0")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
	}
	return string(out)
}
