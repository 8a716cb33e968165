package local_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"
	"go.uber.org/goleak"

	"github.com/patchbay-dev/patchbay/plugins/search/local"
	"github.com/patchbay-dev/patchbay/sdk/search"
)

func TestMain(m *testing.M) {
	if base := os.Getenv(envIndex); base != "" {
		if err := indexAndMeasure(base); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	if base := os.Getenv(envReindex); base != "" {
		if err := reindexAndWait(base, os.Getenv(envReindex+"_DATA"), os.Getenv(envReindex+"_SITE")); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	// bleve keeps its analysis workers for the life of the process.
	goleak.VerifyTestMain(m, goleak.IgnoreAnyFunction("github.com/blevesearch/bleve_index_api.AnalysisWorker"))
}

// house is a directory of configuration with documents.
type house struct {
	base, data string
	cfg        local.Config
	protected  []string
}

func newHouse(t testing.TB, files map[string]string) *house {
	t.Helper()
	h := &house{base: t.TempDir(), data: t.TempDir()}
	for name, text := range files {
		h.write(t, name, text)
	}
	h.cfg = houseConfig()
	return h
}

func houseConfig() local.Config {
	return local.Config{
		Folders: []string{"docs"}, MaxFileSize: 1 << 20, Rescan: 100 * time.Millisecond, Timeout: 5 * time.Second,
		Parallel: 2, Pages: 100, SitePages: 100, Refresh: time.Hour,
	}
}

func (h *house) write(t testing.TB, name, text string) {
	t.Helper()
	full := filepath.Join(h.base, name)
	if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(full, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func (h *house) instance() search.Instance {
	return search.Instance{Name: "docs", BaseDir: h.base, DataDir: h.data, Protected: h.protected, Log: hclog.NewNullLogger()}
}

// open opens a backend and closes it at the end of the test, unless the test does so earlier.
func (h *house) open(t testing.TB) (b search.Backend, closeIt func()) {
	t.Helper()
	make, diags := local.Definition().Build(h.instance(), h.cfg)
	if err := diags.Err(); err != nil {
		t.Fatal(err)
	}
	b, err := make(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	closed := false
	closeIt = func() {
		if !closed {
			closed = true
			if err := b.(interface{ Close() error }).Close(); err != nil {
				t.Error(err)
			}
		}
	}
	t.Cleanup(closeIt)
	eventually(t, "the files were looked at", func() bool {
		st, err := b.(search.Indexer).IndexStatus(t.Context())
		return err == nil && !slices.ContainsFunc(st.Sources, func(s search.IndexSource) bool {
			return s.Kind == search.SourceFiles && s.State == search.SourceIndexing
		})
	})
	return b, closeIt
}

type answer struct {
	Query   string
	Answer  any
	Images  []any
	Results []struct {
		Title, URL, Content string
		Score               float64
		RawContent          *string `json:"raw_content"`
		Images              []any
	}
	Failed []struct{ URL, Error string } `json:"failed_results"`
	Usage  *struct{ Credits int }
	Detail struct{ Error string }
}

func (a answer) urls() []string {
	out := []string{}
	for _, r := range a.Results {
		out = append(out, r.URL)
	}
	return out
}

func call(t testing.TB, b search.Backend, op, body string) (int, answer) {
	t.Helper()
	resp, err := b.Invoke(t.Context(), &search.Request{Operation: op, Body: []byte(body), RequestID: "r1"})
	if err != nil {
		t.Fatalf("%s %s: %v", op, body, err)
	}
	var a answer
	if err := json.Unmarshal(resp.Body, &a); err != nil {
		t.Fatalf("%s: %v\n%s", op, err, resp.Body)
	}
	if resp.ContentType != "application/json" || resp.Usage == nil || resp.Usage.Credits != 0 {
		t.Errorf("%s: head is %+v", op, resp.Head)
	}
	return resp.Status, a
}

func find(t testing.TB, b search.Backend, query string) answer {
	t.Helper()
	body, _ := json.Marshal(map[string]any{"query": query})
	status, a := call(t, b, search.OpSearch, string(body))
	if status != http.StatusOK {
		t.Fatalf("%s: status %d %s", query, status, a.Detail.Error)
	}
	return a
}

// eventually asks until the answer is as wanted.
func eventually(t testing.TB, what string, ok func() bool) {
	t.Helper()
	deadline := time.Now().Add(time.Minute)
	for !ok() {
		if time.Now().After(deadline) {
			t.Fatalf("did not happen in time: %s", what)
		}
		time.Sleep(20 * time.Millisecond)
	}
}

var library = map[string]string{
	"docs/quota.md":      "# Quotas and limits\n\nEvery token has credits per hour.\n\n## Reservations\n\nCredits are reserved before the upstream is called and settled afterwards.\n",
	"docs/plugins.md":    "# Plugins\n\nA plugin runs in a process of its own. Swapping providers is a change of configuration in plugin.hcl.\n",
	"docs/zh/upgrade.md": "# 自我升级\n\n升级任务会先拉取镜像，然后重启容器；失败时自动回滚到旧版本。\n",
	"docs/zh/mail.md":    "# 邮箱服务\n\n临时邮箱默认保留一小时。验证码会自动识别并显示。\n",
	"docs/page.html":     "<html><head><title>Crane manual</title></head><body><script>hidden()</script><p>The crane lifts containers.</p></body></html>",
	"docs/main.go":       "package main\n\n// drainTimeout bounds the shutdown.\nconst drainTimeout = 30\n",
	"docs/table.csv":     "name,load\nbigcrane,40\n",
	"outside/other.md":   "credits that nobody may see",
}

func TestSearch(t *testing.T) {
	b, _ := newHouse(t, library).open(t)
	for query, want := range map[string]string{
		"credits reserved":               "file:docs/quota.md",
		"reservation of a credit":        "file:docs/quota.md",
		"How do I swap a provider?":      "file:docs/plugins.md",
		"plugin.hcl":                     "file:docs/plugins.md",
		"回滚":                             "file:docs/zh/upgrade.md",
		"镜像拉取失败":                         "file:docs/zh/upgrade.md",
		"验证码":                            "file:docs/zh/mail.md",
		"临时邮箱 hour":                      "file:docs/zh/mail.md",
		"箱":                              "file:docs/zh/mail.md",
		"crane":                          "file:docs/page.html",
		"drainTimeout":                   "file:docs/main.go",
		"bigcrane":                       "file:docs/table.csv",
		"zh upgrade":                     "file:docs/zh/upgrade.md",
		strings.Repeat("credits ", 5000): "file:docs/quota.md",
	} {
		a := find(t, b, query)
		if len(a.Results) == 0 || a.Results[0].URL != want {
			t.Errorf("%.40s: got %v, want %s first", query, a.urls(), want)
			continue
		}
		last := 1.0
		for _, r := range a.Results {
			if r.Score <= 0 || r.Score > last || r.Title == "" || r.Content == "" || r.RawContent != nil {
				t.Errorf("%.40s: result is %+v", query, r)
			}
			last = r.Score
		}
		if slices.Contains(a.urls(), "file:outside/other.md") {
			t.Errorf("%.40s: a file outside of the folders was found", query)
		}
	}
	if a := find(t, b, "xyzzy"); len(a.Results) != 0 {
		t.Errorf("nonsense found %v", a.urls())
	}
	if a := find(t, b, "hidden()"); len(a.Results) != 0 {
		t.Errorf("a script was found: %v", a.urls())
	}
}

func TestSearchParameters(t *testing.T) {
	h := newHouse(t, library)
	b, _ := h.open(t)
	for body, want := range map[string]int{
		`{"query":"credits OR plugin OR crane","max_results":1}`:                                                   1,
		`{"query":"credits","max_results":0}`:                                                                      0,
		`{"query":"credits","include_domains":["example.org"]}`:                                                    0,
		`{"query":"credits","include_domains":["file","x"]}`:                                                       1,
		`{"query":"credits","exclude_domains":["file"]}`:                                                           0,
		`{"query":"credits","topic":"news","search_depth":"advanced","include_answer":true,"country":null,"x":{}}`: 1,
		`{"query":"credits","max_results":20.0}`:                                                                   1,
		`{"query":"credits","max_results":20.5}`:                                                                   -1, `{"query":"credits","max_results":21}`: -1, `{"query":"credits","max_results":-1}`: -1,
		`{"query":"credits","max_results":"3"}`: -1, `{"query":"credits","max_results":1.5}`: -1, `{}`: -1, `{"query":""}`: -1,
		`{"query":" "}`: -1,
		`{"query":5}`:   -1, `[]`: -1, `{"query":`: -1, ``: -1, `{"query":"x","include_raw_content":"pdf"}`: -1,
		`{"query":"x","include_domains":5}`:      -1,
		`{"query":"x","include_domains":[null]}`: -1, `{"query":"x","include_usage":"yes"}`: -1, `{"query":"x","chunks_per_source":9}`: -1,
	} {
		status, a := call(t, b, search.OpSearch, body)
		switch {
		case want < 0 && (status != http.StatusBadRequest || a.Detail.Error == ""):
			t.Errorf("%s: got %d %+v", body, status, a)
		case want >= 0 && (status != http.StatusOK || len(a.Results) != want || a.Answer != nil || a.Images == nil || a.Results == nil):
			t.Errorf("%s: got %d %v", body, status, a.urls())
		}
	}
	_, a := call(t, b, search.OpSearch, `{"query":"credits","include_raw_content":true,"include_usage":true}`)
	if a.Usage == nil || a.Results[0].RawContent == nil || *a.Results[0].RawContent != library["docs/quota.md"] {
		t.Errorf("got %+v", a)
	}
}

func TestPassages(t *testing.T) {
	var long strings.Builder
	long.WriteString("# Handbook\n\n")
	for i := range 200 {
		long.WriteString("Filler sentence about nothing in particular, again and again and again.\n")
		if i%7 == 0 {
			long.WriteString("\n")
		}
		if i == 150 {
			long.WriteString("The zeppelin lands at noon near the northern mast.\n")
		}
	}
	h := newHouse(t, map[string]string{"docs/long.md": long.String(), "docs/line.txt": strings.Repeat("zebra ", 3000) + "okapi"})
	b, _ := h.open(t)
	a := find(t, b, "zeppelin")
	if len(a.Results) != 1 || !strings.Contains(a.Results[0].Content, "zeppelin lands") || a.Results[0].Title != "Handbook" {
		t.Fatalf("got %+v", a.Results)
	}
	if n := len([]rune(a.Results[0].Content)); n > 510 {
		t.Errorf("excerpt has %d characters", n)
	}
	if a = find(t, b, "okapi"); len(a.Results) != 1 || !strings.Contains(a.Results[0].Content, "okapi") {
		t.Errorf("got %+v", a.Results)
	}
	_, a = call(t, b, search.OpSearch, `{"query":"filler sentence","chunks_per_source":3}`)
	if len(a.Results) != 1 || strings.Count(a.Results[0].Content, "[...]") != 2 {
		t.Errorf("got %+v", a.Results)
	}
}

func TestFollowsChanges(t *testing.T) {
	h := newHouse(t, library)
	b, _ := h.open(t)
	if len(find(t, b, "walrus").Results) != 0 {
		t.Fatal("found too early")
	}
	h.write(t, "docs/new.md", "a walrus on the ice")
	eventually(t, "new file is found", func() bool { return len(find(t, b, "walrus").Results) == 1 })
	h.write(t, "docs/new.md", "a badger on the ice")
	eventually(t, "changed file is found", func() bool {
		return len(find(t, b, "badger").Results) == 1 && len(find(t, b, "walrus").Results) == 0
	})
	if err := os.Remove(filepath.Join(h.base, "docs/new.md")); err != nil {
		t.Fatal(err)
	}
	eventually(t, "removed file is gone", func() bool { return len(find(t, b, "badger").Results) == 0 })
	if err := os.RemoveAll(filepath.Join(h.base, "docs/zh")); err != nil {
		t.Fatal(err)
	}
	eventually(t, "removed directory is gone", func() bool { return len(find(t, b, "回滚").Results) == 0 })
}
