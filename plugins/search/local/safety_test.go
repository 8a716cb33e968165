package local_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/patchbay-dev/patchbay/plugins/search/local"
	"github.com/patchbay-dev/patchbay/sdk/schema"
	"github.com/patchbay-dev/patchbay/sdk/search"
)

const planted = "zanzibarsecret"

// hostile is a house with a secret in every place that must stay closed.
func hostile(t *testing.T) *house {
	h := newHouse(t, map[string]string{"docs/open.md": "# Open\n\nharmless words\n"})
	for _, name := range []string{
		"docs/.env", "docs/.git/config", "docs/.hidden/notes.md", "docs/server.key", "docs/cert.PEM", "docs/id_rsa", "docs/id_ed25519.pub",
		"docs/vault.kdbx", "docs/store.p12", "docs/prod.env", "docs/credentials.json", "docs/secrets.yaml", "docs/terraform.tfstate",
		"docs/state/data.md", "docs/private.md", "elsewhere/real.md", "docs/deep/a/.b/c/note.md",
	} {
		h.write(t, name, planted+" in "+name)
	}
	h.write(t, "docs/innocent.txt", "-----BEGIN PRIVATE KEY-----\n"+planted+"\n")
	h.write(t, "docs/binary.md", "text "+planted+"\x00 more")
	h.write(t, "docs/large.md", planted+strings.Repeat(" x", 1<<20))
	h.data = filepath.Join(h.base, "docs", "state")
	h.protected = []string{filepath.Join(h.base, "docs", "private.md"), "elsewhere"}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(os.Symlink(filepath.Join(h.base, "elsewhere"), filepath.Join(h.base, "docs", "link")))
	must(os.Symlink(filepath.Join(h.base, "elsewhere", "real.md"), filepath.Join(h.base, "docs", "link.md")))
	must(os.Symlink(filepath.Join(h.base, "docs", "private.md"), filepath.Join(h.base, "docs", "alias.md")))
	must(os.Link(filepath.Join(h.base, "docs", "private.md"), filepath.Join(h.base, "docs", "hard.md")))
	must(os.Symlink("loop", filepath.Join(h.base, "docs", "loop")))
	return h
}

func TestProtectedFilesAreNeverFound(t *testing.T) {
	h := hostile(t)
	for _, folders := range [][]string{{"docs"}, {"."}, {"docs", ".", "docs/deep"}} {
		h.cfg.Folders = folders
		b, stop := h.open(t)
		if n := len(find(t, b, "harmless").Results); n != 1 {
			t.Errorf("%v: %d results for what is open", folders, n)
		}
		for _, q := range []string{planted, planted + " hidden", "PRIVATE KEY", "real", "private", "alias"} {
			if a := find(t, b, q); len(a.Results) != 0 {
				t.Errorf("%v: %s found %v", folders, q, a.urls())
			}
		}
		stop()
	}
	raw := 0
	_ = filepath.Walk(filepath.Join(h.data, "index"), func(path string, info os.FileInfo, err error) error {
		if err == nil && info.Mode().IsRegular() {
			data, _ := os.ReadFile(path)
			raw += strings.Count(string(data), planted)
		}
		return nil
	})
	if raw > 0 {
		t.Errorf("the secret is %d times in the index's files", raw)
	}
}

