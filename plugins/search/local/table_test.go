package local_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/patchbay-dev/patchbay/plugins/internal/searchapi"
	"github.com/patchbay-dev/patchbay/plugins/internal/searchapi/searchapitest"
	"github.com/patchbay-dev/patchbay/plugins/search/local"
	"github.com/patchbay-dev/patchbay/sdk/search"
)

func TestParametersOfTheTable(t *testing.T) {
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		_, _ = fmt.Fprint(w, "<h1>Page</h1><p>Words of the page about cranes.</p>")
	}))
	t.Cleanup(site.Close)
	h := newHouse(t, map[string]string{"docs/a.md": "# Query\n\nwords that are found"})
	h.cfg.AllowHosts = []string{strings.TrimPrefix(site.URL, "http://")}
	b, _ := h.open(t)
	schemas := map[string]string{}
	for _, op := range local.Definition().Operations {
		schemas[op.Name] = op.InputSchema
	}
	page := fmt.Sprintf("%q", site.URL+"/")
	searchapitest.TestBackend(t, searchapitest.Config{
		Backend: searchapi.Local, Schemas: schemas,
		Required: map[string]string{"query": `"query"`, "urls": page, "url": page, "input": `"words"`},
		Invoke: func(t *testing.T, op, body string) (int, []byte) {
			resp, err := b.Invoke(t.Context(), &search.Request{Operation: op, Body: []byte(body)})
			if err != nil {
				t.Fatalf("%s: %v", body, err)
			}
			return resp.Status, resp.Body
		},
	})
}
