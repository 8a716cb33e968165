package scaffold_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/patchbay-dev/patchbay/core/scaffold"
)

// run runs the go command in a module, from the module cache alone.
func run(t *testing.T, dir string, args ...string) {
	t.Helper()
	cmd := exec.Command("go", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOFLAGS=-mod=mod", "GOPROXY=off", "GOWORK=off", "GONOSUMDB=*")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("go %s: %v\n%s", strings.Join(args, " "), err, out)
	}
}

func TestEveryKindBuildsAndConforms(t *testing.T) {
	for _, kind := range scaffold.Kinds("go") {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(t.TempDir(), "demo")
			files, err := scaffold.Plugin{Kind: kind, Name: "demo", Dir: dir, SDK: "../../sdk"}.Write()
			if err != nil {
				t.Fatal(err)
			}
			if len(files) < 4 {
				t.Fatalf("wrote %v", files)
			}
			sums, err := os.ReadFile("../../sdk/go.sum")
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(dir, "go.sum"), sums, 0o644); err != nil {
				t.Fatal(err)
			}
			if out, err := exec.Command("gofmt", "-l", dir).CombinedOutput(); err != nil || len(out) > 0 {
				t.Errorf("gofmt: %s %v", out, err)
			}
			run(t, dir, "vet", "./...")
			run(t, dir, "test", "./...")
		})
	}
}

func TestRefusals(t *testing.T) {
	full := t.TempDir()
	if err := os.WriteFile(filepath.Join(full, "x"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name string
		p    scaffold.Plugin
		want string
	}{
		{"kind", scaffold.Plugin{Kind: "nope", Name: "a", Dir: t.TempDir()}, "no template for the kind"},
		{"name", scaffold.Plugin{Kind: "search", Name: "A b", Dir: t.TempDir()}, "must begin with a lower-case letter"},
		{"kind of a language", scaffold.Plugin{Kind: "search", Language: "node", Name: "a", Dir: t.TempDir()}, "in the language node: write one of notify"},
		{"language", scaffold.Plugin{Kind: "search", Language: "perl", Name: "a", Dir: t.TempDir()}, "write one of go, node, python"},
		{"module of a language", scaffold.Plugin{Kind: "notify", Language: "node", Name: "a", Dir: t.TempDir(), Module: "a/b"}, "has no Go module"},
		{"directory", scaffold.Plugin{Kind: "search", Name: "a", Dir: full}, "is not empty"},
		{"sdk", scaffold.Plugin{Kind: "search", Name: "a", Dir: t.TempDir(), SDK: t.TempDir()}, "no SDK"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if _, err := c.p.Write(); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Fatalf("error %v, want %q", err, c.want)
			}
		})
	}
}