func TestExtractOfFiles(t *testing.T) {
	h := hostile(t)
	h.write(t, "docs/a b#ü.md", "spaced words")
	h.write(t, "docs/page.html", "<title>T</title><h1>Head</h1><p>some <b>bold</b> words</p>")
	b, _ := h.open(t)
	for address, want := range map[string]string{
		"file:docs/open.md": "harmless", "file:docs/a%20b%23%C3%BC.md": "spaced", "file:docs/a b#ü.md": "spaced",
		" file:docs/open.md ": "harmless",
		"file:docs/page.html": "**bold**",
	} {
		body, _ := json.Marshal(map[string]any{"urls": address})
		_, a := call(t, b, search.OpExtract, string(body))
		if len(a.Results) != 1 || a.Results[0].RawContent == nil || !strings.Contains(*a.Results[0].RawContent, want) ||
			a.Results[0].URL != address {
			t.Errorf("%s: got %+v", address, a)
		}
	}
	var evil []string
	for _, p := range []string{
		"/etc/passwd", "//etc/passwd", "///etc/passwd", "../elsewhere/real.md", "docs/../elsewhere/real.md", "docs/../docs/open.md",
		"./docs/open.md",
		"docs/%2e%2e/elsewhere/real.md", "docs/..%2felsewhere/real.md", "docs/.env", "docs/private.md", "docs/alias.md", "docs/hard.md",
		"docs/link/real.md",
		"docs/link.md", "docs/server.key", "docs", "", filepath.Join(h.base, "docs/open.md"), "docs/open.md\x00", "docs/state/data.md",
	} {
		evil = append(evil, "file:"+p)
	}
	evil = append(evil, "FILE:///etc/passwd", "File:docs/private.md")
	for len(evil) > 0 {
		part := evil[:min(len(evil), 20)]
		evil = evil[len(part):]
		body, _ := json.Marshal(map[string]any{"urls": part})
		status, a := call(t, b, search.OpExtract, string(body))
		if status != http.StatusOK || len(a.Results) != 0 || len(a.Failed) != len(part) {
			t.Errorf("got %d, %+v", status, a)
		}
		for _, f := range a.Failed {
			if strings.Contains(f.Error, h.base) {
				t.Errorf("%s: the error shows a path: %s", f.URL, f.Error)
			}
		}
	}
}

func TestReplacedByLink(t *testing.T) {
	h := hostile(t)
	h.cfg.Rescan = time.Hour
	b, _ := h.open(t)
	find(t, b, "harmless")
	open := filepath.Join(h.base, "docs", "open.md")
	if err := os.Remove(open); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(h.base, "docs", "private.md"), open); err != nil {
		t.Fatal(err)
	}
	_, a := call(t, b, search.OpExtract, `{"urls":["file:docs/open.md"]}`)
	if len(a.Results) != 0 || len(a.Failed) != 1 {
		t.Errorf("got %+v", a)
	}
	_, a = call(t, b, search.OpSearch, `{"query":"harmless","include_raw_content":true}`)
	if len(a.Results) != 1 || a.Results[0].RawContent != nil {
		t.Errorf("got %+v", a)
	}
}

func TestExtractOfPages(t *testing.T) {
	inner := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(w, planted) }))
	defer inner.Close()
	mux := http.NewServeMux()
	mux.HandleFunc("/page", func(w http.ResponseWriter, r *http.Request) {
		for k := range r.Header {
			if k != "User-Agent" && k != "Accept" && k != "Accept-Encoding" {
				t.Errorf("header %s was sent", k)
			}
		}
		w.Header().Set("Content-Type", "text/html")
		_, _ = io.WriteString(w, `<title>T</title><h1>Head</h1><p>readable <b>words</b></p><img src="/x.png">`)
	})
	mux.Handle("/inner", http.RedirectHandler(inner.URL, http.StatusFound))
	mux.HandleFunc("/slow", func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	srv := httptest.NewServer(mux)
	defer srv.Close()
	h := newHouse(t, library)
	h.cfg.AllowHosts = []string{strings.TrimPrefix(srv.URL, "http://")}
	b, _ := h.open(t)
	body, _ := json.Marshal(map[string]any{"include_images": true, "include_usage": true, "timeout": 1, "urls": []string{
		srv.URL + "/page", srv.URL + "/inner", srv.URL + "/slow", srv.URL + "/none", inner.URL, "http://localhost/",
		"http://169.254.169.254/latest",
		"http://[::1]/", "http://10.0.0.1/", "ftp://example.org/x", "gopher://x", "not an address", "http://u:p@example.org/",
		"javascript:alert(1)",
	}})
	status, a := call(t, b, search.OpExtract, string(body))
	if status != http.StatusOK || len(a.Results) != 1 || len(a.Failed) != 13 || a.Usage == nil {
		t.Fatalf("got %d, %+v", status, a)
	}
	if r := a.Results[0]; !strings.Contains(*r.RawContent, "readable **words**") || len(r.Images) != 1 {
		t.Errorf("got %+v", r)
	}
	for _, f := range a.Failed {
		if f.Error == "" || strings.Contains(f.Error, planted) {
			t.Errorf("%s: %q", f.URL, f.Error)
		}
	}
	urls := strings.TrimSuffix(strings.Repeat(`"file:x",`, 21), ",")
	for _, bad := range []string{
		`{}`, `{"urls":[]}`, `{"urls":""}`, `{"urls":5}`, `{"urls":[5]}`, `{"urls":[null]}`, `{"urls":[` + urls + `]}`,
		`{"urls":"x","timeout":0}`,
		`{"urls":"x","timeout":61}`, `{"urls":"x","timeout":"5"}`, `{"urls":"x","format":"pdf"}`, `{"urls":"x","extract_depth":"deep"}`, `{`,
	} {
		if status, a := call(t, b, search.OpExtract, bad); status != http.StatusBadRequest || a.Detail.Error == "" {
			t.Errorf("%s: got %d", bad, status)
		}
	}
	if _, err := b.Invoke(t.Context(), &search.Request{Operation: "translate", Body: []byte(`{}`)}); err == nil {
		t.Error("an operation that is not offered was answered")
	}
}

