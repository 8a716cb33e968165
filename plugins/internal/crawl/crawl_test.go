package crawl_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/patchbay-dev/patchbay/plugins/internal/crawl"
	"github.com/patchbay-dev/patchbay/plugins/internal/extract"
	"github.com/patchbay-dev/patchbay/plugins/internal/httpx"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// site is a server of pages that notes what it was asked for.
type site struct {
	*httptest.Server
	mu    sync.Mutex
	hits  map[string]int
	inner int
	most  int
}

const robots = "User-agent: other\nDisallow: /\n\nUser-agent: *\nDisallow: /secret\nAllow: /\n"

// newSite serves pages: a value that starts with "> " is a redirect, "#429" a status, others are HTML.
func newSite(t *testing.T, robots string, pages map[string]string) *site {
	t.Helper()
	s := &site{hits: map[string]int{}}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.enter(r)
		defer s.leave()
		page, ok := pages[r.URL.RequestURI()]
		status := 0
		_, _ = fmt.Sscanf(page, "#%d", &status)
		switch to, redirect := strings.CutPrefix(page, "> "); {
		case r.URL.Path == "/robots.txt" && robots != "":
			_, _ = io.WriteString(w, robots)
		case r.URL.Path == "/slow":
			<-r.Context().Done()
		case !ok:
			http.NotFound(w, r)
		case redirect:
			http.Redirect(w, r, to, http.StatusFound)
		case status != 0:
			w.WriteHeader(status)
		default:
			w.Header().Set("Content-Type", "text/html; charset=utf-8")
			_, _ = io.WriteString(w, page)
		}
	}))
	t.Cleanup(s.Close)
	return s
}

func (s *site) enter(r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.hits[r.URL.RequestURI()]++
	s.inner++
	s.most = max(s.most, s.inner)
}

func (s *site) leave() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.inner--
}

func (s *site) asked(path string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.hits[path]
}

func (s *site) host() string { return strings.TrimPrefix(s.URL, "http://") }

func page(title string, links ...string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "<html><head><title>%s</title></head><body><h1>%s</h1><p>Words of %s.</p>", title, title, title)
	for _, l := range links {
		fmt.Fprintf(&b, `<a href="%s">go</a> `, l)
	}
	return b.String() + "</body></html>"
}

func newCrawler(t *testing.T, cfg crawl.Config, sites ...*site) *crawl.Crawler {
	t.Helper()
	var allow []string
	for _, s := range sites {
		allow = append(allow, s.host())
	}
	guard, err := httpx.NewGuard(httpx.GuardConfig{Allow: allow})
	if err != nil {
		t.Fatal(err)
	}
	if cfg.Client, err = httpx.New(httpx.Config{Guard: guard, Compression: true, MaxBody: 1 << 20}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cfg.Client.Close() })
	c, err := crawl.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func options(t *testing.T, raw string) crawl.Options {
	t.Helper()
	u, err := url.Parse(raw)
	if err != nil {
		t.Fatal(err)
	}
	return crawl.Options{Start: u, MaxDepth: 1, MaxBreadth: 20, Limit: 50, External: true, Format: extract.Markdown}
}

// paths are the addresses of a result without the host of the site.
func paths(s *site, r *crawl.Result) []string {
	out := []string{}
	for _, p := range r.Pages {
		out = append(out, strings.TrimPrefix(p.URL, s.URL))
	}
	return out
}

