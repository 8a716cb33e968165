package guard

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const maxLines = 350

func TestTopLevel(t *testing.T) {
	known := []string{"core", "plugins", "sdk", "config", "examples", "go.mod", "go.sum", "plugin.hcl", "Makefile", "README.md", "LICENSE"}
	// Made by a build or a run, and ignored by version control.
	made := []string{"bin", "data"}
	entries, err := os.ReadDir(root(t))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if name := e.Name(); name[0] != '.' && !slices.Contains(known, name) && !slices.Contains(made, name) {
			t.Errorf("%s stands at the top level: only %s do; find it a folder", name, strings.Join(known, ", "))
		}
	}
}

func TestGoFilesAreShort(t *testing.T) {
	files(t, ".", func(path string, content []byte) {
		if n := bytes.Count(content, []byte("\n")); n > maxLines && !isGenerated(content) {
			t.Errorf("%s has %d lines, more than %d: split it by what it is about", path, n, maxLines)
		}
	}, ".go")
}

// ordinary are names of plugins that are also words of the core's own language.
var ordinary = []string{"local", "manual", "email", "webhook", "webpush", "oci", "docker", "github", "gitea", "feed", "echo"}

// asked are spellings that the interface of the proxy itself prescribes.
var asked = regexp.MustCompile(`(?i)tavilyApiKey`)

func TestNoProvidersNameInTheCore(t *testing.T) {
	names := providers(t)
	if len(names) == 0 {
		t.Fatal("no plugin was found; has the folder moved?")
	}
	pattern := regexp.MustCompile(`(?i)` + strings.Join(names, "|"))
	files(t, "core", func(path string, content []byte) {
		// Clients that people point at the proxy have names; so has whoever made them, or a module of the tools.
		if within(path, "core/docs", "core/guard", "core/services/search/pages/clients") || strings.HasSuffix(path, ".sum") ||
			strings.HasSuffix(path, "go.mod") {
			return
		}
		allowed := asked.FindAllIndex(content, -1)
		for _, at := range pattern.FindAllIndex(content, -1) {
			if !slices.ContainsFunc(allowed, func(a []int) bool { return a[0] <= at[0] && at[1] <= a[1] }) {
				t.Errorf("%s:%d names the provider %q: the core says \"upstream\" or takes it from the configuration", path, line(content, at[0]),
					content[at[0]:at[1]])
			}
		}
	})
}

