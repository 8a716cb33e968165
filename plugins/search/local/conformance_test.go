package local_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/patchbay-dev/patchbay/plugins/search/local"
	"github.com/patchbay-dev/patchbay/sdk/conformance"
	"github.com/patchbay-dev/patchbay/sdk/search"
)

func TestConformance(t *testing.T) {
	held := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }))
	t.Cleanup(held.Close)
	h := newHouse(t, map[string]string{"docs/one.md": "# One\n\nA patchbay joins what belongs together.\n"})
	conformance.TestSearch(t, local.Plugin(), conformance.SearchConfig{
		JSON: `{"folders":["docs"],"allow_hosts":["` + strings.TrimPrefix(held.URL, "http://") + `"]}`,
		Invalid: []string{
			`{}`, `{"folders":["missing"]}`, `{"folders":["docs"],"rescan_interval":"1ns"}`,
		},
		BaseDir: h.base,
		Samples: []conformance.Sample{
			{Operation: search.OpSearch, Body: `{"query":"patchbay"}`},
			{Operation: search.OpExtract, Body: `{"urls":["file:docs/one.md"]}`},
		},
		Slow: &conformance.Sample{Operation: search.OpExtract, Body: `{"urls":["` + held.URL + `"]}`},
	})
}
