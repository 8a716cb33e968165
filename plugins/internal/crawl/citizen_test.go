package crawl_test

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/patchbay-dev/patchbay/plugins/internal/crawl"
	"github.com/patchbay-dev/patchbay/plugins/internal/extract"
)

// reply is what a host answers for one path.
type reply struct {
	body   string
	header http.Header
	status int
}

// newHost serves replies; URL in a body stands for its own address.
func newHost(t *testing.T, replies map[string]reply) *site {
	t.Helper()
	s := &site{hits: map[string]int{}}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.enter(r)
		defer s.leave()
		a, ok := replies[r.URL.RequestURI()]
		if !ok {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		for name, values := range a.header {
			w.Header()[name] = values
		}
		if a.status != 0 {
			w.WriteHeader(a.status)
		}
		_, _ = io.WriteString(w, strings.ReplaceAll(a.body, "URL", s.URL))
	}))
	t.Cleanup(s.Close)
	return s
}

// headed is a page with elements in its head.
func headed(title, head string, links ...string) reply {
	return reply{body: strings.Replace(page(title, links...), "<head>", "<head>"+head, 1)}
}

func packed(text string) string {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, _ = io.WriteString(z, text)
	_ = z.Close()
	return b.String()
}

func urlset(paths ...string) string {
	var b strings.Builder
	b.WriteString(`<?xml version="1.0"?><urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9" xmlns:image="http://www.google.com/schemas/sitemap-image/1.1">`)
	for _, p := range paths {
		fmt.Fprintf(&b, "<url>\n<loc> %s </loc><image:image><image:loc>/picture.png</image:loc></image:image></url>", p)
	}
	return b.String() + "</urlset>"
}