// providers are the names of the built-in plugins that mean nothing else.
func providers(t *testing.T) (names []string) {
	t.Helper()
	dirs, err := filepath.Glob(filepath.Join(root(t), "plugins", "*", "*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range dirs {
		kind, name := filepath.Base(filepath.Dir(d)), filepath.Base(d)
		info, err := os.Stat(d)
		if err != nil || !info.IsDir() || kind == "cmd" || kind == "internal" || slices.Contains(ordinary, name) {
			continue
		}
		names = append(names, regexp.QuoteMeta(name))
	}
	return names
}

// forbidden are words that a finished text does not hold. They are put together here so that this file does not hold
// them itself.
func forbidden() map[string]*regexp.Regexp {
	word := func(parts ...string) *regexp.Regexp {
		return regexp.MustCompile(`\b` + strings.Join(parts, "") + `\b`)
	}
	any := func(parts ...string) *regexp.Regexp {
		return regexp.MustCompile(`(?i)\b` + strings.Join(parts, "") + `\b`)
	}
	return map[string]*regexp.Regexp{
		"do it now, or say in the documents what is not there": regexp.MustCompile(strings.Join([]string{word("TO", "DO").String(),
			word("FIX", "ME").String(), word("XX", "X").String(), word("HA", "CK").String()}, "|")),
		"say what it is and why": regexp.MustCompile(strings.Join([]string{`(?i)for no` +
			`w *[.;:)]|(//|#|--) *for no` + `w\b`, any("st", "ub(s|bed)?").String(), any("place", "holders?").String(), any("dum", "my").String(),
			any("not", " implemented").String()}, "|")),
		"a path of one machine belongs to nobody else's": regexp.MustCompile(`(^|[\s"'(=:])/(wo` + `rk|ho` + `me/[a-z]+|ro` + `ot)/`),
		"name no host of a package registry": regexp.MustCompile(`proxy\.gol` + `ang\.org|registry\.np` + `mjs\.org|sum\.gol` +
			`ang\.org|(?i)art` + `ifactory`),
		"pin the version": regexp.MustCompile(`@lat` + `est\b`),
	}
}

// text are the endings of files that people read.
var text = []string{".go", ".md", ".hcl", ".sql", ".proto", ".yml", ".yaml", ".sh", ".ts", ".js", ".mjs", ".json", ".templ", ".css",
	"Makefile", ".txtar", ".mod"}

func TestWordsThatDoNotBelongHere(t *testing.T) {
	words := forbidden()
	files(t, ".", func(path string, content []byte) {
		if isGenerated(content) || strings.Contains(path, "/static/vendor/") || path == "core/guard/tree_test.go" {
			return
		}
		for advice, pattern := range words {
			for _, at := range pattern.FindAllIndex(content, -1) {
				t.Errorf("%s:%d holds %q: %s", path, line(content, at[0]), bytes.TrimSpace(content[at[0]:at[1]]), advice)
			}
		}
	}, text...)
}

func TestLockFilesNameNoHost(t *testing.T) {
	resolved := regexp.MustCompile(`"resolved"\s*:\s*"https?://|^\s*resolved\s+"?https?://|registry\s*=\s*https?://`)
	files(t, ".", func(path string, content []byte) {
		if at := resolved.FindIndex(content); at != nil {
			t.Errorf("%s:%d names the registry it was made with: write it with omit-lockfile-registry-resolved=true", path, line(content, at[0]))
		}
	}, "package-lock.json", "npm-shrinkwrap.json", "yarn.lock", "pnpm-lock.yaml", ".npmrc")
}

func TestToolsArePinned(t *testing.T) {
	dir := root(t)
	mods, err := filepath.Glob(filepath.Join(dir, "core", "tools", "go.mod"))
	if err != nil || len(mods) == 0 {
		t.Fatalf("core/tools/go.mod pins the development tools and is not there: %v", err)
	}
	pseudo := regexp.MustCompile(`^v\d+\.\d+\.\d+(-[0-9A-Za-z.\-]+)?(\+incompatible)?$`)
	for _, mod := range append(mods, filepath.Join(dir, "go.mod"), filepath.Join(dir, "sdk", "go.mod")) {
		content, err := os.ReadFile(mod)
		if err != nil {
			t.Fatal(err)
		}
		for _, row := range strings.Split(string(content), "\n") {
			fields := strings.Fields(strings.TrimPrefix(strings.TrimSpace(row), "require "))
			if len(fields) < 2 || !strings.Contains(fields[0], ".") || !strings.HasPrefix(fields[1], "v") {
				continue
			}
			if !pseudo.MatchString(fields[1]) {
				t.Errorf("%s: %s is not pinned to a version: %s", filepath.Base(filepath.Dir(mod))+"/go.mod", fields[0], fields[1])
			}
		}
	}
	for _, f := range []string{"go.mod", "sdk/go.mod"} {
		content, err := os.ReadFile(filepath.Join(dir, f))
		if err != nil {
			t.Fatal(err)
		}
		if replaced := regexp.MustCompile(`=>\s*(/|[A-Za-z]:|\.\./)`).Find(content); replaced != nil {
			t.Errorf("%s replaces a module by a folder outside the tree", f)
		}
	}
}

// lostSpace matches a space between a text and a component on one line of a template: templ drops it.
var lostSpace = regexp.MustCompile(`[}>] @[a-zA-Z.]+\(`)

func TestTemplatesKeepTheirSpaces(t *testing.T) {
	seen := 0
	files(t, "core", func(path string, content []byte) {
		seen++
		for _, at := range lostSpace.FindAllIndex(content, -1) {
			t.Errorf("%s:%d: the space before the component is not written: put { \" \" } in its place", path, line(content, at[0]))
		}
	}, ".templ")
	if seen == 0 {
		t.Fatal("no template was found; have they moved?")
	}
}
