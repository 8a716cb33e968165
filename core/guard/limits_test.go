package guard

import (
	"bufio"
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"go/token"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "lower the exceptions in testdata/limits.json to what is measured")

// limit is a figure that no package, or no part of the tree, may exceed.
type limit struct {
	name string
	// most is the largest figure that needs no exception.
	most int
	// advice says what to do about a figure above it.
	advice string
	// measure returns the figure of each subject: a package, a type or a part of the tree.
	measure func(fset *token.FileSet, all []source) map[string]int
}

// limits are the figures that keep the tree readable. Shares are in thousandths.
var limits = []limit{
	{"lines of a package", 4000, "split it by what it is about", countLines},
	{"files of a package", 40, "split it by what it is about", countFiles},
	{"methods of a type", 40, "give a part of its work a type of its own", countMethods},
	{"files with SQL outside of stores", 0, "move the statements into a store*.go", countFilesWithSQL},
	{"files with routes outside of api and pages", 0, "move what knows gin or huma into api/", countFilesWithRoutes},
	{"files in a knot", 12, "let the files of a package depend on each other one way", measureKnots},
	{"arrows back", 80, "let the files of a package depend on each other one way", measureArrowsBack},
	{"one-word functions of a tree", 100, "name functions with a verb and its object", measureOneWordOfTrees},
	{"one-word functions of a package", 250, "name functions with a verb and its object", measureOneWordOfPackages},
	{"names that end in Of", 10, "name functions with a verb and its object", measureNamesInOf},
	{"long lines", 5, "break lines after at most 140 characters", measureLongLines},
}

// mostExceptions is how many subjects may exceed a limit at the same time.
const mostExceptions = 10

// exception lets one subject exceed a limit, for a reason. Its figure may only fall.
type exception struct {
	Limit   string `json:"limit"`
	Subject string `json:"subject"`
	Figure  int    `json:"figure"`
	Reason  string `json:"reason"`
}

// TestLimits measures all limits. A subject above its limit needs an exception in testdata/limits.json, at most a twentieth above its
// figure. Lower the exceptions to what is measured with "go test ./core/guard -run 'TestLimits$' -update".
func TestLimits(t *testing.T) {
	all, fset := sources(t)
	allowed := readExceptions(t)
	if len(allowed) > mostExceptions {
		t.Errorf("testdata/limits.json has %d exceptions, more than %d", len(allowed), mostExceptions)
	}
	for _, e := range allowed {
		if e.Reason == "" {
			t.Errorf("%s: %s: the exception in testdata/limits.json gives no reason", e.Subject, e.Limit)
		}
	}
	var needed []exception
	for _, l := range limits {
		figures := l.measure(fset, all)
		if len(figures) == 0 {
			t.Errorf("%s: nothing was measured; have the folders moved?", l.name)
		}
		kept, rises, falls := compareFigures(l, figures, allowed)
		needed = append(needed, kept...)
		for _, line := range rises {
			t.Error(line)
		}
		for _, line := range falls {
			if !*update {
				t.Error(line)
			}
		}
	}
	if *update {
		writeExceptions(t, needed)
	}
}

// compareFigures returns the exceptions that a limit still needs, none higher than it was, and what is wrong: figures that need a higher
// exception than they have, and exceptions that can be lowered by a twentieth or taken away.
func compareFigures(l limit, figures map[string]int, allowed []exception) (needed []exception, rises, falls []string) {
	const file, advice = "testdata/limits.json", "run the test with -update"
	before := map[string]exception{}
	for _, e := range allowed {
		if e.Limit == l.name {
			before[e.Subject] = e
		}
	}
	for _, subject := range slices.Sorted(maps.Keys(figures)) {
		figure := figures[subject]
		if figure <= l.most {
			continue
		}
		e, ok := before[subject]
		delete(before, subject)
		switch {
		case !ok:
			rises = append(rises, fmt.Sprintf("%s: %d %s, more than %d: %s", subject, figure, l.name, l.most, l.advice))
			continue
		case figure > e.Figure:
			rises = append(rises, fmt.Sprintf("%s: %d %s, more than the %d of %s: %s", subject, figure, l.name, e.Figure, file, l.advice))
		case 20*figure <= 19*e.Figure:
			falls = append(falls, fmt.Sprintf("%s: %d %s, fewer than the %d of %s: %s", subject, figure, l.name, e.Figure, file, advice))
		}
		e.Figure = min(e.Figure, figure)
		needed = append(needed, e)
	}
	for _, subject := range slices.Sorted(maps.Keys(before)) {
		falls = append(falls, fmt.Sprintf("%s: %s: the exception in %s is not needed: %s", subject, l.name, file, advice))
	}
	return needed, rises, falls
}