func TestBuild(t *testing.T) {
	h := hostile(t)
	good := h.cfg
	for path, change := range map[string]func(*local.Config){
		"folders":         func(c *local.Config) { c.Folders = nil },
		"folders[1]":      func(c *local.Config) { c.Folders = []string{"docs", "missing"} },
		"folders[0]":      func(c *local.Config) { c.Folders = []string{"docs/.hidden"} },
		"include[0]":      func(c *local.Config) { c.Include = []string{"[a-z]"} },
		"exclude[1]":      func(c *local.Config) { c.Exclude = []string{"*.md", ""} },
		"allow_hosts[0]":  func(c *local.Config) { c.AllowHosts = []string{"http://x"} },
		"max_file_size":   func(c *local.Config) { c.MaxFileSize = -1 },
		"rescan_interval": func(c *local.Config) { c.Rescan = time.Millisecond },
		"timeout":         func(c *local.Config) { c.Timeout = time.Hour },
		"crawl_parallel":  func(c *local.Config) { c.Parallel = 0 },
		"crawl_delay":     func(c *local.Config) { c.Delay = -time.Second },
		"crawl_pages":     func(c *local.Config) { c.Pages = 100_000 },
	} {
		cfg := good
		change(&cfg)
		_, diags := local.Definition().Build(h.instance(), cfg)
		if len(diags) != 1 || diags[0].Path.String() != path || diags[0].Severity != schema.Error {
			t.Errorf("%s: got %v", path, diags)
		}
	}
	for _, folder := range []string{"elsewhere", "docs/private.md", "docs/server.key", "docs/link", " ", "docs/state"} {
		cfg := good
		cfg.Folders = []string{folder}
		if _, diags := local.Definition().Build(h.instance(), cfg); !diags.HasErrors() {
			t.Errorf("folder %q was accepted", folder)
		}
	}
	kind, err := local.Plugin().Kinds[0].Describe()
	if err != nil || kind.GetName() != search.Kind {
		t.Fatalf("got %v, %v", kind, err)
	}
	for _, op := range local.Definition().Operations {
		if op.Name != search.OpResearchResult && !json.Valid([]byte(op.InputSchema)) {
			t.Errorf("%s: schema is not JSON", op.Name)
		}
	}
}

func TestIncludeExcludeAndOutside(t *testing.T) {
	h := newHouse(t, library)
	other := t.TempDir()
	if err := os.WriteFile(filepath.Join(other, "far.md"), []byte("faraway words"), 0o600); err != nil {
		t.Fatal(err)
	}
	h.cfg.Folders = []string{"docs", "outside/other.md", other}
	h.cfg.Include = []string{"*.md", "docs/**/*.html"}
	h.cfg.Exclude = []string{"docs/zh"}
	b, _ := h.open(t)
	for query, want := range map[string]int{"credits": 2, "drainTimeout": 0, "crane": 1, "回滚": 0, "faraway": 1} {
		if a := find(t, b, query); len(a.Results) != want {
			t.Errorf("%s: got %v", query, a.urls())
		}
	}
	want := "file:" + filepath.Base(other) + "/far.md"
	if a := find(t, b, "faraway"); a.urls()[0] != want {
		t.Errorf("got %v, want %s", a.urls(), want)
	}
}
