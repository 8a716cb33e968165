package tavily_test

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/patchbay-dev/patchbay/plugins/search/tavily"
	"github.com/patchbay-dev/patchbay/plugins/search/tavily/tavilytest"
	"github.com/patchbay-dev/patchbay/sdk/conformance"
	"github.com/patchbay-dev/patchbay/sdk/search"
)

// slowly holds a request whose body says so until its client leaves.
func slowly(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		if bytes.Contains(body, []byte("hold this")) {
			<-r.Context().Done()
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		next.ServeHTTP(w, r)
	})
}

func TestConformance(t *testing.T) {
	const credential = "tvly-conformance-0451"
	fake := tavilytest.New(tavilytest.Config{Keys: []string{credential}})
	srv := httptest.NewServer(slowly(fake))
	t.Cleanup(func() {
		fake.Close()
		srv.Close()
	})
	conformance.TestSearch(t, tavily.Plugin(), conformance.SearchConfig{
		JSON:       `{"base_url":"` + srv.URL + `"}`,
		Invalid:    []string{`{"base_url":"ftp://example.org"}`, `{"timeout":"0s"}`, `{"project":"two words"}`},
		Credential: credential,
		Samples: []conformance.Sample{
			{Operation: search.OpSearch, Body: `{"query":"conformance"}`},
			{Operation: search.OpExtract, Body: `{"urls":["https://example.org/"]}`},
			{Operation: search.OpCrawl, Body: `{"url":"https://example.org/"}`},
			{Operation: search.OpMap, Body: `{"url":"https://example.org/"}`},
			{Operation: search.OpResearch, Body: `{"input":"conformance"}`},
			{Operation: search.OpResearchResult, ResourceFrom: search.OpResearch},
			{Operation: search.OpResearch, Body: `{"input":"conformance","stream":true}`, Stream: true},
		},
		Slow: &conformance.Sample{Operation: search.OpSearch, Body: `{"query":"hold this"}`},
	})
}
