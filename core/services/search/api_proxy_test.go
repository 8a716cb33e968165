package search

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/services/search/access"
	"github.com/patchbay-dev/patchbay/core/services/search/api"
	"github.com/patchbay-dev/patchbay/core/services/search/internal/searchtest"
	"github.com/patchbay-dev/patchbay/core/services/search/proxy"
	sdk "github.com/patchbay-dev/patchbay/sdk/search"
)

// TestProxyKeepsToTheDocument provokes every status of the proxy and of /mcp, and holds bodies and answers against the
// document.
func TestProxyKeepsToTheDocument(t *testing.T) {
	var fail error
	e := newEnv(t, func(e *env) {
		e.backend.desc.Operations = searchtest.Operations()[:5]
		e.backend.desc.Operations = append(e.backend.desc.Operations, sdk.Operation{Name: sdk.OpResearchResult})
	})
	e.backend.invoke = func(_ context.Context, req *sdk.Request) (*sdk.Reply, error) {
		switch {
		case fail != nil:
			return nil, fail
		case req.Operation == sdk.OpResearch:
			r := reply(201, `{"request_id":"r1","status":"pending"}`)
			r.ResourceID = "r1"
			return r, nil
		case req.Operation == sdk.OpResearchResult:
			return reply(202, `{"request_id":"r1","status":"in_progress"}`), nil
		}
		return reply(200, `{"results":[],"images":[]}`), nil
	}
	c := newContract(e)
	token := []string{"Authorization", "Bearer " + e.token(nil)}
	proxyRoutes := func(want int, method, path, body string, header ...string) got {
		t.Helper()
		g := c.call(want, method, "/search"+path, body, header...)
		if want >= 400 && (g.json["error"] != g.json["code"] || field(t, g, "detail", "error") != g.json["message"] ||
			g.json["request_id"] == "") {
			t.Errorf("%s %s: the members that clients read are missing: %s", method, path, g.body)
		}
		return g
	}
	for path, body := range map[string]string{
		"search": `{"query":"x","max_results":3,"topic":"news"}`, "extract": `{"urls":["https://a.example"]}`,
		"crawl": `{"url":"https://a.example"}`, "map": `{"url":"https://a.example"}`,
	} {
		proxyRoutes(200, "POST", "/api/proxy/"+path, body, token...)
		proxyRoutes(401, "POST", "/api/proxy/"+path, body)
		proxyRoutes(400, "POST", "/api/proxy/"+path, `{}`, token...)
		proxyRoutes(400, "POST", "/api/proxy/"+path, `[`, token...)
		proxyRoutes(413, "POST", "/api/proxy/"+path, `{"query":"`+strings.Repeat("x", api.BodyLimit)+`"}`, token...)
	}
	proxyRoutes(400, "POST", "/api/proxy/search", `{"query":"x","max_results":21}`, token...)
	proxyRoutes(201, "POST", "/api/proxy/research", `{"input":"x"}`, token...)
	proxyRoutes(202, "GET", "/api/proxy/research/r1", "", token...)
	proxyRoutes(404, "GET", "/api/proxy/research/other", "", token...)
	proxyRoutes(401, "GET", "/api/proxy/research/r1", "")
	proxyRoutes(400, "GET", "/api/proxy/research/"+strings.Repeat("x", proxy.MaxResourceID+1), "", token...)
	proxyRoutes(200, "GET", "/api/proxy/usage", "", token...)
	proxyRoutes(401, "GET", "/api/proxy/usage", "")
	c.call(200, "GET", "/search/health", "")

	for err, want := range map[error]int{
		fault.New(fault.UpstreamUnavailable, "No answer."): 502, fault.New(fault.PluginUnavailable, "Down."): 502,
		fault.New(fault.Internal, "Broken."): 500, fault.New(fault.Timeout, "Too late."): 504,
	} {
		fail = err
		proxyRoutes(want, "POST", "/api/proxy/search", `{"query":"x"}`, token...)
	}
	fail = nil
	none := []string{"Authorization", "Bearer " + e.token(&access.Limits{RequestsHour: 1, CreditsHour: 0, CreditsDay: 9, CreditsMonth: 9})}
	if g := proxyRoutes(429, "POST", "/api/proxy/search", `{"query":"x"}`, none...); g.json["scope"] != "credits" ||
		g.json["window"] != "hour" || g.header.Get("Retry-After") == "" {
		t.Errorf("got %s", g.body)
	}

	message := `{"jsonrpc":"2.0","id":1,"method":"ping"}`
	mcp := append([]string{"Accept", "application/json, text/event-stream"}, token...)
	proxyRoutes(200, "POST", "/mcp", message, mcp...)
	c.call(202, "POST", "/search/mcp", `{"jsonrpc":"2.0","method":"notifications/initialized"}`, mcp...)
	c.call(400, "POST", "/search/mcp", `{`, mcp...)
	proxyRoutes(401, "POST", "/mcp", message)
	proxyRoutes(403, "POST", "/mcp", message, append([]string{"Origin", "https://evil.example"}, mcp...)...)
	proxyRoutes(413, "POST", "/mcp", `{"x":"`+strings.Repeat("x", api.BodyLimit)+`"}`, mcp...)
	started := proxyRoutes(200, "POST", "/mcp",
		`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`, mcp...)
	session := append([]string{"Mcp-Session-Id", started.header.Get("Mcp-Session-Id")}, token...)
	c.call(204, "DELETE", "/search/mcp", "", session...)
	proxyRoutes(404, "DELETE", "/mcp", "", session...)
}

// TestDocumentShowsTheBackendsFields: the document carries the schema of the backend that runs.
func TestDocumentShowsTheBackendsFields(t *testing.T) {
	e := newEnv(t, func(e *env) {
		e.backend.desc.Operations[0].InputSchema = `{"type":"object","properties":{"query":{"type":"string"},"depth":{"type":"string","enum":["a","b"]},"sites":{"type":"array","items":{"type":"string"}}}}`
	})
	c := newContract(e)
	_, op := c.operation("POST", "/search/api/proxy/search")
	raw, err := json.Marshal(op["requestBody"])
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"enum":["a","b"]`, `"items":{"type":"string"}`, `"maximum":20`, `"required":["query"]`, `"api_key"`} {
		if !strings.Contains(string(raw), want) {
			t.Errorf("%s is not in %s", want, raw)
		}
	}
}
