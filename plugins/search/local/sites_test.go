package local_test

import (
	"context"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/patchbay-dev/patchbay/plugins/search/local"
	"github.com/patchbay-dev/patchbay/sdk/framework"
	"github.com/patchbay-dev/patchbay/sdk/schema"
	"github.com/patchbay-dev/patchbay/sdk/search"
)

// wiki is a web site whose pages change while it is served.
type wiki struct {
	*httptest.Server
	mu     sync.Mutex
	pages  map[string]string
	status int
	counts map[int]int
	// hold, if set, lets pages wait until it is closed.
	hold chan struct{}
	// broken is the path of a page that fails.
	broken string
}

const (
	robotsTxt = "User-agent: *\nDisallow: /guide/private\n"
	guideHome = `<title>Guide</title><h1>Guide</h1><p>Welcome to the lighthouse.</p><a href="lamp">lamp</a> <a href="/guide/horn">horn</a> <a href="/about">about</a> <a href="private">p</a>`
)

func newWiki(t *testing.T) *wiki {
	t.Helper()
	w := &wiki{counts: map[int]int{}, pages: map[string]string{
		"/robots.txt": robotsTxt, "/guide/": guideHome, "/about": "<p>imprint of nobody</p>", "/guide/private": "<p>confidential words</p>",
		"/guide/lamp": `<title>Lamp</title><h1>Lamp</h1><p>The lamp rotates once in ten seconds.</p>`,
		"/guide/horn": `<title>Foghorn</title><h1>Foghorn</h1><p>The foghorn sounds in mist.</p>`,
	}}
	w.Server = httptest.NewServer(w)
	t.Cleanup(w.Close)
	return w
}

func (w *wiki) ServeHTTP(out http.ResponseWriter, r *http.Request) {
	w.mu.Lock()
	page, ok := w.pages[r.URL.Path]
	status, hold := w.status, w.hold
	tag := fmt.Sprintf(`"%08x"`, crc32.ChecksumIEEE([]byte(page)))
	switch {
	case status != 0:
	case r.URL.Path == w.broken:
		status = http.StatusInternalServerError
	case !ok:
		status = http.StatusNotFound
	case r.Header.Get("If-None-Match") == tag:
		status = http.StatusNotModified
	default:
		status = http.StatusOK
	}
	w.counts[status]++
	w.mu.Unlock()
	if hold != nil {
		select {
		case <-hold:
		case <-r.Context().Done():
			return
		}
	}
	out.Header().Set("ETag", tag)
	out.Header().Set("Content-Type", "text/html; charset=utf-8")
	out.WriteHeader(status)
	if status == http.StatusOK {
		_, _ = io.WriteString(out, page)
	}
}

func (w *wiki) change(f func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	f()
}

// asked are the answers so far with a status.
func (w *wiki) asked(status int) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.counts[status]
}

func (w *wiki) host() string { return strings.TrimPrefix(w.URL, "http://") }

// siteHouse is a house whose backend indexes the wiki's guide as well.
func siteHouse(t *testing.T, w *wiki, refresh time.Duration) *house {
	t.Helper()
	h := newHouse(t, library)
	h.cfg.Sites, h.cfg.AllowHosts, h.cfg.SitePages, h.cfg.Refresh = []string{w.URL + "/guide/"}, []string{w.host()}, 20, refresh
	return h
}

func finds(t *testing.T, b search.Backend, query string) []string { return find(t, b, query).urls() }

func health(t *testing.T, b search.Backend) error {
	t.Helper()
	return b.(framework.Healther).Health(t.Context())
}

func TestSiteIsIndexedBesideFiles(t *testing.T) {
	w := newWiki(t)
	h := siteHouse(t, w, time.Hour)
	b, _ := h.open(t)
	eventually(t, "the site is indexed", func() bool { return slices.Equal(finds(t, b, "foghorn mist"), []string{w.URL + "/guide/horn"}) })
	for query, want := range map[string][]string{
		"lamp rotates": {w.URL + "/guide/lamp"}, "lighthouse": {w.URL + "/guide/"}, "credits reserved": {"file:docs/quota.md"},
		// What lies above the folder, and what robots.txt forbids, is not read.
		"imprint": {}, "confidential": {},
	} {
		if got := finds(t, b, query); len(want) == 0 && len(got) > 0 || len(want) > 0 && (len(got) == 0 || got[0] != want[0]) {
			t.Errorf("%s: got %v, want %v", query, got, want)
		}
	}
	r := find(t, b, "foghorn").Results[0]
	if r.Title != "Foghorn" || !strings.Contains(r.Content, "sounds in mist") {
		t.Errorf("result is %+v", r)
	}
	host, _, _ := strings.Cut(w.host(), ":")
	for body, want := range map[string]int{
		`{"query":"foghorn credits"}`: 2, `{"query":"foghorn credits","include_domains":["file"]}`: 1,
		`{"query":"foghorn credits","include_domains":["` + host + `"]}`: 1, `{"query":"foghorn credits","exclude_domains":["` + host + `"]}`: 1,
		`{"query":"foghorn credits","include_domains":["elsewhere.example"]}`:   0,
		`{"query":"foghorn credits","exclude_domains":["file","` + host + `"]}`: 0,
	} {
		if _, a := call(t, b, search.OpSearch, body); len(a.Results) != want {
			t.Errorf("%s: got %v", body, a.urls())
		}
	}
	_, a := call(t, b, search.OpSearch, `{"query":"foghorn","include_raw_content":true}`)
	if len(a.Results) != 1 || a.Results[0].RawContent == nil || !strings.Contains(*a.Results[0].RawContent, "The foghorn sounds in mist.") {
		t.Errorf("raw content: %+v", a.Results)
	}
	if err := health(t, b); err != nil {
		t.Error(err)
	}
}