func run(t *testing.T, c *crawl.Crawler, o crawl.Options) *crawl.Result {
	t.Helper()
	r, err := c.Run(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// library is a site with a loop, a fragment, things that are no pages, and a page that robots.txt forbids.
var library = map[string]string{
	"/":        page("Home", "/a", "/b", "#top", "/a#part", "/secret/x", "mailto:x@example.org", "javascript:void(0)", "/gone", "/?q=1", "/"),
	"/?q=1":    page("Query"),
	"/a":       page("A", "/a/1", "/", "/b"),
	"/a/1":     page("A one", "/a/2"),
	"/a/2":     page("A two", "/a/3"),
	"/a/3":     page("A three"),
	"/b":       page("B", "/b/1"),
	"/b/1":     page("B one"),
	"/secret":  page("Secret"),
	"/start":   "> /moved",
	"/moved":   page("Moved", "/a"),
	"/sneaky":  page("Sneaky", "/hop"),
	"/hop":     "> /secret/y",
	"/round":   "> /round2",
	"/round2":  "> /round",
	"/failing": "#503",
}

func TestLevels(t *testing.T) {
	s := newSite(t, robots, library)
	c := newCrawler(t, crawl.Config{}, s)
	for name, tc := range map[string]struct {
		change func(*crawl.Options)
		want   []string
	}{
		"one level":   {func(*crawl.Options) {}, []string{"/", "/a", "/b", "/?q=1"}},
		"two levels":  {func(o *crawl.Options) { o.MaxDepth = 2 }, []string{"/", "/a", "/b", "/?q=1", "/a/1", "/b/1"}},
		"all levels":  {func(o *crawl.Options) { o.MaxDepth = 5 }, []string{"/", "/a", "/b", "/?q=1", "/a/1", "/b/1", "/a/2", "/a/3"}},
		"limit":       {func(o *crawl.Options) { o.MaxDepth, o.Limit = 5, 3 }, []string{"/", "/a", "/b"}},
		"breadth":     {func(o *crawl.Options) { o.MaxDepth, o.MaxBreadth = 5, 1 }, []string{"/", "/a", "/a/1", "/a/2", "/a/3"}},
		"start only":  {func(o *crawl.Options) { o.Limit = 1 }, []string{"/"}},
		"select path": {func(o *crawl.Options) { o.MaxDepth, o.SelectPaths = 5, res("^/a") }, []string{"/a", "/a/1", "/a/2", "/a/3"}},
		"exclude path": {func(o *crawl.Options) { o.MaxDepth, o.ExcludePaths = 5, res("^/a$", "^/$") },
			[]string{"/b", "/b/1"}},
		"exclude domain": {func(o *crawl.Options) { o.ExcludeDomains = res(`^127\.`) }, []string{}},
		"map":            {func(o *crawl.Options) { o.Format = "" }, []string{"/", "/a", "/b", "/?q=1"}},
	} {
		t.Run(name, func(t *testing.T) {
			o := options(t, s.URL)
			tc.change(&o)
			r := run(t, c, o)
			if diff := cmp.Diff(tc.want, paths(s, r)); diff != "" {
				t.Error(diff)
			}
			if r.Base != s.URL+"/" || r.Start != nil {
				t.Errorf("base is %s, %v", r.Base, r.Start)
			}
		})
	}
	if n := s.asked("/secret/x") + s.asked("/secret"); n > 0 {
		t.Errorf("forbidden pages were asked for %d times", n)
	}
}

func res(patterns ...string) (out []*regexp.Regexp) {
	for _, p := range patterns {
		out = append(out, regexp.MustCompile(p))
	}
	return out
}

func TestTextsAndFailures(t *testing.T) {
	s := newSite(t, robots, library)
	c := newCrawler(t, crawl.Config{}, s)
	r := run(t, c, options(t, s.URL))
	if p := r.Pages[1]; p.Title != "A" || !strings.Contains(p.Text, "Words of A.") || !strings.Contains(p.Text, s.URL+"/a/1") {
		t.Errorf("got %+v", p)
	}
	got := map[string]string{}
	for _, f := range r.Failed {
		got[strings.TrimPrefix(f.URL, s.URL)] = f.Err.Error()
	}
	want := map[string]string{"/secret/x": "robots.txt forbids this page", "/gone": "page answered with status 404"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	o := options(t, s.URL)
	o.MaxText = len(r.Pages[0].Text) + len(r.Pages[1].Text)
	if small := run(t, c, o); len(small.Pages) != 2 {
		t.Errorf("with little room: %v", paths(s, small))
	}
	for start, want := range map[string]string{
		"/secret": "robots.txt", "/round": "redirects", "/failing": "503", "/sneaky": "",
	} {
		r := run(t, c, options(t, s.URL+start))
		if (r.Start == nil) != (want == "") || r.Start != nil && !strings.Contains(r.Start.Error(), want) {
			t.Errorf("%s: %v", start, r.Start)
		}
	}
	if s.asked("/secret/y") != 0 {
		t.Error("a redirect led past robots.txt")
	}
	moved := run(t, c, options(t, s.URL+"/start"))
	if diff := cmp.Diff([]string{"/moved", "/a"}, paths(s, moved)); diff != "" || moved.Base != s.URL+"/moved" {
		t.Errorf("base is %s: %s", moved.Base, diff)
	}
}

func TestExternal(t *testing.T) {
	other := newSite(t, "User-agent: patchbay\nDisallow: /no\n",
		map[string]string{"/": page("Other", "/deep"), "/deep": page("Deep"), "/no": page("No")})
	s := newSite(t, "", map[string]string{"/": page("Home", other.URL+"/", other.URL+"/no", "/a"), "/a": page("A"),
		"/out": "> " + other.URL + "/"})
	c := newCrawler(t, crawl.Config{UserAgent: "patchbay/1.0 (test)"}, s, other)
	o := options(t, s.URL)
	o.MaxDepth = 3
	if diff := cmp.Diff([]string{"/", other.URL + "/", "/a"}, paths(s, run(t, c, o))); diff != "" {
		t.Error(diff)
	}
	o.SelectDomains = res(`^127\.0\.0\.1$`)
	if diff := cmp.Diff([]string{"/", other.URL + "/", "/a", other.URL + "/deep"}, paths(s, run(t, c, o))); diff != "" {
		t.Error(diff)
	}
	o.SelectDomains, o.External = nil, false
	if diff := cmp.Diff([]string{"/", "/a"}, paths(s, run(t, c, o))); diff != "" {
		t.Error(diff)
	}
	if other.asked("/no") != 0 {
		t.Error("robots.txt of the other host was not obeyed")
	}
}

func TestTimeAndCancel(t *testing.T) {
	s := newSite(t, robots, map[string]string{"/": page("Home", "/slow", "/a"), "/a": page("A"), "/slow": ""})
	o := options(t, s.URL)
	r := run(t, newCrawler(t, crawl.Config{PageTimeout: 50 * time.Millisecond}, s), o)
	if diff := cmp.Diff([]string{"/", "/a"}, paths(s, r)); diff != "" || len(r.Failed) != 1 {
		t.Errorf("slow page: %s %v", diff, r.Failed)
	}
	o.Timeout = 300 * time.Millisecond
	began := time.Now()
	r = run(t, newCrawler(t, crawl.Config{}, s), o)
	if diff := cmp.Diff([]string{"/", "/a"}, paths(s, r)); diff != "" || time.Since(began) > 5*time.Second {
		t.Errorf("time-out: %s after %s", diff, time.Since(began))
	}
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(50*time.Millisecond, cancel)
	o.Timeout = time.Minute
	if _, err := newCrawler(t, crawl.Config{}, s).Run(ctx, o); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	o.Start, _ = url.Parse(s.URL + "/slow")
	ctx, cancel = context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := newCrawler(t, crawl.Config{Delay: time.Hour}, s).Run(ctx, o); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("while it waits for its turn: %v", err)
	}
}

func TestPoliteness(t *testing.T) {
	var links []string
	pages := map[string]string{}
	for i := range 12 {
		links = append(links, fmt.Sprintf("/%d", i))
		pages[links[i]] = page("Page")
	}
	pages["/"] = page("Home", links...)
	s := newSite(t, robots, pages)
	c := newCrawler(t, crawl.Config{Parallel: 2, Delay: 20 * time.Millisecond}, s)
	began := time.Now()
	var both sync.WaitGroup
	for range 2 {
		both.Go(func() {
			if r, err := c.Run(t.Context(), options(t, s.URL)); err != nil || len(r.Pages) != 13 {
				t.Errorf("got %v", err)
			}
		})
	}
	both.Wait()
	// Two crawls of 13 pages and robots.txt are 28 requests.
	if took := time.Since(began); took < 27*20*time.Millisecond {
		t.Errorf("took only %s", took)
	}
	if s.most > 2 {
		t.Errorf("%d requests at once", s.most)
	}
}

func TestConfigAndOptions(t *testing.T) {
	if _, err := crawl.New(crawl.Config{}); err == nil {
		t.Error("a crawler without a client was made")
	}
	s := newSite(t, robots, library)
	c := newCrawler(t, crawl.Config{MaxPages: 2}, s)
	o := options(t, s.URL)
	o.Limit = 1000
	if r := run(t, c, o); len(r.Pages) != 2 {
		t.Errorf("got %v", paths(s, r))
	}
	for _, change := range []func(*crawl.Options){
		func(o *crawl.Options) { o.Start = nil }, func(o *crawl.Options) { o.Start = &url.URL{Scheme: "ftp", Host: "x"} },
		func(o *crawl.Options) { o.MaxDepth = 0 }, func(o *crawl.Options) { o.MaxBreadth = 0 }, func(o *crawl.Options) { o.Limit = 0 },
	} {
		o := options(t, s.URL)
		change(&o)
		if _, err := c.Run(t.Context(), o); err == nil {
			t.Errorf("%+v was accepted", o)
		}
	}
}
