package crawl_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/patchbay-dev/patchbay/plugins/internal/crawl"
)

// TestMapListsPages: what a site links to is a page by what the host says of it, and by its name where nobody asked.
func TestMapListsPages(t *testing.T) {
	files := map[string]string{
		"/logo.png": "image/png", "/paper.pdf": "application/pdf", "/app.zip": "application/zip", "/style.css": "text/css",
		"/app.js": "text/javascript",
		"/feed":   "application/rss+xml", "/atom.xml": "application/atom+xml", "/data.json": "application/json", "/table.csv": "text/csv",
		"/video":      "video/mp4",
		"/font.woff2": "font/woff2", "/unknown": "application/octet-stream",
	}
	pages := map[string]string{
		"/guide": "text/html", "/old.xhtml": "application/xhtml+xml", "/notes.txt": "text/plain; charset=utf-8", "/readme.md": "text/markdown",
		// A page about a picture, as wikis have them.
		"/wiki/File:Logo.png": "text/html",
	}
	elsewhere := []string{"http://other.example/picture.JPG", "http://other.example/page", "http://other.example/a.zip?x=1",
		"http://other.example/doc.html"}
	mux := http.NewServeMux()
	links := append([]string{}, elsewhere...)
	want := []string{"/", "http://other.example/page", "http://other.example/doc.html"}
	for _, all := range []map[string]string{files, pages} {
		for path, kind := range all {
			links = append(links, path)
			mux.HandleFunc(path, func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", kind)
				_, _ = io.WriteString(w, "<p>words</p>")
			})
		}
	}
	mux.HandleFunc("/{$}", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		_, _ = io.WriteString(w, page("Home", links...))
	})
	srv := httptest.NewServer(mux)
	defer srv.Close()
	s := &site{Server: srv}
	o := options(t, srv.URL)
	o.Format, o.MaxBreadth = "", 100
	r := run(t, newCrawler(t, crawl.Config{}, s), o)
	got := map[string]bool{}
	for _, p := range paths(s, r) {
		got[p] = true
	}
	wanted := map[string]bool{}
	for _, p := range want {
		wanted[p] = true
	}
	for p := range pages {
		wanted[p] = true
	}
	if diff := cmp.Diff(wanted, got); diff != "" {
		t.Error(diff)
	}
	if len(r.Failed) > 0 {
		t.Errorf("what is no page has failed: %v", r.Failed)
	}
}
