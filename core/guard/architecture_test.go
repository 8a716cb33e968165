package guard

import (
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestArchitectureNamesPackages: the overview in core/docs/architecture.md has each folder of core that holds a package,
// and no folder that is not there.
func TestArchitectureNamesPackages(t *testing.T) {
	content, err := os.ReadFile(filepath.Join(root(t), "core", "docs", "architecture.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(content), "\n```\n")
	overview, _, found := strings.Cut(rest, "\n```\n")
	if !found {
		t.Fatal("core/docs/architecture.md has no overview between lines of three backquotes")
	}
	var named []string
	for _, row := range strings.Split(overview, "\n") {
		folders, _, _ := strings.Cut(row, "  ")
		for _, f := range regexp.MustCompile(`[a-z]+(/[a-z]+)*(/\{[a-z,]+\})?`).FindAllString(folders, -1) {
			named = append(named, expandBraces(f)...)
		}
	}
	for _, f := range named {
		if _, err := os.Stat(filepath.Join(root(t), f)); err != nil {
			t.Errorf("the overview names %s: %v", f, err)
		}
	}
	for _, p := range packages(t) {
		parts := strings.Split(p.local(), "/")
		if parts[0] != "core" || len(parts) < 2 {
			continue
		}
		folder := strings.Join(parts[:2], "/")
		if folder == "core/plugin" {
			folder = strings.Join(parts[:3], "/")
		}
		if !slices.ContainsFunc(named, func(n string) bool { return within(n, folder) }) {
			t.Errorf("the overview in core/docs/architecture.md lacks %s: say in a line what it is", folder)
		}
	}
}

// expandBraces returns the paths that a path such as core/{store,queue} stands for.
func expandBraces(path string) (paths []string) {
	before, list, found := strings.Cut(path, "{")
	if !found {
		return []string{path}
	}
	for name := range strings.SplitSeq(strings.TrimSuffix(list, "}"), ",") {
		paths = append(paths, before+name)
	}
	return paths
}

// TestArchitectureLeadsToCode: each file that core/docs/architecture.md links to is there, and declares the name behind the link.
func TestArchitectureLeadsToCode(t *testing.T) {
	const doc = "core/docs/architecture.md"
	content, err := os.ReadFile(filepath.Join(root(t), doc))
	if err != nil {
		t.Fatal(err)
	}
	links := regexp.MustCompile("\\]\\((\\.\\./[^)]+\\.go)\\)(?: `(\\w+)`)?").FindAllStringSubmatch(string(content), -1)
	if len(links) < 10 {
		t.Fatalf("%s has %d links to code; have they moved?", doc, len(links))
	}
	for _, l := range links {
		file := path.Join(path.Dir(doc), l[1])
		code, err := os.ReadFile(filepath.Join(root(t), file))
		if err != nil {
			t.Errorf("%s leads to %s: %v", doc, file, err)
			continue
		}
		declared := regexp.MustCompile(`(?m)^(func (\([^)]*\) )?|type )` + regexp.QuoteMeta(l[2]) + `\b`)
		if l[2] != "" && !declared.Match(code) {
			t.Errorf("%s leads to %s in %s, which does not declare it", doc, l[2], file)
		}
	}
}