func TestSiteIsRefreshed(t *testing.T) {
	w := newWiki(t)
	b, _ := siteHouse(t, w, time.Second).open(t)
	eventually(t, "the site is indexed", func() bool { return len(finds(t, b, "foghorn")) == 1 && len(finds(t, b, "lamp")) > 0 })
	w.change(func() {
		w.pages["/guide/horn"] = `<title>Foghorn</title><p>The foghorn is retired.</p><a href="bell">bell</a>`
		w.pages["/guide/bell"] = `<title>Bell</title><p>A brass carillon instead.</p>`
		delete(w.pages, "/guide/lamp")
	})
	eventually(t, "the pages are as they are now", func() bool {
		return len(finds(t, b, "retired")) == 1 && len(finds(t, b, "carillon")) == 1 && len(finds(t, b, "rotates")) == 0 &&
			len(finds(t, b, "mist")) == 0
	})
	eventually(t, "unchanged pages are asked for conditionally", func() bool { return w.asked(http.StatusNotModified) >= 3 })
	if err := health(t, b); err != nil {
		t.Error(err)
	}
	// The page is there but nothing leads to it any more.
	w.change(func() { w.pages["/guide/horn"] = `<title>Foghorn</title><p>The foghorn is retired.</p>` })
	eventually(t, "a page without a link is gone",
		func() bool { return len(finds(t, b, "carillon")) == 0 && len(finds(t, b, "retired")) == 1 })
}

func TestSiteThatIsDownKeepsItsPages(t *testing.T) {
	w := newWiki(t)
	b, _ := siteHouse(t, w, time.Second).open(t)
	eventually(t, "the site is indexed", func() bool { return len(finds(t, b, "foghorn")) == 1 })
	w.change(func() { w.status = http.StatusServiceUnavailable })
	eventually(t, "the health tells", func() bool { return health(t, b) != nil })
	if got := health(t, b).Error(); !strings.Contains(got, "site "+w.URL+"/guide/: ") || !strings.Contains(got, "is of 20") {
		t.Errorf("health: %s", got)
	}
	if got := finds(t, b, "foghorn"); len(got) != 1 {
		t.Errorf("got %v", got)
	}
	w.change(func() { w.status = 0; w.pages["/guide/horn"] = "#" })
	eventually(t, "the site is refreshed again", func() bool { return health(t, b) == nil && len(finds(t, b, "foghorn")) == 0 })
	w.change(func() { w.pages["/guide/"] = `<p>empty</p>`; delete(w.pages, "/guide/lamp") })
	eventually(t, "the other pages are gone", func() bool { return len(finds(t, b, "lamp rotates")) == 0 })
}

// A page that always fails keeps what it had and what it led to, and keeps nothing else from leaving.
func TestPageThatFails(t *testing.T) {
	w := newWiki(t)
	w.pages["/guide/horn"] = `<title>Foghorn</title><p>The foghorn sounds in mist.</p><a href="bell">bell</a>`
	w.pages["/guide/bell"] = `<title>Bell</title><p>A brass carillon instead.</p>`
	b, _ := siteHouse(t, w, time.Second).open(t)
	eventually(t, "the site is indexed", func() bool { return len(finds(t, b, "carillon")) == 1 && len(finds(t, b, "rotates")) == 1 })
	w.change(func() {
		w.broken = "/guide/horn"
		w.pages["/guide/"] = strings.ReplaceAll(guideHome, `<a href="lamp">lamp</a>`, "")
	})
	eventually(t, "the page without a link is gone", func() bool { return len(finds(t, b, "rotates")) == 0 })
	if len(finds(t, b, "foghorn")) != 1 || len(finds(t, b, "carillon")) != 1 {
		t.Error("a page that fails was taken out, or what it led to")
	}
	eventually(t, "the health names the page", func() bool {
		err := health(t, b)
		return err != nil && strings.Contains(err.Error(), "page "+w.URL+"/guide/horn: page answered with status 500")
	})
}

func TestSiteThatNeverAnswered(t *testing.T) {
	w := newWiki(t)
	w.status = http.StatusInternalServerError
	h := siteHouse(t, w, time.Hour)
	h.cfg.Folders = nil
	b, _ := h.open(t)
	eventually(t, "the health tells", func() bool { return health(t, b) != nil })
	if got := health(t, b).Error(); !strings.Contains(got, "nothing of it is indexed") {
		t.Errorf("health: %s", got)
	}
	if got := finds(t, b, "lighthouse"); len(got) != 0 {
		t.Errorf("got %v", got)
	}
}

