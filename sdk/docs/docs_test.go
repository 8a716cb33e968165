package docs_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var goBlock = regexp.MustCompile("(?s)```go [^\n]*\n(.*?)```")

// The program of AUTHORING.md is built and its test run, in a module of its own, from the module cache alone.
func TestAuthoringProgramWorks(t *testing.T) {
	text, err := os.ReadFile("AUTHORING.md")
	if err != nil {
		t.Fatal(err)
	}
	blocks := goBlock.FindAllSubmatch(text, -1)
	if len(blocks) != 2 {
		t.Fatalf("%d Go programs, want the plugin and its test", len(blocks))
	}
	sdk, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	sums, err := os.ReadFile(filepath.Join(sdk, "go.sum"))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for name, content := range map[string][]byte{
		"go.mod": module(t, sdk), "go.sum": sums, "main.go": blocks[0][1], "main_test.go": blocks[1][1],
	} {
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	run(t, dir, "go", "build", "-trimpath", "-o", "bookmarks", ".")
	run(t, dir, "go", "test", "-trimpath", ".")
	if out := run(t, dir, filepath.Join(dir, "bookmarks"), "describe"); !strings.Contains(out, `"patchbay.search.v1.Search"`) {
		t.Errorf("describe prints:\n%s", out)
	}
	if unformatted := run(t, dir, "gofmt", "-l", "."); unformatted != "" {
		t.Errorf("not formatted: %s", unformatted)
	}
}

// module is the go.mod of the example: the SDK by its path, and the modules that the SDK itself names.
func module(t *testing.T, sdk string) []byte {
	t.Helper()
	own, err := os.ReadFile(filepath.Join(sdk, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	const path = "github.com/patchbay-dev/patchbay/sdk"
	text, ok := strings.CutPrefix(string(own), "module "+path+"\n")
	if !ok {
		t.Fatal("go.mod of the SDK does not begin with its module path")
	}
	return []byte("module example.com/bookmarks\n" + text + "\nrequire " + path + " v0.0.0\n\nreplace " + path + " => " + sdk + "\n")
}

func run(t *testing.T, dir, name string, args ...string) string {
	t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOFLAGS=-mod=mod", "GOPROXY=off", "GOWORK=off", "CGO_ENABLED=0")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
	}
	return string(out)
}
