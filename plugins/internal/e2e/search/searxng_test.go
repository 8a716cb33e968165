package search

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/patchbay-dev/patchbay/plugins/internal/e2e/kit"
	"github.com/patchbay-dev/patchbay/plugins/search/searxng/searxngtest"
)

// searxngHCL has a SearXNG server and the local index; the service uses the backends named.
func searxngHCL(url, backends string) string {
	return fmt.Sprintf(`
search "searxng" "web" {
  config { base_url = %q }
}
search "local" "docs" {
  config { folders = ["docs"] }
}
service "search" {
  backend = %s
}
`, url, backends)
}

// TestSearXNGThatCannotSearch: a server that is set up otherwise, or whose engines failed, is a failure with the reason, for the API,
// for MCP and for whoever looks after it; the next backend is asked.
func TestSearXNGThatCannotSearch(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		cfg  searxngtest.Config
		want string
	}{
		"JSON is not permitted": {searxngtest.Config{NoJSON: true}, "list json under search.formats in its settings.yml"},
		"all engines failed": {searxngtest.Config{
			Results: func(string, string) []searxngtest.Result { return nil }, Unresponsive: []string{"brave", "duckduckgo"},
			Engines: []searxngtest.Engine{{Name: "brave", Categories: []string{"general"}}, {Name: "duckduckgo", Categories: []string{"general"}},
				{Name: "wikipedia", Categories: []string{"general"}}},
		}, "No engine of the SearXNG server could search: brave (timeout), duckduckgo (timeout)."},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			srv := httptest.NewServer(searxngtest.New(tt.cfg))
			t.Cleanup(srv.Close)
			c := kit.LocalCore(t, searxngHCL(srv.URL, "search.web"))
			c.Start()
			t.Cleanup(c.Stop)
			token := c.Token()
			a := c.Post(t, token, "/search/api/proxy/search", `{"query":"crashes"}`)
			if p := kit.Decode[kit.Problem](t, a.Body); a.Status != http.StatusBadGateway || p.Code != "upstream_unavailable" ||
				!strings.Contains(p.Message, tt.want) {
				t.Errorf("status %d: %s", a.Status, a.Body)
			}
			call := `{"jsonrpc":"2.0","id":9007199254740993,"method":"tools/call","params":{"name":"search","arguments":{"query":"crashes"}}}`
			if a := c.Post(t, token, "/search/mcp/", call); a.Status != http.StatusOK || !strings.Contains(a.Body, tt.want) ||
				!strings.Contains(a.Body, `"isError":true`) || !strings.Contains(a.Body, `"id":9007199254740993,`) {
				t.Errorf("status %d: %s", a.Status, a.Body)
			}
			text := strings.ToLower(tt.want[:1]) + strings.TrimSuffix(tt.want[1:], ".")
			kit.Eventually(t, kit.StartWithin, "the health has the reason", func() bool {
				return strings.Contains(readReadiness(t, c), text)
			})
			c.Configure(searxngHCL(srv.URL, "[search.web, search.docs]"))
			c.Reload()
			if a := c.Post(t, token, "/search/api/proxy/search", `{"query":"crashes"}`); a.Status != http.StatusOK ||
				!strings.Contains(a.Body, "file:docs/guide.md") {
				t.Errorf("the next backend: status %d: %s", a.Status, a.Body)
			}
		})
	}
}
