package guard

import (
	"bufio"
	"context"
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"io/fs"
	"net/http"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// genericPackages are the folders that serve every service and name none, with all below them.
var genericPackages = []string{
	"core/admin", "core/app", "core/auth", "core/cli", "core/console", "core/event", "core/fault", "core/httpd", "core/module", "core/notify",
	"core/queue",
	"core/secret", "core/settings", "core/store", "core/texts", "core/timering",
}

// serviceList is the file that names the services, a line each.
const serviceList = "core/app/modules.go"

// serviceNames returns the names of the services, which are those of their folders.
func serviceNames(t *testing.T) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(filepath.Join(root(t), "core", "services"))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if e.IsDir() {
			names = append(names, e.Name())
		}
	}
	if len(names) < 2 {
		t.Fatalf("there are the services %q; has their folder moved?", names)
	}
	return names
}

// TestGenericPackagesNameNoService looks for the names of services as words of identifiers, of texts in the code and in all
// other files. Comments may have examples, tests may use services, and a package of others may be called like a service.
func TestGenericPackagesNameNoService(t *testing.T) {
	word := regexp.MustCompile(`(?i)\b(` + strings.Join(serviceNames(t), "|") + `)\b`)
	for _, folder := range genericPackages {
		files(t, folder, func(name string, content []byte) {
			if name == serviceList || strings.HasSuffix(name, "_test.go") || strings.Contains(name, "/vendor/") || isGenerated(content) {
				return
			}
			for _, at := range serviceWords(t, name, content, word) {
				t.Errorf("%s:%d names the service %s: take it from its core/module.Definition", name, line(content, at[0]), content[at[0]:at[1]])
			}
		}, ".go", ".templ", ".js", ".css", ".json", ".html", ".svg")
	}
}

// serviceWords returns where a file has a word, as pairs of offsets.
func serviceWords(t *testing.T, name string, content []byte, word *regexp.Regexp) (found [][]int) {
	t.Helper()
	if path.Ext(name) != ".go" {
		return word.FindAllIndex(content, -1)
	}
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, name, content, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	var foreign []string
	for _, imp := range f.Imports {
		if target := strings.Trim(imp.Path.Value, `"`); !within(target, module+"/core/services") {
			foreign = append(foreign, path.Base(target))
		}
	}
	skipped := map[ast.Node]bool{}
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ImportSpec:
			// TestServicesAreListed looks at imports.
			return false
		case *ast.SelectorExpr:
			// A package of others may have the name: mail.ParseAddress.
			if id, ok := n.X.(*ast.Ident); ok && slices.Contains(foreign, id.Name) {
				skipped[id] = true
			}
		case *ast.Ident:
			if !skipped[n] && word.MatchString(splitWords(n.Name)) {
				found = append(found, []int{fset.Position(n.Pos()).Offset, fset.Position(n.End()).Offset})
			}
		case *ast.BasicLit:
			if n.Kind == token.STRING && word.MatchString(strings.ReplaceAll(n.Value, "_", " ")) {
				found = append(found, []int{fset.Position(n.Pos()).Offset, fset.Position(n.End()).Offset})
			}
		}
		return true
	})
	return found
}

// splitWords returns the words of an identifier, with spaces between them.
func splitWords(name string) string {
	return regexp.MustCompile(`([a-z0-9])([A-Z])|_|([A-Z])([A-Z][a-z])`).ReplaceAllString(name, "$1$3 $2$4")
}

func TestServiceWords(t *testing.T) {
	word := regexp.MustCompile(`(?i)\b(mail|search)\b`)
	for code, want := range map[string]int{
		`import "net/mail"` + "\nvar _ = mail.ParseAddress": 0,
		`var searches, research = "researching", 1`:         0,
		`var searchSettings int`:                            1,
		`type HTTPSearch struct{ mail int }`:                2,
		`const label = "/search/api"`:                       1,
		`var scopes = []string{"mail", "search"}`:           2,
		"// search is an example\nvar x int":                0,
	} {
		if got := serviceWords(t, "sample.go", []byte("package sample\n\n"+code), word); len(got) != want {
			t.Errorf("%s\nnames a service at %v, want %d places", code, got, want)
		}
	}
	if got := serviceWords(t, "sample.json", []byte(`{"job.search.purge": "Research"}`), word); len(got) != 1 {
		t.Errorf("a file of texts names a service at %v", got)
	}
}

