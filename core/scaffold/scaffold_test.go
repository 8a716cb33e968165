package scaffold_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
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

// takeRequirements gives a module the requirements of its SDK, as "go mod tidy" does, which would look modules up.
func takeRequirements(t *testing.T, dir string) {
	t.Helper()
	sums, err := os.ReadFile(filepath.Join(dir, "sdk", "go.sum"))
	if err != nil {
		t.Fatal(err)
	}
	theirs, err := os.ReadFile(filepath.Join(dir, "sdk", "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	own, err := os.ReadFile(filepath.Join(dir, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	for _, block := range regexp.MustCompile(`(?s)require \(.*?\n\)\n`).FindAll(theirs, -1) {
		own = append(append(own, '\n'), block...)
	}
	if err := os.WriteFile(filepath.Join(dir, "go.mod"), own, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "go.sum"), sums, 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestEveryKindBuildsAndConforms(t *testing.T) {
	for _, kind := range scaffold.Kinds("go") {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(t.TempDir(), "demo")
			files, err := scaffold.Plugin{Kind: kind, Name: "demo", Dir: dir}.Write()
			if err != nil {
				t.Fatal(err)
			}
			if len(files) < 5 {
				t.Fatalf("wrote %v", files)
			}
			checkNames(t, dir)
			takeRequirements(t, dir)
			if out, err := exec.Command("gofmt", "-l", dir).CombinedOutput(); err != nil || len(out) > 0 {
				t.Errorf("gofmt: %s %v", out, err)
			}
			run(t, dir, "vet", "./...")
			run(t, dir, "test", "./...")
		})
	}
}

// checkNames fails the test if a README names a file that is not there.
func checkNames(t *testing.T, dir string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range regexp.MustCompile(`[a-z_]+\.(json|go|py|mjs|proto|binpb)\b`).FindAllString(string(text), -1) {
		found := false
		for _, folder := range []string{".", "proto"} {
			_, err := os.Stat(filepath.Join(dir, folder, name))
			found = found || err == nil
		}
		if !found && !strings.Contains(string(text), "> "+name) {
			t.Errorf("README.md names %s, which is neither there nor made", name)
		}
	}
}

// TestForeignProjectsAreWhole makes a project in each language and kind besides Go.
func TestForeignProjectsAreWhole(t *testing.T) {
	for _, language := range scaffold.Languages() {
		for _, kind := range scaffold.Kinds(language) {
			dir := filepath.Join(t.TempDir(), "demo")
			if _, err := (scaffold.Plugin{Kind: kind, Name: "demo", Language: language, Dir: dir}).Write(); err != nil {
				t.Fatal(err)
			}
			checkNames(t, dir)
		}
	}
}

// TestLocalSDK leaves the SDK where it is.
func TestLocalSDK(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "demo")
	if _, err := (scaffold.Plugin{Kind: "search", Name: "demo", Dir: dir, SDK: "../../sdk"}).Write(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(dir, "sdk")); !os.IsNotExist(err) {
		t.Error("the SDK was copied")
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
		{"kind of a language", scaffold.Plugin{Kind: "search", Language: "node", Name: "a", Dir: t.TempDir()},
			"in the language node: write one of notify"},
		{"language", scaffold.Plugin{Kind: "search", Language: "perl", Name: "a", Dir: t.TempDir()}, "write one of go, node, python"},
		{"module of a language", scaffold.Plugin{Kind: "notify", Language: "node", Name: "a", Dir: t.TempDir(), Module: "a/b"},
			"has no Go module"},
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
