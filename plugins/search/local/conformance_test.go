package local_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/patchbay-dev/patchbay/plugins/search/local"
	"github.com/patchbay-dev/patchbay/sdk/conformance"
	"github.com/patchbay-dev/patchbay/sdk/search"
)

func TestConformance(t *testing.T) {
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/held" {
			<-r.Context().Done()
			return
		}
		w.Header().Set("Content-Type", "text/html")
		_, _ = io.WriteString(w, `<h1>Site</h1><p>Some words.</p><a href="/more">more</a>`)
	}))
	t.Cleanup(site.Close)
	h := newHouse(t, map[string]string{"docs/one.md": "# One\n\nA patchbay joins what belongs together.\n"})
	conformance.TestSearch(t, local.Plugin(), conformance.SearchConfig{
		JSON: `{"folders":["docs"],"sites":["` + site.URL + `"],"allow_hosts":["` + strings.TrimPrefix(site.URL, "http://") + `"]}`,
		Invalid: []string{
			`{}`, `{"folders":["missing"]}`, `{"folders":["docs"],"rescan_interval":"1ns"}`,
			`{"folders":["docs"],"crawl_parallel":0}`,
			`{"sites":["http://127.0.0.1/"]}`, `{"sites":["docs"]}`, `{"folders":["docs"],"refresh":"1ns"}`, `{"folders":["docs"],"site_pages":0}`,
		},
		BaseDir: h.base,
		Samples: []conformance.Sample{
			{Operation: search.OpSearch, Body: `{"query":"patchbay"}`},
			{Operation: search.OpExtract, Body: `{"urls":["file:docs/one.md"]}`},
			{Operation: search.OpMap, Body: `{"url":"` + site.URL + `"}`},
			{Operation: search.OpCrawl, Body: `{"url":"` + site.URL + `"}`},
			{Operation: search.OpResearch, Body: `{"input":"patchbay"}`},
			{Operation: search.OpResearch, Body: `{"input":"conformance of cranes","stream":true}`, Stream: true},
			{Operation: search.OpResearchResult, ResourceFrom: search.OpResearch},
		},
		Slow: &conformance.Sample{Operation: search.OpExtract, Body: `{"urls":["` + site.URL + `/held"]}`},
	})
}