// TestCitizen: what a host and its pages ask of crawlers holds in a crawl with texts and in one that only lists addresses.
func TestCitizen(t *testing.T) {
	leaf := reply{body: page("Leaf")}
	for name, tt := range map[string]struct {
		replies map[string]reply
		want    []string
		not     []string
		start   string
	}{
		"noindex, links count": {
			replies: map[string]reply{"/": {body: page("Home", "/a")}, "/a": headed("A", `<meta name="robots" content="noindex">`, "/b"),
				"/b": leaf}, want: []string{"/", "/b"},
		},
		"noindex of the start": {
			replies: map[string]reply{"/": headed("Home", `<meta name="robots" content="noindex">`, "/a"), "/a": leaf}, want: []string{"/a"},
		},
		"noindex for this crawler": {
			replies: map[string]reply{"/": {body: page("Home", "/a", "/b")}, "/a": headed("A", `<meta name="patchbay" content="noindex">`),
				"/b": headed("B", `<meta name="otherbot" content="noindex">`)},
			want: []string{"/", "/b"},
		},
		"X-Robots-Tag": {
			replies: map[string]reply{"/": {body: page("Home", "/a", "/t")},
				"/a": {body: page("A", "/b"), header: http.Header{"X-Robots-Tag": {"none"}}}, "/b": leaf,
				"/t": {body: "plain text", header: http.Header{"Content-Type": {"text/plain"},
					"X-Robots-Tag": {"otherbot: noindex", "patchbay: noindex"}}}},
			want: []string{"/"}, not: []string{"/b"},
		},
		"nofollow of a page": {
			replies: map[string]reply{"/": headed("Home", `<meta name="robots" content="nofollow">`, "/a"), "/a": leaf}, want: []string{"/"},
			not: []string{"/a"},
		},
		"nofollow of a link": {
			replies: map[string]reply{"/": {body: page("Home", "/a") + `<a rel="nofollow" href="/b">b</a>`}, "/a": leaf, "/b": leaf},
			want:    []string{"/", "/a"}, not: []string{"/b"},
		},
		"canonical": {
			replies: map[string]reply{"/": {body: page("Home", "/a?print=1", "/a?utm=2")},
				"/a?print=1": headed("A", `<link rel="canonical" href="/a">`), "/a?utm=2": headed("A", `<link rel="canonical" href="URL/a">`)},
			want: []string{"/", "/a"},
		},
		"canonical page itself wins": {
			replies: map[string]reply{"/": {body: page("Home", "/old", "/new")}, "/old": headed("Old", `<link rel="canonical" href="/new">`),
				"/new": {body: page("New")}}, want: []string{"/", "/new"},
		},
		"canonical elsewhere or gone": {
			replies: map[string]reply{"/": {body: page("Home", "/gone", "/a", "/b")}, "/a": headed("A", `<link rel="canonical" href="/gone">`),
				"/b": headed("B", `<link rel="canonical" href="ftp://example.org/b">`)},
			want: []string{"/", "/a", "/b"},
		},
		"canonical in a circle": {
			replies: map[string]reply{"/": {body: page("Home", "/a", "/b")}, "/a": headed("A", `<link rel="canonical" href="/b">`),
				"/b": headed("B", `<link rel="canonical" href="/a">`)},
			want: []string{"/", "/b", "/a"},
		},
		"meta refresh": {
			replies: map[string]reply{"/": {body: `<meta http-equiv="refresh" content="0; url=docs/">`}, "/docs/": {body: page("Docs", "/docs/a")},
				"/docs/a": leaf}, want: []string{"/docs/", "/docs/a"},
		},
		"meta refresh past robots.txt": {
			replies: map[string]reply{"/": {body: page("Home", "/a")}, "/a": {body: `<meta http-equiv="refresh" content="0; url=/secret">`},
				"/secret":     leaf,
				"/robots.txt": {body: "User-agent: *\nDisallow: /secret\n"}}, want: []string{"/"}, not: []string{"/secret"},
		},
		"meta refresh in a circle": {
			replies: map[string]reply{"/": {body: page("Home", "/a")}, "/a": {body: `<meta http-equiv="refresh" content="0; url=/b">`},
				"/b": {body: `<meta http-equiv="refresh" content="0; url=/a">`}}, want: []string{"/"},
		},
		"sitemap at its usual place": {
			replies: map[string]reply{"/": {body: page("Home", "/a")}, "/a": leaf, "/b": leaf,
				"/sitemap.xml": {body: urlset("URL/a", "URL/b", "http://other.example/c")}}, want: []string{"/", "/a", "/b"},
		},
		"sitemap of the folder": {
			start: "/guide/", replies: map[string]reply{"/guide/": {body: page("Home")}, "/guide/a": leaf,
				"/guide/sitemap.xml": {body: urlset("URL/guide/a")}}, want: []string{"/guide/", "/guide/a"},
		},
		"sitemap index, packed": {
			replies: map[string]reply{"/": {body: page("Home")}, "/a": leaf, "/b": leaf, "/secret": leaf,
				"/robots.txt": {body: "User-agent: *\nDisallow: /secret\nSitemap: URL/index.xml\n"},
				"/index.xml":  {body: `<sitemapindex><sitemap><loc>URL/1.xml.gz</loc></sitemap><sitemap><loc>URL/2.txt</loc></sitemap><sitemap><loc>URL/index.xml</loc></sitemap></sitemapindex>`},
				"/1.xml.gz":   {body: packed(urlset("/a", "/secret")), header: http.Header{"Content-Type": {"application/gzip"}}},
				"/2.txt":      {body: "URL/b\n", header: http.Header{"Content-Type": {"text/plain"}}}},
			want: []string{"/", "/a", "/b"}, not: []string{"/secret"},
		},
		"sitemap that is a page": {
			replies: map[string]reply{"/": {body: page("Home")}, "/sitemap.xml": {body: page("Not found", "/x")}, "/x": leaf}, want: []string{"/"},
			not: []string{"/x"},
		},
	} {
		for _, format := range []extract.Format{extract.Markdown, ""} {
			t.Run(name+" "+string(format), func(t *testing.T) {
				s := newHost(t, tt.replies)
				o := options(t, s.URL+tt.start)
				o.MaxDepth, o.Format, o.External = 3, format, false
				r := run(t, newCrawler(t, crawl.Config{UserAgent: "patchbay/1.0"}, s), o)
				if diff := cmp.Diff(tt.want, paths(s, r)); diff != "" {
					t.Errorf("%s\nfailed: %v", diff, r.Failed)
				}
				for _, not := range tt.not {
					if s.asked(not) > 0 {
						t.Errorf("%s was asked for", not)
					}
				}
			})
		}
	}
}