func TestSiteSurvivesARestart(t *testing.T) {
	w := newWiki(t)
	h := siteHouse(t, w, time.Hour)
	b, closeIt := h.open(t)
	eventually(t, "the site is indexed", func() bool { return len(finds(t, b, "foghorn")) == 1 && len(finds(t, b, "rotates")) == 1 })
	eventually(t, "the visit is noted", func() bool {
		states, err := filepath.Glob(filepath.Join(h.data, "sites", "*", "state.json"))
		return err == nil && len(states) == 1
	})
	closeIt()
	before := w.asked(http.StatusOK)
	b, closeIt = h.open(t)
	if got := finds(t, b, "foghorn"); len(got) != 1 {
		t.Errorf("after a restart: got %v", got)
	}
	closeIt()
	// An index that is lost is made of what was kept.
	if err := os.RemoveAll(filepath.Join(h.data, "index")); err != nil {
		t.Fatal(err)
	}
	b, closeIt = h.open(t)
	if got := finds(t, b, "foghorn"); len(got) != 1 {
		t.Errorf("with a new index: got %v", got)
	}
	closeIt()
	if got := w.asked(http.StatusOK) + w.asked(http.StatusNotModified); got != before {
		t.Errorf("%d pages were asked for although the site was not due", got-before)
	}
	// A page that is damaged is fetched again at once.
	pages, err := filepath.Glob(filepath.Join(h.data, "sites", "*", "*.page"))
	if err != nil || len(pages) != 3 {
		t.Fatalf("pages %v, %v", pages, err)
	}
	for _, p := range pages {
		if err := os.Truncate(p, 20); err != nil {
			t.Fatal(err)
		}
	}
	b, closeIt = h.open(t)
	eventually(t, "the pages are fetched again", func() bool { return len(finds(t, b, "foghorn")) == 1 })
	closeIt()
	h.cfg.Sites = nil
	b, _ = h.open(t)
	if got := finds(t, b, "foghorn"); len(got) != 0 {
		t.Errorf("a site that is not named any more: got %v", got)
	}
	if left, err := filepath.Glob(filepath.Join(h.data, "sites", "*")); err != nil || len(left) != 0 {
		t.Errorf("kept of it: %v, %v", left, err)
	}
}

func TestSearchDoesNotWaitForASite(t *testing.T) {
	w := newWiki(t)
	w.hold = make(chan struct{})
	h := siteHouse(t, w, time.Hour)
	b, closeIt := h.open(t)
	eventually(t, "the visit has begun", func() bool { return w.asked(http.StatusOK) > 0 })
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	body, _ := json.Marshal(map[string]any{"query": "credits"})
	if resp, err := b.Invoke(ctx, &search.Request{Operation: search.OpSearch, Body: body}); err != nil ||
		!strings.Contains(string(resp.Body), "file:docs/quota.md") {
		t.Errorf("got %v, %v", resp, err)
	}
	// Nor does the end.
	closeIt()
	if diff := cmp.Diff([]string(nil), stored(t, h)); diff != "" {
		t.Error(diff)
	}
}

// stored are the states of sites that are kept.
func stored(t *testing.T, h *house) []string {
	t.Helper()
	out, err := filepath.Glob(filepath.Join(h.data, "sites", "*", "*"))
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestBuildWithSites(t *testing.T) {
	h := siteHouse(t, newWiki(t), time.Hour)
	good := h.cfg
	for path, change := range map[string]func(*local.Config){
		"sites[0]":   func(c *local.Config) { c.Sites = []string{"ftp://example.org"} },
		"sites[1]":   func(c *local.Config) { c.Sites = []string{"https://example.org", "https://EXAMPLE.org/#top"} },
		"sites":      func(c *local.Config) { c.Sites = manySites(51) },
		"site_pages": func(c *local.Config) { c.SitePages = 0 },
		"refresh":    func(c *local.Config) { c.Refresh = time.Millisecond },
	} {
		cfg := good
		change(&cfg)
		_, diags := local.Definition().Build(h.instance(), cfg)
		if len(diags) != 1 || diags[0].Path.String() != path || diags[0].Severity != schema.Error {
			t.Errorf("%s: got %v", path, diags)
		}
	}
	for _, bad := range []string{"", "x", "https://", "https://u:p@example.org/", "http://127.0.0.1/", "http://[::1]/", "http://10.1.2.3/x",
		"http://example.org:22/", "file:///etc"} {
		cfg := good
		cfg.Sites = []string{bad}
		if _, diags := local.Definition().Build(h.instance(), cfg); !diags.HasErrors() {
			t.Errorf("site %q was accepted", bad)
		}
	}
}

func manySites(n int) (out []string) {
	for i := range n {
		out = append(out, fmt.Sprintf("https://example.org/%d/", i))
	}
	return out
}
