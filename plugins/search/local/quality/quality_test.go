// Package quality measures what is found in real documentation, beside other searches.
package quality

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/patchbay-dev/patchbay/plugins/internal/testkit"
	"github.com/patchbay-dev/patchbay/plugins/search/local"
	"github.com/patchbay-dev/patchbay/sdk/search"
)

// envDocs names the variable with the folder of the documentation that testdata/questions.txt asks about.
const envDocs = "PATCHBAY_TEST_DOCS"

// docsFolder returns the folder of the documentation. Without one the test is skipped: the documentation is others'.
func docsFolder(t testing.TB) string {
	t.Helper()
	dir := os.Getenv(envDocs)
	if dir == "" {
		t.Skip("a folder of public documentation is missing: set " + envDocs + " to one, see performance.md")
	}
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		t.Fatalf("%s is %q, which is no folder", envDocs, dir)
	}
	return dir
}

// question is a question with the pages that answer it.
type question struct {
	Set   string `json:"set"`
	kind  string
	Query string `json:"query"`
	pages map[string]int
	// heldOut: it was not looked at while the ranking was changed.
	heldOut bool
}

func readQuestions(t testing.TB, docs string) []question {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("testdata", "questions.txt"))
	if err != nil {
		t.Fatal(err)
	}
	var out []question
	counts := map[string]int{}
	for line := range strings.Lines(string(raw)) {
		fields := strings.Split(strings.TrimSpace(line), " | ")
		if strings.HasPrefix(line, "#") || len(fields) != 4 {
			continue
		}
		q := question{Set: fields[0], kind: fields[1], Query: fields[2], pages: map[string]int{}}
		for _, page := range strings.Fields(fields[3]) {
			name, grade, _ := strings.Cut(page, "=")
			if _, err := os.Stat(filepath.Join(docs, q.Set, name+".md")); err != nil {
				t.Fatalf("%s: %v", q.Query, err)
			}
			if _, err := fmt.Sscan(grade, new(int)); err != nil {
				t.Fatalf("%s: %v", q.Query, err)
			}
			q.pages[name] = int(grade[0] - '0')
		}
		counts[q.Set+q.kind]++
		q.heldOut = counts[q.Set+q.kind]%3 == 0
		out = append(out, q)
	}
	return out
}

const depth = 5

// openSet opens a backend over the documentation of a set and waits until it is indexed.
func openSet(t testing.TB, folder string) search.Backend {
	t.Helper()
	cfg := local.Config{
		Folders: []string{folder}, Include: []string{"*.md"}, MaxFileSize: 1 << 20, Rescan: time.Hour, Timeout: 5 * time.Second,
		Parallel: 2, Pages: 100, SitePages: 100, Refresh: time.Hour,
	}
	inst := search.Instance{Name: "docs", BaseDir: filepath.Dir(folder), DataDir: t.TempDir(), Log: hclog.NewNullLogger()}
	open, diags := local.Definition().Build(inst, cfg)
	if err := diags.Err(); err != nil {
		t.Fatal(err)
	}
	b, err := open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = b.(interface{ Close() error }).Close() })
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for {
		st, err := b.(search.Indexer).IndexStatus(ctx)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.ContainsFunc(st.Sources, func(s search.IndexSource) bool { return s.State == search.SourceIndexing }) {
			return b
		}
		select {
		case <-time.After(20 * time.Millisecond):
		case <-ctx.Done():
			t.Fatal("the files are not indexed after a minute")
		}
	}
}

// ask returns the pages that a backend finds.
func ask(t testing.TB, b search.Backend, q question) []string {
	t.Helper()
	body, _ := json.Marshal(map[string]any{"query": q.Query, "max_results": depth})
	resp, err := b.Invoke(t.Context(), &search.Request{Operation: search.OpSearch, Body: body})
	if err != nil {
		t.Fatal(err)
	}
	var a struct{ Results []struct{ URL string } }
	if err := json.Unmarshal(resp.Body, &a); err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, r := range a.Results {
		out = append(out, strings.TrimSuffix(strings.TrimPrefix(r.URL, "file:"+q.Set+"/"), ".md"))
	}
	return out
}