// TestCanonicalText: the text under an address is that of the page at it, if that was visited.
func TestCanonicalText(t *testing.T) {
	s := newHost(t, map[string]reply{"/": {body: page("Home", "/old", "/new")}, "/old": headed("Old", `<link rel="canonical" href="/new">`),
		"/new": {body: page("New")}})
	r := run(t, newCrawler(t, crawl.Config{}, s), options(t, s.URL))
	if len(r.Pages) != 2 || r.Pages[1].Title != "New" || r.Pages[1].URL != s.URL+"/new" {
		t.Errorf("got %+v", r.Pages)
	}
}

// TestCanonicalHost: a page gives no text to an address of another host, also where other hosts belong to the crawl.
func TestCanonicalHost(t *testing.T) {
	for to, want := range map[string]string{
		"http://foreign.example/a": "/a", "https://foreign.example/a": "/a", "//docs.HOST/a": "/a", "http://HOST1/a": "/a",
		"/b": "/b", "https://HOST/b": "https://HOST/b", "//www.HOST/b": "http://www.HOST/b",
	} {
		replies := map[string]reply{"/": {body: page("Home", "/a")}}
		s := newHost(t, replies)
		inHost := func(address string) string { return strings.ReplaceAll(address, "HOST", s.host()) }
		replies["/a"] = headed("A", `<link rel="canonical" href="`+inHost(to)+`">`)
		if diff := cmp.Diff([]string{"/", inHost(want)}, paths(s, run(t, newCrawler(t, crawl.Config{}, s), options(t, s.URL)))); diff != "" {
			t.Errorf("%s: %s", to, diff)
		}
	}
}

// TestSitemapBounds: a sitemap fills no more than the limit, and one that fails leaves the result incomplete.
func TestSitemapBounds(t *testing.T) {
	var paths []string
	replies := map[string]reply{"/": {body: page("Home")}}
	for i := range 30 {
		paths = append(paths, fmt.Sprintf("/p%d", i))
		replies[paths[i]] = reply{body: page("Page")}
	}
	replies["/sitemap.xml"] = reply{body: urlset(paths...)}
	s := newHost(t, replies)
	o := options(t, s.URL)
	o.Limit = 10
	if r := run(t, newCrawler(t, crawl.Config{}, s), o); len(r.Pages) != 10 || !r.Complete {
		t.Errorf("%d pages, complete %t", len(r.Pages), r.Complete)
	}
	replies["/sitemap.xml"] = reply{status: http.StatusInternalServerError}
	if r := run(t, newCrawler(t, crawl.Config{}, s), o); len(r.Pages) != 1 || r.Complete {
		t.Errorf("with a failing sitemap: %d pages, complete %t", len(r.Pages), r.Complete)
	}
	bomb := packed(strings.Repeat(" ", 60<<20) + urlset("/p1"))
	replies["/sitemap.xml"] = reply{body: bomb}
	if r := run(t, newCrawler(t, crawl.Config{}, s), o); len(r.Pages) != 1 {
		t.Errorf("with a bomb: %d pages", len(r.Pages))
	}
}

// TestCrawlDelay: a pause that robots.txt asks for holds, also where the own one is shorter.
func TestCrawlDelay(t *testing.T) {
	s := newHost(t, map[string]reply{
		"/robots.txt": {body: "User-agent: *\nCrawl-delay: 0.1\n"}, "/": {body: page("Home", "/a", "/b")}, "/a": {body: page("A")},
		"/b": {body: page("B")},
	})
	began := time.Now()
	r := run(t, newCrawler(t, crawl.Config{}, s), options(t, s.URL))
	// After robots.txt there are the three pages and the sitemap, with three pauses between them.
	if took := time.Since(began); len(r.Pages) != 3 || took < 300*time.Millisecond {
		t.Errorf("%d pages in %s", len(r.Pages), took)
	}
}
