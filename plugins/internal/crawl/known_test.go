package crawl_test

import (
	"fmt"
	"hash/crc32"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/patchbay-dev/patchbay/plugins/internal/crawl"
	"github.com/patchbay-dev/patchbay/plugins/internal/extract"
)

// kept serves pages with validators and counts the answers by their status.
type kept struct {
	mu    sync.Mutex
	pages map[string]string
	count map[int]int
}

func (k *kept) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	k.mu.Lock()
	defer k.mu.Unlock()
	page, ok := k.pages[r.URL.Path]
	status := http.StatusOK
	switch {
	case !ok:
		status = http.StatusNotFound
	case page == "busy":
		status = http.StatusServiceUnavailable
	case r.URL.Path == "/dated" && r.Header.Get("If-Modified-Since") == "Sat, 21 Nov 2026 10:00:00 GMT",
		r.Header.Get("If-None-Match") == tag(page):
		status = http.StatusNotModified
	}
	if r.URL.Path != "/robots.txt" && r.URL.Path != "/sitemap.xml" {
		k.count[status]++
	}
	if status != http.StatusOK {
		w.WriteHeader(status)
		return
	}
	w.Header().Set("Content-Type", "text/html")
	if r.URL.Path == "/dated" {
		w.Header().Set("Last-Modified", "Sat, 21 Nov 2026 10:00:00 GMT")
	} else {
		w.Header().Set("ETag", tag(page))
	}
	_, _ = io.WriteString(w, page)
}

func tag(page string) string { return fmt.Sprintf(`"%08x"`, crc32.ChecksumIEEE([]byte(page))) }

func (k *kept) set(path, page string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.pages[path] = page
	if page == "" {
		delete(k.pages, path)
	}
}

func (k *kept) counts() map[int]int {
	k.mu.Lock()
	defer k.mu.Unlock()
	out := k.count
	k.count = map[int]int{}
	return out
}

// A crawl that knows an earlier one asks only for what has changed, and follows the links that it had.
func TestKnownPagesAreAskedForConditionally(t *testing.T) {
	k := &kept{count: map[int]int{}, pages: map[string]string{
		"/": `<p>start</p><a href="/dated">d</a>`, "/dated": `<p>dated</p><a href="/leaf">l</a>`,
		"/leaf": `<p>leaf</p><a href="https://elsewhere.example/">out</a>`,
	}}
	srv := httptest.NewServer(k)
	t.Cleanup(srv.Close)
	c := newCrawler(t, crawl.Config{}, &site{Server: srv})
	start, _ := url.Parse(srv.URL)
	var mu sync.Mutex
	known := map[string]crawl.Known{}
	run := func() (texts map[string]string, result *crawl.Result) {
		t.Helper()
		result, err := c.WithMaxPages(10).Run(t.Context(), crawl.Options{
			Start: start, MaxDepth: 9, MaxBreadth: 10, Limit: 10, Format: extract.Markdown, Known: func(address string) (crawl.Known, bool) {
				mu.Lock()
				defer mu.Unlock()
				found, ok := known[address]
				return found, ok
			},
		})
		if err != nil {
			t.Fatal(err)
		}
		texts = map[string]string{}
		for _, p := range result.Pages {
			text := strings.TrimSpace(strings.Split(p.Text, "\n")[0])
			if p.Unchanged {
				text = "unchanged"
			}
			path := strings.TrimPrefix(p.URL, srv.URL)
			texts[path] = text
			known[p.URL] = p.Known
			if strings.Contains(strings.Join(p.Known.Links, " "), "elsewhere") {
				t.Errorf("%s keeps links that are not followed: %v", path, p.Known.Links)
			}
		}
		return texts, result
	}
	check := func(what string, want map[string]string, complete bool, counts map[int]int) {
		t.Helper()
		texts, result := run()
		if diff := cmp.Diff(want, texts); diff != "" || result.Complete != complete {
			t.Errorf("%s: complete is %v, %s", what, result.Complete, diff)
		}
		if diff := cmp.Diff(counts, k.counts()); diff != "" {
			t.Errorf("%s: answers: %s", what, diff)
		}
	}
	check("first", map[string]string{"/": "start", "/dated": "dated", "/leaf": "leaf"}, true, map[int]int{200: 3})
	check("second", map[string]string{"/": "unchanged", "/dated": "unchanged", "/leaf": "unchanged"}, true, map[int]int{304: 3})
	k.set("/leaf", "<p>new</p>")
	check("changed", map[string]string{"/": "unchanged", "/dated": "unchanged", "/leaf": "new"}, true, map[int]int{304: 2, 200: 1})
	check("as changed", map[string]string{"/": "unchanged", "/dated": "unchanged", "/leaf": "unchanged"}, true, map[int]int{304: 3})
	k.set("/dated", "busy")
	check("busy", map[string]string{"/": "unchanged", "/leaf": "unchanged"}, true, map[int]int{304: 2, 503: 1})
	k.set("/dated", `<p>dated</p><a href="/leaf">l</a>`)
	k.set("/", "busy")
	check("without its start", map[string]string{}, false, map[int]int{503: 1})
	k.set("/", `<p>start</p><a href="/dated">d</a>`)
	k.set("/leaf", "")
	_, result := run()
	if len(result.Failed) != 1 || !result.Failed[0].Gone || !result.Complete {
		t.Errorf("a page that is gone: %+v", result)
	}
}

// A host whose robots.txt cannot be had for a while keeps the pages that were known of it: they fail, and are not gone.
func TestKnownPagesBehindAFailingRobots(t *testing.T) {
	other := &kept{count: map[int]int{}, pages: map[string]string{"/x": `<p>x</p><a href="/leaf">l</a>`, "/leaf": "<p>leaf</p>"}}
	away := httptest.NewServer(other)
	t.Cleanup(away.Close)
	home := newSite(t, "", map[string]string{"/": page("Home", away.URL+"/x")})
	c := newCrawler(t, crawl.Config{}, home, &site{Server: away})
	known := map[string]crawl.Known{}
	var mu sync.Mutex
	o := options(t, home.URL)
	o.MaxDepth, o.SelectDomains = 3, res(`^127\.0\.0\.1$`)
	o.Known = func(address string) (crawl.Known, bool) {
		mu.Lock()
		defer mu.Unlock()
		found, ok := known[address]
		return found, ok
	}
	for _, p := range run(t, c, o).Pages {
		known[p.URL] = p.Known
	}
	other.set("/robots.txt", "busy")
	r := run(t, c, o)
	failed := map[string]bool{}
	for _, f := range r.Failed {
		failed[strings.TrimPrefix(f.URL, away.URL)] = f.Gone
	}
	if diff := cmp.Diff(map[string]bool{"/x": false, "/leaf": false}, failed); diff != "" {
		t.Errorf("failed, and gone: %s", diff)
	}
}