// readExceptions reads testdata/limits.json: one exception a line.
func readExceptions(t *testing.T) (out []exception) {
	t.Helper()
	content, err := os.ReadFile(filepath.Join("testdata", "limits.json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(content, &out); err != nil {
		t.Fatalf("read testdata/limits.json: %v", err)
	}
	return out
}

// writeExceptions writes testdata/limits.json.
func writeExceptions(t *testing.T, list []exception) {
	t.Helper()
	lines := make([]string, 0, len(list))
	for _, e := range list {
		row, err := json.Marshal(e)
		if err != nil {
			t.Fatal(err)
		}
		lines = append(lines, "  "+string(row))
	}
	content := "[\n" + strings.Join(lines, ",\n") + "\n]\n"
	if err := os.WriteFile(filepath.Join("testdata", "limits.json"), []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

// production returns the files that are no tests, by package folder.
func production(all []source) map[string][]source {
	out := map[string][]source{}
	for _, s := range all {
		if !strings.HasSuffix(s.path, "_test.go") {
			out[path.Dir(s.path)] = append(out[path.Dir(s.path)], s)
		}
	}
	return out
}

func countLines(_ *token.FileSet, all []source) map[string]int {
	out := map[string]int{}
	for dir, list := range production(all) {
		for _, s := range list {
			out[dir] += bytes.Count(s.content, []byte("\n"))
		}
	}
	return out
}

func countFiles(_ *token.FileSet, all []source) map[string]int {
	out := map[string]int{}
	for dir, list := range production(all) {
		out[dir] = len(list)
	}
	return out
}

// countFilesWithSQL counts, for each service, the files that use the database outside of its stores.
func countFilesWithSQL(_ *token.FileSet, all []source) map[string]int {
	return countImporters(all, func(s source) bool { return strings.Contains(path.Base(s.path), "store") }, "gorm.io/")
}

// countFilesWithRoutes counts, for each service, the files that know the router outside of its api and pages.
func countFilesWithRoutes(_ *token.FileSet, all []source) map[string]int {
	inside := func(s source) bool { return within(s.path, "core/services/*/api", "core/services/*/pages") }
	return countImporters(all, inside, "github.com/gin-gonic/gin", "github.com/danielgtaylor/huma")
}

// countImporters counts, for each service, the files that import a module of the given prefixes where they should not.
func countImporters(all []source, allowed func(source) bool, prefixes ...string) map[string]int {
	out := map[string]int{}
	for _, list := range production(all) {
		for _, s := range list {
			if !within(s.path, "core/services") {
				continue
			}
			service := strings.Join(strings.SplitN(s.path, "/", 4)[:3], "/")
			out[service] += 0
			for _, i := range s.file.Imports {
				name := strings.Trim(i.Path.Value, `"`)
				if !allowed(s) && slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(name, p) }) {
					out[service]++
					break
				}
			}
		}
	}
	return out
}

// measureLongLines returns the thousandths of lines with more than 140 characters, for each tree.
func measureLongLines(_ *token.FileSet, all []source) map[string]int {
	long, lines := map[string]int{}, map[string]int{}
	for _, s := range all {
		tree, _, _ := strings.Cut(s.path, "/")
		for scan := bufio.NewScanner(bytes.NewReader(s.content)); scan.Scan(); lines[tree]++ {
			if len([]rune(scan.Text())) > 140 {
				long[tree]++
			}
		}
	}
	out := map[string]int{}
	for tree, n := range lines {
		out[tree] = thousandths(long[tree], n)
	}
	return out
}

// thousandths returns the share of part in whole, rounded up, so that only an empty part is 0.
func thousandths(part, whole int) int {
	if whole == 0 {
		return 0
	}
	return (1000*part + whole - 1) / whole
}
