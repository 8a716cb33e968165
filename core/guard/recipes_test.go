package guard

import (
	"encoding/json"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// edit adds lines to a file of the tree, after the only ones that are after.
type edit struct{ file, after, added string }

// The lines that the recipes of an endpoint and of a page add to existing files.
var (
	endpointEdits = []edit{
		{"core/services/mail/api/api.go", "\ta.mailboxAPI(out)\n", "\t(&nameHandlers{a.cfg.Domains}).nameAPI(out)\n"},
	}
	pageEdits = []edit{
		{"core/services/mail/pages/section.go", "Href: p.base + docsPath, Key: \"b\"},\n",
			"{TextID: \"mail.nav.names\", Icon: ui.IconGlobe, Href: p.base + namesPath},\n"},
		{"core/services/mail/pages/section.go", "get(docsPath, p.showDocs),\n", "get(namesPath, p.showNames),\n"},
		{"core/services/mail/pages/locales/en.json", "\"mail.name\": \"Mail\",\n", "\"mail.nav.names\": \"Domain names\",\n" +
			"\"mail.names.text\": \"Mail domains in use:\",\n"},
		{"core/services/mail/pages/locales/zh.json", "\"mail.name\": \"邮件\",\n", "\"mail.nav.names\": \"域名列表\",\n" +
			"\"mail.names.text\": \"正在使用的邮件域名：\",\n"},
	}
)

// TestEndpointRecipe follows the recipe of core/docs/CONTRIBUTING.md: the files of testdata/endpoint and one line of the tree add an
// endpoint to the mail service. The test of the recipe calls it.
func TestEndpointRecipe(t *testing.T) {
	t.Parallel()
	runOverlay(t, writeOverlay(t, "endpoint", endpointEdits...), "core/services/mail", "TestDomainName")
	checkQuotes(t, "Add an endpoint", "endpoint", endpointEdits)
}

// TestPageRecipe follows the recipe of core/docs/CONTRIBUTING.md: the files of testdata/page, and lines for the route, the navigation
// and the texts, add a page to the mail service. The test of the recipe opens it in both languages.
func TestPageRecipe(t *testing.T) {
	t.Parallel()
	runOverlay(t, writeOverlay(t, "page", pageEdits...), "core/services/mail/pages", "TestNamesPage")
	checkQuotes(t, "Add a page", "page", pageEdits)
}

// writeOverlay returns the file for "go build -overlay" that adds the files of a recipe, a folder below testdata, and edits to the tree.
func writeOverlay(t *testing.T, recipe string, edits ...edit) string {
	t.Helper()
	top, dir := root(t), t.TempDir()
	overlay := struct{ Replace map[string]string }{map[string]string{}}
	for rel, file := range recipeFiles(t, recipe) {
		if _, err := os.Stat(filepath.Join(top, rel)); err == nil {
			t.Errorf("%s is in the tree", rel)
		}
		overlay.Replace[filepath.Join(top, rel)] = file
	}
	texts := map[string]string{}
	for _, e := range edits {
		if _, found := texts[e.file]; !found {
			text, err := os.ReadFile(filepath.Join(top, e.file))
			if err != nil {
				t.Fatal(err)
			}
			texts[e.file] = string(text)
		}
		if strings.Count(texts[e.file], e.after) != 1 {
			t.Fatalf("%s does not have %q once", e.file, e.after)
		}
		texts[e.file] = strings.Replace(texts[e.file], e.after, e.after+e.added, 1)
	}
	for file, text := range texts {
		overlay.Replace[filepath.Join(top, file)] = writeFile(t, dir, strings.ReplaceAll(file, "/", "-"), []byte(text))
	}
	raw, err := json.Marshal(overlay)
	if err != nil {
		t.Fatal(err)
	}
	return writeFile(t, dir, "overlay.json", raw)
}

// recipeFiles returns the absolute paths of a recipe's files by their paths in the tree.
func recipeFiles(t *testing.T, recipe string) map[string]string {
	t.Helper()
	dir, err := filepath.Abs(filepath.Join("testdata", recipe))
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]string{}
	err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, err := filepath.Rel(dir, path)
		found[rel] = path
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// buildOverlay builds a package of the tree with an overlay, and returns the binary.
func buildOverlay(t *testing.T, overlay, pkg string) string {
	t.Helper()
	binary := filepath.Join(t.TempDir(), path.Base(pkg))
	runGo(t, "build", "-trimpath", "-overlay", overlay, "-o", binary, module+"/"+pkg)
	return binary
}

// runOverlay runs a test of a package with an overlay.
func runOverlay(t *testing.T, overlay, pkg, test string) {
	t.Helper()
	out := runGo(t, "test", "-trimpath", "-vet=off", "-count=1", "-v", "-overlay", overlay, "-run", "^"+test+"$", module+"/"+pkg)
	if !strings.Contains(out, "--- PASS: "+test+" ") {
		t.Errorf("%s did not run:\n%s", test, out)
	}
}

// runGo runs the go command in the tree and returns what it prints.
func runGo(t *testing.T, args ...string) string {
	t.Helper()
	cmd := exec.Command("go", args...)
	cmd.Dir = root(t)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("go %s: %v\n%s", args[0], err, out)
	}
	return string(out)
}

// checkQuotes compares the code below a heading of core/docs/CONTRIBUTING.md with that of a recipe. Indentation may differ.
func checkQuotes(t *testing.T, heading, recipe string, edits []edit) {
	t.Helper()
	document, err := os.ReadFile(filepath.Join(root(t), "core", "docs", "CONTRIBUTING.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(document), "\n## "+heading+"\n")
	section, _, _ = strings.Cut(section, "\n## ")
	var code []string
	for _, file := range recipeFiles(t, recipe) {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		code = append(code, string(text))
	}
	for _, e := range edits {
		if code = append(code, e.added); !strings.Contains(section, path.Base(e.file)) {
			t.Errorf("%q does not name %s", heading, e.file)
		}
	}
	all := "\n" + trimLines(strings.Join(code, "\n")) + "\n"
	quotes := regexp.MustCompile("(?s)\n```\\w+\n(.*?)\n```\n").FindAllStringSubmatch(section, -1)
	if len(quotes) == 0 {
		t.Errorf("%q shows no code", heading)
	}
	for _, q := range quotes {
		if !strings.Contains(all, "\n"+trimLines(q[1])+"\n") {
			t.Errorf("%q shows code that testdata/%s does not have:\n%s", heading, recipe, q[1])
		}
	}
}

// trimLines returns a text without the indentation of its lines.
func trimLines(text string) string {
	lines := strings.Split(text, "\n")
	for i, l := range lines {
		lines[i] = strings.TrimSpace(l)
	}
	return strings.Join(lines, "\n")
}