// writeOverlay returns the file for "go build -overlay" that adds the files of a recipe, a folder below testdata, to the tree,
// and a line to one of the tree's files, after the only one that is last.
func writeOverlay(t *testing.T, recipe, list, last, added string) string {
	t.Helper()
	top, dir := root(t), t.TempDir()
	recipe, err := filepath.Abs(filepath.Join("testdata", recipe))
	if err != nil {
		t.Fatal(err)
	}
	overlay := struct{ Replace map[string]string }{map[string]string{}}
	err = filepath.WalkDir(recipe, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, err := filepath.Rel(recipe, path)
		if err != nil {
			return err
		}
		if _, err := os.Stat(filepath.Join(top, rel)); err == nil {
			t.Errorf("%s is in the tree", rel)
		}
		overlay.Replace[filepath.Join(top, rel)] = path
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(top, list))
	if err != nil {
		t.Fatal(err)
	}
	if strings.Count(string(text), last) != 1 {
		t.Fatalf("%s does not have %q once", list, last)
	}
	overlay.Replace[filepath.Join(top, list)] = writeFile(t, dir, path.Base(list), []byte(strings.Replace(string(text), last, last+added, 1)))
	raw, err := json.Marshal(overlay)
	if err != nil {
		t.Fatal(err)
	}
	return writeFile(t, dir, "overlay.json", raw)
}

// buildOverlay builds a package of the tree with an overlay, and returns the binary.
func buildOverlay(t *testing.T, overlay, pkg string) string {
	t.Helper()
	binary := filepath.Join(t.TempDir(), path.Base(pkg))
	build := exec.Command("go", "build", "-trimpath", "-overlay", overlay, "-o", binary, module+"/"+pkg)
	build.Dir = root(t)
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build: %v\n%s", err, out)
	}
	return binary
}

// TestServiceIsOneLine follows the recipe of core/docs/CONTRIBUTING.md: beside the folder of a service, which stands in
// testdata/service, one line of the tree changes. A core that is built so accepts the block of the service, mounts it, and
// reports it as ready.
func TestServiceIsOneLine(t *testing.T) {
	t.Parallel()
	const last = "\t_ \"" + module + "/core/services/search/module\"\n"
	core := buildOverlay(t, writeOverlay(t, "service", serviceList, last, strings.Replace(last, "search", "empty", 1)), "core/cmd/patchbay")
	dir := t.TempDir()
	plugins := writeFile(t, dir, "plugins", []byte("#!/bin/sh\necho '[]'\n"))
	if err := os.Chmod(plugins, 0o700); err != nil {
		t.Fatal(err)
	}
	file := writeFile(t, dir, "plugin.hcl", []byte(`core {
  http_addr     = "127.0.0.1:0"
  admin_addr    = "127.0.0.1:0"
  plugin_binary = "plugins"
}
service "empty" {}
`))
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, core, "serve", "-config", file)
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var log strings.Builder
	ready := regexp.MustCompile(`is ready:.* address=(\S+) admin=(\S+)`)
	var at []string
	for lines := bufio.NewScanner(stderr); at == nil && lines.Scan(); {
		log.WriteString(lines.Text() + "\n")
		at = ready.FindStringSubmatch(lines.Text())
	}
	if at == nil {
		t.Fatalf("the core does not start (%v):\n%s", cmd.Wait(), &log)
	}
	for url, want := range map[string]string{at[1] + "/empty/hello": "hello", at[1] + "/": `"empty":"/empty"`,
		at[2] + "/readyz": `"empty":"ok"`} {
		if got := fetchText(ctx, t, url); !strings.Contains(got, want) {
			t.Errorf("%s answers with %s, want %s", url, got, want)
		}
	}
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(&log, stderr); err != nil {
		t.Error(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("the core ends with %v:\n%s", err, &log)
	}
}

// fetchText returns the body at an address.
func fetchText(ctx context.Context, t *testing.T, url string) string {
	t.Helper()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(body)
}
