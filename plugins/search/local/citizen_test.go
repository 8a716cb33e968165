package local_test

import (
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestSiteKeepsToWhatPagesAsk: what pages ask of crawlers decides which of them are in the index, and under which address.
func TestSiteKeepsToWhatPagesAsk(t *testing.T) {
	w := newWiki(t)
	w.pages = map[string]string{
		"/robots.txt":      "User-agent: *\nSitemap: " + w.URL + "/map.xml\n",
		"/guide/":          `<meta http-equiv="refresh" content="0; url=en/">`,
		"/guide/en/":       `<h1>Guide</h1><p>Welcome to the lighthouse.</p><a href="print">p</a><a href="no">n</a><a rel="nofollow" href="quiet">q</a>`,
		"/guide/en/print":  `<title>Lamp</title><link rel="canonical" href="lamp"><p>The lamp rotates.</p>`,
		"/guide/en/no":     `<meta name="patchbay" content="noindex"><p>A confidential cellar.</p><a href="behind">b</a>`,
		"/guide/en/behind": `<p>A brass carillon.</p>`,
		"/guide/en/quiet":  `<p>The foghorn sounds.</p>`,
		"/map.xml":         `<urlset><url><loc>` + w.URL + `/guide/en/orphan</loc></url><url><loc>` + w.URL + `/about</loc></url></urlset>`,
		"/guide/en/orphan": `<p>The weather vane turns.</p>`,
		"/about":           `<p>The imprint of nobody.</p>`,
	}
	h := siteHouse(t, w, time.Second)
	b, _ := h.open(t)
	for query, want := range map[string][]string{
		"lighthouse": {"/guide/en/"}, "lamp rotates": {"/guide/en/lamp"}, "carillon": {"/guide/en/behind"}, "weather vane": {"/guide/en/orphan"},
		"confidential cellar": nil, "foghorn": nil, "imprint": nil,
	} {
		var addresses []string
		for _, path := range want {
			addresses = append(addresses, w.URL+path)
		}
		if want != nil {
			eventually(t, query, func() bool { return slices.Equal(finds(t, b, query), addresses) })
		}
		if got := finds(t, b, query); !slices.Equal(got, addresses) {
			t.Errorf("%s: found %q", query, got)
		}
	}
	if err := health(t, b); err != nil {
		t.Error(err)
	}
	// A page that is in the sitemap no more, and one that asks to leave.
	w.change(func() {
		w.pages["/map.xml"] = `<urlset></urlset>`
		w.pages["/guide/en/behind"] = `<meta name="robots" content="noindex"><p>A brass carillon.</p>`
	})
	eventually(t, "both are gone", func() bool { return len(finds(t, b, "weather vane"))+len(finds(t, b, "carillon")) == 0 })
}

// TestPagesOfAnotherFormatAreReadAnew: pages whose text was taken by an older program are asked for as a whole, at once.
func TestPagesOfAnotherFormatAreReadAnew(t *testing.T) {
	w := newWiki(t)
	h := siteHouse(t, w, time.Hour)
	b, closeIt := h.open(t)
	eventually(t, "the site is indexed", func() bool { return len(finds(t, b, "foghorn")) == 1 })
	closeIt()
	for _, name := range stored(t, h) {
		if !strings.HasSuffix(name, "state.json") {
			continue
		}
		data, err := os.ReadFile(name)
		if err != nil || !strings.Contains(string(data), `"format":`) {
			t.Fatalf("%s, %v", data, err)
		}
		if err := os.WriteFile(name, []byte(strings.Replace(string(data), `"format":`, `"was":`, 1)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	before, kept := w.asked(http.StatusOK), w.asked(http.StatusNotModified)
	h.open(t)
	eventually(t, "the pages are asked for anew", func() bool { return w.asked(http.StatusOK) >= before+4 })
	if got := w.asked(http.StatusNotModified); got != kept {
		t.Errorf("%d pages were asked for conditionally", got-kept)
	}
}
