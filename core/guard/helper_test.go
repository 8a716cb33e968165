package guard

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
)

// module is the path of the root module; sdkModule that of the module for plugin authors.
const (
	module    = "github.com/patchbay-dev/patchbay"
	sdkModule = module + "/sdk"
)

// root is the top of the tree.
func root(t *testing.T) string {
	t.Helper()
	dir, err := filepath.Abs(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(dir, "go.mod")); err != nil {
		t.Fatalf("find the top of the tree: %v", err)
	}
	return dir
}

// pkg is what "go list" tells about a package.
type pkg struct {
	ImportPath   string
	Imports      []string
	Deps         []string
	TestImports  []string
	XTestImports []string
}

// local is the path within the module, such as core/store.
func (p pkg) local() string { return strings.TrimPrefix(p.ImportPath, module+"/") }

// uses are the direct imports, with those of tests if asked for.
func (p pkg) uses(tests bool) []string {
	if !tests {
		return p.Imports
	}
	return slices.Concat(p.Imports, p.TestImports, p.XTestImports)
}

type listing struct {
	pkgs []pkg
	err  error
}

// list asks the go command about all packages of both modules, once for all tests.
var list = sync.OnceValue(func() listing {
	var out listing
	for _, dir := range []string{filepath.Join("..", ".."), filepath.Join("..", "..", "sdk")} {
		cmd := exec.Command("go", "list", "-json=ImportPath,Imports,Deps,TestImports,XTestImports", "./...")
		cmd.Dir = dir
		cmd.Stderr = os.Stderr
		raw, err := cmd.Output()
		if err != nil {
			return listing{err: err}
		}
		for dec := json.NewDecoder(bytes.NewReader(raw)); dec.More(); {
			var p pkg
			if err := dec.Decode(&p); err != nil {
				return listing{err: err}
			}
			out.pkgs = append(out.pkgs, p)
		}
	}
	return out
})

func packages(t *testing.T) []pkg {
	t.Helper()
	l := list()
	if l.err != nil {
		t.Fatalf("list the packages: %v", l.err)
	}
	return l.pkgs
}

// skipped are directories that hold nothing of ours, or nothing that is kept.
func skipped(name string) bool {
	return name == "node_modules" || name == "vendor" || name == "testdata" || strings.HasPrefix(name, ".") && name != ".ci" && name != ".github"
}

// files walks over the kept files below dir whose names end in one of the suffixes; none means all.
func files(t *testing.T, dir string, visit func(path string, content []byte), suffixes ...string) {
	t.Helper()
	top := root(t)
	err := filepath.WalkDir(filepath.Join(top, dir), func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(top, path)
		if err != nil {
			return err
		}
		if d.IsDir() {
			if rel != "." && (skipped(d.Name()) || rel == "bin" || rel == "data") {
				return filepath.SkipDir
			}
			return nil
		}
		match := func(s string) bool { return strings.HasSuffix(path, s) }
		if !d.Type().IsRegular() || len(suffixes) > 0 && !slices.ContainsFunc(suffixes, match) {
			return nil
		}
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		visit(filepath.ToSlash(rel), content)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// generated is the line by which tools mark their files, as a comment of Go or of Markdown.
var generated = regexp.MustCompile(`(?m)^(// Code generated .* DO NOT EDIT\.|<!-- Code generated .* DO NOT EDIT\. -->)$`)

// isGenerated reports whether a tool wrote a file.
func isGenerated(content []byte) bool {
	head, _, _ := bytes.Cut(content, []byte("\npackage "))
	return generated.Match(head)
}

// line is the number of the line at an offset.
func line(content []byte, at int) int { return bytes.Count(content[:at], []byte("\n")) + 1 }

// within reports whether a package path is one of the folders or lies below one. An asterisk in a folder stands for any
// one name.
func within(name string, folders ...string) bool {
	parts := strings.Split(name, "/")
	return slices.ContainsFunc(folders, func(f string) bool {
		n := strings.Count(f, "/") + 1
		if len(parts) < n {
			return false
		}
		ok, err := path.Match(f, strings.Join(parts[:n], "/"))
		return ok && err == nil
	})
}
