package guard

import (
	"bufio"
	"context"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
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
	"core/admin", "core/app", "core/auth", "core/cli", "core/cluster", "core/console", "core/event", "core/fault", "core/httpd", "core/lists", "core/module", "core/notify",
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

// TestServiceIsOneLine follows the recipe of core/docs/CONTRIBUTING.md: beside the folder of a service, which stands in
// testdata/service, one line of the tree changes. A core that is built so accepts the block of the service, mounts it, and
// reports it as ready.
func TestServiceIsOneLine(t *testing.T) {
	t.Parallel()
	const last = "\t_ \"" + module + "/core/services/search/module\"\n"
	core := buildOverlay(t, writeOverlay(t, "service", edit{serviceList, last, strings.Replace(last, "search", "empty", 1)}), "core/cmd/patchbay")
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
