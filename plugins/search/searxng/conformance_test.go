package searxng_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/patchbay-dev/patchbay/plugins/search/searxng"
	"github.com/patchbay-dev/patchbay/plugins/search/searxng/searxngtest"
	"github.com/patchbay-dev/patchbay/sdk/conformance"
	"github.com/patchbay-dev/patchbay/sdk/search"
)

// newSite is a site of two pages, and one that never answers.
func newSite(t *testing.T) *httptest.Server {
	t.Helper()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/held" {
			<-r.Context().Done()
			return
		}
		w.Header().Set("Content-Type", "text/html")
		_, _ = io.WriteString(w, `<h1>Site</h1><p>The words of the page about conformance and cranes at the quay.</p><a href="/more">more</a>`)
	}))
	t.Cleanup(srv.Close)
	return srv
}

func host(srv *httptest.Server) string { return strings.TrimPrefix(srv.URL, "http://") }

func TestConformance(t *testing.T) {
	site := newSite(t)
	fake := searxngtest.New(searxngtest.Config{})
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Get("q") == "hold this" {
			<-r.Context().Done()
			return
		}
		fake.ServeHTTP(w, r)
	}))
	t.Cleanup(srv.Close)
	conformance.TestSearch(t, searxng.Plugin(), conformance.SearchConfig{
		JSON: fmt.Sprintf(`{"base_url":%q,"allow_hosts":[%q],"crawl_delay":"0s"}`, srv.URL, host(site)),
		Invalid: []string{
			`{}`, `{"base_url":"ftp://example.org"}`, `{"base_url":"http://x","language":"English"}`, `{"base_url":"http://x","safesearch":3}`,
			`{"base_url":"http://x","categories":["a,b"]}`, `{"base_url":"http://x","timeout":"0s"}`,
			`{"base_url":"http://x","allow_hosts":["http://x"]}`,
		},
		Samples: []conformance.Sample{
			{Operation: search.OpSearch, Body: `{"query":"conformance"}`},
			{Operation: search.OpExtract, Body: `{"urls":["` + site.URL + `"]}`},
			{Operation: search.OpMap, Body: `{"url":"` + site.URL + `"}`},
			{Operation: search.OpCrawl, Body: `{"url":"` + site.URL + `"}`},
			{Operation: search.OpResearch, Body: `{"input":"conformance"}`},
			{Operation: search.OpResearch, Body: `{"input":"conformance of cranes","stream":true}`, Stream: true},
			{Operation: search.OpResearchResult, ResourceFrom: search.OpResearch},
		},
		Slow: &conformance.Sample{Operation: search.OpSearch, Body: `{"query":"hold this"}`},
	})
}
