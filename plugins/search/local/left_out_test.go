package local_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/patchbay-dev/patchbay/sdk/search"
)

// TestLeftOutIsTold: each file that is not indexed is counted and named with its reason, and no other.
func TestLeftOutIsTold(t *testing.T) {
	files := map[string]string{
		"docs/a.md": "# A\n\nwords", "docs/empty.md": "", "docs/blank.md": " \n", "docs/picture.md": "\x89PNG\x00\x01\x02",
		"docs/go.sum": "x h1:y", "docs/logo.svg": "<svg/>",
		"docs/app.js": strings.Repeat("function a(b){return b+1};", 200), "docs/secrets.yaml": "a: b",
		"docs/key.txt":  "-----BEGIN PRIVATE KEY-----\nx",
		"docs/large.md": strings.Repeat("words ", 1000), "docs/broken.docx": "PK",
		"docs/gbk.txt": "\xc6\xf0\xd6\xd8\xbb\xfa\xb5\xc4\xcb\xb5\xc3\xf7\n", "docs/.hidden.md": "hidden", "docs/skip/x.md": "out",
		"docs/.git/y.md": "z",
	}
	for i := range 12 {
		files[fmt.Sprintf("docs/n%02d.min.css", i)] = "a{}"
	}
	h := newHouse(t, files)
	if err := os.Symlink(filepath.Join(h.base, "docs", "a.md"), filepath.Join(h.base, "docs", "link.md")); err != nil {
		t.Fatal(err)
	}
	h.cfg.MaxFileSize, h.cfg.Exclude = 5900, []string{"skip"}
	b, _ := h.open(t)
	if got := find(t, b, "起重机").urls(); len(got) != 1 || got[0] != "file:docs/gbk.txt" {
		t.Errorf("GBK: found %q", got)
	}
	want := []search.IndexLeftOut{
		{Reason: "generated", Count: 15, Names: []string{"docs/app.js", "docs/go.sum", "docs/logo.svg", "docs/n00.min.css", "docs/n01.min.css",
			"docs/n02.min.css", "docs/n03.min.css", "docs/n04.min.css", "docs/n05.min.css", "docs/n06.min.css"}},
		{Reason: "binary", Count: 1, Names: []string{"docs/picture.md"}}, {Reason: "damaged", Count: 1, Names: []string{"docs/broken.docx"}},
		{Reason: "empty", Count: 1, Names: []string{"docs/empty.md"}},
		{Reason: "key", Count: 1, Names: []string{"docs/key.txt"}}, {Reason: "link", Count: 1, Names: []string{"docs/link.md"}},
		{Reason: "no_text", Count: 1, Names: []string{"docs/blank.md"}},
		{Reason: "sensitive", Count: 1, Names: []string{"docs/secrets.yaml"}}, {Reason: "too_large", Count: 1, Names: []string{"docs/large.md"}},
	}
	st := status(t, b)
	if diff := cmp.Diff(want, st.Sources[0].LeftOut); diff != "" || st.Documents != 2 {
		t.Errorf("%d documents: %s", st.Documents, diff)
	}
}

// TestSiteTellsWhatItLeavesOut: pages that a visit did not take are counted with the reason, also after a restart.
func TestSiteTellsWhatItLeavesOut(t *testing.T) {
	pages := map[string]string{
		"/":      `<h1>Guide</h1><p>Welcome.</p><a href="/no">n</a><a href="/gone">g</a><a href="/empty">e</a><a href="/secret">s</a>`,
		"/no":    `<meta name=robots content=noindex><p>Not for you.</p>`,
		"/empty": "<script>x</script>", "/robots.txt": "User-agent: *\nDisallow: /secret\n",
	}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		page, ok := pages[r.URL.Path]
		if !ok {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "text/html")
		_, _ = io.WriteString(w, page)
	}))
	t.Cleanup(srv.Close)
	h := newHouse(t, map[string]string{"docs/a.md": "# A\n\nwords"})
	h.cfg.Sites, h.cfg.AllowHosts, h.cfg.SitePages, h.cfg.Refresh = []string{srv.URL + "/"}, []string{strings.TrimPrefix(srv.URL, "http://")},
		20, time.Hour
	want := []search.IndexLeftOut{
		{Reason: "no_text", Count: 1, Names: []string{srv.URL + "/empty"}}, {Reason: "noindex", Count: 1, Names: []string{srv.URL + "/no"}},
		{Reason: "robots", Count: 1, Names: []string{srv.URL + "/secret"}}, {Reason: "status", Count: 1, Names: []string{srv.URL + "/gone"}},
	}
	for range 2 {
		b, closeIt := h.open(t)
		eventually(t, "the visit", func() bool { return status(t, b).Sources[1].State == search.SourceReady })
		if diff := cmp.Diff(want, status(t, b).Sources[1].LeftOut); diff != "" {
			t.Error(diff)
		}
		closeIt()
	}
}

// TestPDFsAndOthersAreFound: the words of a PDF, of a notebook and of AsciiDoc are found, and extract gives their text.
func TestPDFsAndOthersAreFound(t *testing.T) {
	pdf, err := os.ReadFile("testdata/crane.pdf")
	if err != nil {
		t.Fatal(err)
	}
	h := newHouse(t, map[string]string{
		"docs/a.pdf": string(pdf), "docs/b.ipynb": `{"cells":[{"cell_type":"markdown","source":"# Otters\n\nThey use tools."}]}`,
		"docs/c.adoc": "= Beavers\n:toc:\n\nThey build dams.\n", "docs/d.md": "# Filler\n\nNothing of interest.\n",
	})
	b, _ := h.open(t)
	for query, want := range map[string]string{"narwhals": "file:docs/a.pdf", "tools": "file:docs/b.ipynb", "beavers": "file:docs/c.adoc"} {
		if got := find(t, b, query).urls(); len(got) == 0 || got[0] != want {
			t.Errorf("%s: found %q", query, got)
		}
	}
	if got := find(t, b, "narwhals"); got.Results[0].Title != "Crane manual" {
		t.Errorf("got %+v", got.Results)
	}
	if _, got := call(t, b, search.OpExtract, `{"urls":["file:docs/a.pdf"]}`); len(got.Results) != 1 ||
		!strings.Contains(*got.Results[0].RawContent, "whales and containers") {
		t.Errorf("got %+v", got)
	}
}
