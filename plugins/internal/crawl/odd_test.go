package crawl_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/patchbay-dev/patchbay/plugins/internal/crawl"
)

// TestInnerAddresses: nothing gets past the guard, by a link, a redirect or a redirected robots.txt.
func TestInnerAddresses(t *testing.T) {
	inner := newSite(t, "", map[string]string{"/": page("Inner"), "/robots.txt": "User-agent: *\nAllow: /\n"})
	s := newSite(t, "", map[string]string{
		"/": page("Home", inner.URL+"/", "/to", "http://10.0.0.1/", "http://169.254.169.254/", "http://[::1]/", "http://u:p@127.0.0.1/",
			"http://localhost:"+strings.Split(inner.host(), ":")[1]+"/"),
		"/to": "> " + inner.URL + "/",
	})
	c := newCrawler(t, crawl.Config{}, s)
	r := run(t, c, options(t, s.URL))
	if diff := cmp.Diff([]string{"/"}, paths(s, r)); diff != "" || len(r.Failed) != 5 {
		t.Errorf("%s %v", diff, r.Failed)
	}
	r = run(t, c, options(t, inner.URL))
	if r.Start == nil || len(r.Pages) != 0 {
		t.Errorf("got %+v", r)
	}
	evil := newSite(t, "", map[string]string{"/robots.txt": "> " + inner.URL + "/robots.txt", "/": page("Evil")})
	r = run(t, newCrawler(t, crawl.Config{}, evil), options(t, evil.URL))
	if r.Start == nil || evil.asked("/") != 0 {
		t.Errorf("got %+v", r)
	}
	inner.mu.Lock()
	defer inner.mu.Unlock()
	if len(inner.hits) > 0 {
		t.Errorf("the inner server was asked for %v", inner.hits)
	}
}

func TestRobots(t *testing.T) {
	target := newSite(t, "", map[string]string{"/rules": "User-agent: *\nDisallow: /a\n"})
	for name, tc := range map[string]struct {
		robots string
		want   int
	}{
		"none": {"#404", 2}, "forbidden": {"#403", 2}, "failing": {"#500", 0}, "redirected": {"> /rules", 1}, "page": {page("No such thing"), 2},
		"other host": {"> " + target.URL + "/rules", 1}, "huge": {strings.Repeat("# nothing here\n", 60_000), 2}, "loop": {"> /robots.txt", 0},
	} {
		s := newSite(t, "", map[string]string{
			"/robots.txt": tc.robots, "/": page("Home", "/a"), "/a": page("A"), "/rules": "User-agent: *\nDisallow: /a\n",
		})
		r := run(t, newCrawler(t, crawl.Config{}, s, target), options(t, s.URL))
		if len(r.Pages) != tc.want {
			t.Errorf("%s: got %v, %v", name, paths(s, r), r.Failed)
		}
	}
}

func TestOddContent(t *testing.T) {
	mux := http.NewServeMux()
	serve := func(path, contentType, body string, header ...string) {
		mux.HandleFunc(path, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", contentType)
			for i := 0; i+1 < len(header); i += 2 {
				w.Header().Set(header[i], header[i+1])
			}
			_, _ = io.WriteString(w, body)
		})
	}
	var links []string
	for _, l := range []string{"text", "gbk", "image", "huge", "packed.xml.gz", "zip", "base", "deep", "void"} {
		links = append(links, "/"+l)
	}
	serve("/{$}", "text/html", page("Home", links...))
	serve("/text", "text/plain", "plain words")
	serve("/gbk", "text/html; charset=gbk", "<p>\xd6\xd0\xce\xc4\xcb\xd1\xcb\xf7</p>")
	serve("/image", "image/png", "\x89PNG")
	serve("/huge", "text/html", "<p>"+strings.Repeat("words ", 400_000))
	serve("/packed.xml.gz", "application/x-gzip", "\x1f\x8b\x08")
	serve("/zip", "text/html", "\x1f\x8b", "Content-Encoding", "br")
	serve("/base", "text/html", `<base href="/sub/"><p>based</p><a href="leaf">x</a>`)
	serve("/sub/leaf", "text/html", "<p>leaf words</p>")
	serve("/deep", "text/html", strings.Repeat("<div>", 20_000)+"<p>deep</p>")
	serve("/void", "text/html", "")
	srv := httptest.NewServer(mux)
	defer srv.Close()
	s := &site{Server: srv}
	o := options(t, srv.URL)
	o.MaxDepth = 2
	r := run(t, newCrawler(t, crawl.Config{}, s), o)
	got := map[string]string{}
	for _, p := range r.Pages {
		got[strings.TrimPrefix(p.URL, srv.URL)] = p.Text
	}
	for path, want := range map[string]string{"/text": "plain words", "/gbk": "中文搜索", "/base": "based", "/sub/leaf": "leaf words"} {
		if !strings.Contains(got[path], want) {
			t.Errorf("%s: got %q", path, got[path])
		}
	}
	for _, not := range []string{"/image", "/huge", "/packed.xml.gz", "/zip", "/void"} {
		if _, ok := got[not]; ok {
			t.Errorf("%s was taken", not)
		}
	}
}

// TestLinks: links are read as browsers read them, in the page's encoding and however deep they stand.
func TestLinks(t *testing.T) {
	head := `<meta charset="gbk"><a href="first">before the base</a><base href="/base/"><base href="/other/">`
	links := `<a href="/tab&#9;bed"></a><area href="\\back\\slash?a\\b"><a name="x"></a><a href="#top"></a><a href=" /spaced "></a><a href="/` + "\xd6\xd0" + `"></a>` +
		`<A HREF='/upper'></A><a href="http://b\xc3\xbccher.example/"></a><a href="/100%"></a><a href="ftp://example.org/"></a>`
	hidden := `<!-- <a href="/comment"> --><script>"<a href='/script'>"</script><textarea><a href="/textarea"></textarea><p title='<a href="/title">'>`
	links = strings.ReplaceAll(strings.ReplaceAll(links, `\\`, `\`), `\xc3\xbc`, "&uuml;")
	s := newSite(t, "", map[string]string{"/": ""})
	mux := http.NewServeMux()
	mux.HandleFunc("/{$}", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		_, _ = io.WriteString(w, head+links+hidden+strings.Repeat("<div>", 20_000)+`<a href="/deep">x</a>`)
	})
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "words") })
	s.Config.Handler = mux
	o := options(t, s.URL)
	o.Format = ""
	got := paths(s, run(t, newCrawler(t, crawl.Config{}, s), o))
	want := []string{"/", "/base/first", "/tabbed", `/back/slash?a\b`, "/spaced", "/%E4%B8%AD", "/upper", "http://xn--bcher-kva.example/",
		"/deep"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