// figures are sums of the quality by set, kind and part of the questions, for each search.
type figures struct {
	names  []string
	sums   map[string]map[string]float64
	counts map[string]float64
}

func (f *figures) add(name string, q question, value float64) {
	part := "seen"
	if q.heldOut {
		part = "held out"
	}
	for _, row := range []string{q.Set + " | " + q.kind + " | " + part, q.Set + " | " + q.kind + " | all"} {
		if f.sums[row] == nil {
			f.sums[row] = map[string]float64{}
		}
		f.sums[row][name] += value
		if name == f.names[0] {
			f.counts[row]++
		}
	}
}

// TestQuality prints the quality of the first five results beside those of FTS5 and of MiniSearch as VitePress uses it.
func TestQuality(t *testing.T) {
	docs := docsFolder(t)
	questions := readQuestions(t, docs)
	f := &figures{names: []string{"ours", "FTS5", "MiniSearch"}, sums: map[string]map[string]float64{}, counts: map[string]float64{}}
	others := map[string]map[string][]string{"FTS5": askFTS5(t, docs, questions), "MiniSearch": askMiniSearch(t, docs, questions)}
	backends := map[string]search.Backend{}
	for _, q := range questions {
		if backends[q.Set] == nil {
			backends[q.Set] = openSet(t, filepath.Join(docs, q.Set))
		}
		found := ask(t, backends[q.Set], q)
		f.add("ours", q, testkit.NDCG(q.pages, found, depth))
		for name, answers := range others {
			f.add(name, q, testkit.NDCG(q.pages, answers[q.Set+" "+q.Query], depth))
		}
		if value := testkit.NDCG(q.pages, found, depth); !q.heldOut && value < 0.99 {
			t.Logf("%.3f %s %s %s: %v, wanted %v", value, q.Set, q.kind, q.Query, found, q.pages)
		}
	}
	f.print(t)
	f.check(t)
}

const (
	// margin is by how much questions are answered better than by the better of the others, in each language; leastCorrected is the
	// quality for questions with mistakes, and for identifiers.
	margin         = 0.05
	leastCorrected = 0.85
)

// check fails for figures that are not as good as they were.
func (f *figures) check(t *testing.T) {
	sums, counts := map[string]map[string]float64{}, map[string]float64{}
	for row, values := range f.sums {
		set, rest, _ := strings.Cut(row, " | ")
		kind, part, _ := strings.Cut(rest, " | ")
		if part != "all" {
			continue
		}
		_, language, _ := strings.Cut(set, "-")
		if kind != "question" {
			kind = "corrected"
		}
		group := language + " " + kind
		if sums[group] == nil {
			sums[group] = map[string]float64{}
		}
		for name, value := range values {
			sums[group][name] += value
		}
		counts[group] += f.counts[row]
	}
	for group, values := range sums {
		least := leastCorrected
		if strings.HasSuffix(group, " question") {
			least = max(values["FTS5"], values["MiniSearch"])/counts[group] + margin
		}
		if got := values["ours"] / counts[group]; got < least {
			t.Errorf("%s: %.3f is less than %.3f", group, got, least)
		}
	}
}

func (f *figures) print(t *testing.T) {
	out := "set | kind | part | questions"
	for _, name := range f.names {
		out += " | " + name
	}
	rows := slices.Sorted(func(yield func(string) bool) {
		for row := range f.sums {
			if !yield(row) {
				return
			}
		}
	})
	for _, row := range rows {
		out += fmt.Sprintf("\n%s | %.0f", row, f.counts[row])
		for _, name := range f.names {
			out += fmt.Sprintf(" | %.3f", f.sums[row][name]/f.counts[row])
		}
	}
	t.Log("\n" + out)
}
