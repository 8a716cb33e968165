package extract_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/patchbay-dev/patchbay/plugins/internal/extract"
	"github.com/patchbay-dev/patchbay/plugins/internal/httpx"
	"github.com/patchbay-dev/patchbay/sdk/errs"
)

var paragraph = strings.Repeat("The harbour crane lifts containers from ships and sets them down on the quay. ", 8)

var article = `<!doctype html><html><head><title>Cranes &amp; quays</title><style>.x{}</style></head><body>
<nav><a href="/home">Home</a><a href="/about">About us</a></nav>
<article><h1>Cranes</h1><p>` + paragraph + `</p><p>` + paragraph + ` See <a href="/more">more</a>.</p>
<h2>List</h2><ul><li>first point</li><li>second point</li></ul><img src="/crane.png"><img src="data:image/png;base64,AA">
<table><tr><th>Name</th><th>Load</th></tr><tr><td>Big</td><td>40 t</td></tr></table>
<pre><code>lift(1)</code></pre><p>` + paragraph + `</p></article>
<script>alert("secret script")</script><footer>Imprint and privacy</footer></body></html>`

func TestHTML(t *testing.T) {
	base, _ := url.Parse("https://example.org/a/b")
	page, err := extract.HTML([]byte(article), "text/html; charset=utf-8", base, extract.Markdown)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"harbour crane", "- first point", "https://example.org/more", "lift(1)", "40 t"} {
		if !strings.Contains(page.Text, want) {
			t.Errorf("%q is missing in:\n%s", want, page.Text)
		}
	}
	for _, not := range []string{"secret script", "About us", "<p>"} {
		if strings.Contains(page.Text, not) {
			t.Errorf("%q is in:\n%s", not, page.Text)
		}
	}
	if page.Title != "Cranes & quays" && page.Title != "Cranes" {
		t.Errorf("title is %q", page.Title)
	}
	if len(page.Images) != 1 || page.Images[0] != "https://example.org/crane.png" {
		t.Errorf("images are %v", page.Images)
	}
	page, err = extract.HTML([]byte(article), "", nil, extract.Text)
	if err != nil || strings.Contains(page.Text, "](") || !strings.Contains(page.Text, "second point") {
		t.Errorf("text: %v\n%s", err, page.Text)
	}
}

func TestSmallAndOddPages(t *testing.T) {
	page, err := extract.HTML([]byte("<p>just a line"), "", nil, extract.Markdown)
	if err != nil || page.Text != "just a line" {
		t.Errorf("got %+v, %v", page, err)
	}
	gbk := "<html><head><meta charset=gbk></head><body><p>\xd6\xd0\xce\xc4\xcb\xd1\xcb\xf7</p></body></html>"
	if page, err = extract.HTML([]byte(gbk), "", nil, extract.Text); err != nil || page.Text != "中文搜索" {
		t.Errorf("got %+v, %v", page, err)
	}
	for _, empty := range []string{"", "<html></html>", "<script>x</script>"} {
		if _, err := extract.HTML([]byte(empty), "text/html", nil, extract.Markdown); !errors.Is(err, extract.ErrNoText) {
			t.Errorf("%q: got %v", empty, err)
		}
	}
	deep := strings.Repeat("<div>", 20_000) + "x"
	if _, err := extract.HTML([]byte(deep), "text/html", nil, extract.Markdown); err == nil {
		t.Log("a very deep page was read")
	}
}

func TestFetch(t *testing.T) {
	mux := http.NewServeMux()
	serve := func(path, contentType, body string, status int) {
		mux.HandleFunc(path, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", contentType)
			w.WriteHeader(status)
			_, _ = w.Write([]byte(body))
		})
	}
	serve("/html", "text/html", article, 200)
	serve("/text", "text/plain", "plain words", 200)
	serve("/json", "application/ld+json", `{"a":1}`, 200)
	serve("/image", "image/png", "\x89PNG", 200)
	serve("/missing", "text/html", article, 404)
	mux.Handle("/moved", http.RedirectHandler("/text", http.StatusMovedPermanently))
	srv := httptest.NewServer(mux)
	defer srv.Close()
	guard, err := httpx.NewGuard(httpx.GuardConfig{Allow: []string{strings.TrimPrefix(srv.URL, "http://")}})
	if err != nil {
		t.Fatal(err)
	}
	client, err := httpx.New(httpx.Config{Guard: guard, MaxRedirects: 3, Compression: true})
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	for path, want := range map[string]string{
		"/html": "harbour crane", "/text#x": "plain words", "/json": `{"a":1}`, "/moved": "plain words", "/image": "", "/missing": "",
	} {
		page, err := extract.Fetch(t.Context(), client, srv.URL+path, extract.Markdown)
		if (err == nil) != (want != "") || err == nil && !strings.Contains(page.Text, want) {
			t.Errorf("%s: got %+v, %v", path, page, err)
		}
	}
	_, err = extract.Fetch(t.Context(), client, "http://127.0.0.1:1/", extract.Markdown)
	if errs.From(err).Reason != httpx.ReasonRefused {
		t.Errorf("got %v", err)
	}
}
