package search

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/patchbay-dev/patchbay/core/services/search/access"
	"github.com/patchbay-dev/patchbay/core/services/search/api"
	sdk "github.com/patchbay-dev/patchbay/sdk/search"
)

const (
	listTools  = `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`
	callSearch = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"web_search","arguments":{"query":"q"}}}`
	welcome    = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`
)

// rpc posts a body to the endpoint.
func (e *env) rpc(token, body string, header ...string) got {
	e.Helper()
	header = append([]string{"Authorization", "Bearer " + token, "Content-Type", "application/json"}, header...)
	return e.send(http.MethodPost, "/search/mcp", body, header...)
}

func TestMCPRefusesWithoutAToken(t *testing.T) {
	e, double := mcpEnv(t)
	token := e.token(nil)
	wrong := token[:8] + strings.Repeat("0", 24)
	for name, tt := range map[string]struct {
		query  string
		header []string
	}{
		"none":                        {"", nil},
		"wrong header":                {"", []string{"Authorization", "Bearer " + wrong}},
		"wrong header, good query":    {"?tavilyApiKey=" + token, []string{"Authorization", "Bearer " + wrong}},
		"wrong query":                 {"?tavilyapikey=" + wrong, nil},
		"two in the query":            {"?tavilyApiKey=" + token + "&tavilyapikey=" + token, nil},
		"another scheme is no header": {"", []string{"Authorization", "Basic " + token}},
	} {
		for _, method := range []string{http.MethodPost, http.MethodDelete} {
			g := e.send(method, "/search/mcp"+tt.query, callSearch, append(tt.header, "Content-Type", "application/json")...)
			if g.status != 401 || g.json["code"] != "unauthorized" || g.json["message"] == "" || g.json["request_id"] == "" {
				t.Errorf("%s, %s: %d %s", name, method, g.status, g.body)
			}
		}
	}
	if n := len(double.Requests()); n != 0 {
		t.Errorf("the backend got %d requests", n)
	}
}

func TestMCPInDevelopmentNeedsNoToken(t *testing.T) {
	e, _ := mcpEnv(t, func(e *env) { e.set.DevOpenAdmin = true })
	g := e.send(http.MethodPost, "/search/mcp", callSearch, "Content-Type", "application/json")
	if g.status != 200 || !strings.Contains(g.body, `"isError":false`) && strings.Contains(g.body, `"isError"`) {
		t.Errorf("%d %s", g.status, g.body)
	}
	if used := e.used(e.svc, access.BuiltinID); used.HourlyRequests != 1 {
		t.Errorf("counted %+v", used)
	}
}

func TestMCPOverTheLimit(t *testing.T) {
	e, double := mcpEnv(t)
	token := e.token(&access.Limits{RequestsHour: 2, CreditsHour: 100, CreditsDay: 100, CreditsMonth: 100})
	for range 2 {
		if g := e.rpc(token, callSearch); g.status != 200 || g.header.Get("X-Ratelimit-Limit") != "2" {
			t.Fatalf("%d %s", g.status, g.body)
		}
	}
	for _, accept := range []string{"application/json", "text/event-stream", "application/json, text/event-stream"} {
		g := e.rpc(token, callSearch, "Accept", accept)
		if g.status != 429 || g.header.Get("Retry-After") == "" || g.json["code"] != "quota_exhausted" || g.json["scope"] != "requests" ||
			g.header.Get("X-Ratelimit-Remaining") != "0" {
			t.Errorf("%s: %d %v %s", accept, g.status, g.header, g.body)
		}
	}
	for _, free := range []string{listTools, welcome, `{"jsonrpc":"2.0","id":1,"method":"ping"}`} {
		if g := e.rpc(token, free); g.status != 200 || g.header.Get("X-Ratelimit-Limit") != "" {
			t.Errorf("%s: %d %s", free, g.status, g.body)
		}
	}
	if n := len(double.Requests()); n != 2 {
		t.Errorf("the backend got %d requests", n)
	}
	e.flush()
	if got := e.sums(idOf(token)); got != (sums{2, 2, 2, 2}) {
		t.Errorf("counted %+v", got)
	}
}

func TestMCPBatch(t *testing.T) {
	e, _ := mcpEnv(t)
	token := e.token(&access.Limits{RequestsHour: 1, CreditsHour: 100, CreditsDay: 100, CreditsMonth: 100})
	second := strings.Replace(callSearch, `"id":1`, `"id":"two"`, 1)
	body := "[" + callSearch + "," + second +
		`,{"jsonrpc":"2.0","id":3,"method":"tools/list"},{"jsonrpc":"2.0","method":"notifications/initialized"},7]`
	g := e.rpc(token, body)
	if g.status != 200 || !strings.HasPrefix(g.body, "[{") || strings.Count(g.body, `"jsonrpc"`) != 4 {
		t.Fatalf("%d %s", g.status, g.body)
	}
	for _, want := range []string{`"code":-32000`, `"retry_after":`, `"scope":"requests"`, `"code":-32600`, `"id":null`, `"web_search"`,
		`"id":"two"`, `"title":"one"`} {
		if strings.Count(g.body, want) < 1 {
			t.Errorf("%s is missing in %s", want, g.body)
		}
	}
	if g := e.rpc(token, "["+listTools+"]", "Mcp-Protocol-Version", "2025-06-18"); g.status != 400 || !strings.Contains(g.body, "-32600") {
		t.Errorf("a batch in a version without: %d %s", g.status, g.body)
	}
	if g := e.rpc(token, "["+listTools+"]", "Accept", "text/event-stream"); g.status != 200 ||
		!strings.HasPrefix(g.body, "event: message\ndata: {") {
		t.Errorf("a batch as events: %d %s", g.status, g.body)
	}
}

func TestMCPMessages(t *testing.T) {
	e, _ := mcpEnv(t)
	token := e.token(nil)
	for _, tt := range []struct {
		name, body string
		header     []string
		status     int
		want       string
	}{
		{"no JSON", `{"jsonrpc"`, nil, 400, `"code":-32700`},
		{"nothing", ``, nil, 400, `"code":-32700`},
		{"no message", `{}`, nil, 400, `"code":-32600`},
		{"a number", `7`, nil, 400, `"id":null`},
		{"another version", `{"jsonrpc":"1.0","id":1,"method":"ping"}`, nil, 400, `"code":-32600`},
		{"no id", `{"jsonrpc":"2.0","id":null,"method":"ping"}`, nil, 400, `"code":-32600`},
		{"empty batch", `[]`, nil, 400, `"code":-32600`},
		{"large batch", "[" + strings.Repeat(listTools+",", 50) + listTools + "]", nil, 400, `"code":-32600`},
		{"ids twice", "[" + listTools + "," + listTools + "]", nil, 400, `"code":-32600`},
		{"initialize in a batch", "[" + welcome + "]", nil, 400, `"code":-32600`},
		{"unknown method", `{"jsonrpc":"2.0","id":9,"method":"no/such"}`, nil, 200, `"code":-32601`},
		{"not offered", `{"jsonrpc":"2.0","id":9,"method":"logging/setLevel","params":{"level":"info"}}`, nil, 200, `"code":-32601`},
		{"no parameters", `{"jsonrpc":"2.0","id":9,"method":"tools/call"}`, nil, 200, `"code":-32600`},
		{"wrong parameters", `{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{"name":7}}`, nil, 200, `"code":-32602`},
		{"unknown tool", `{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{"name":"x"}}`, nil, 200, `"code":-32602`},
		{"prompts", `{"jsonrpc":"2.0","id":9,"method":"prompts/list"}`, nil, 200, `"prompts":[]`},
		{"notification", `{"jsonrpc":"2.0","method":"notifications/initialized"}`, nil, 202, ""},
		{"call without an id", strings.Replace(callSearch, `"id":1,`, "", 1), nil, 202, ""},
		{"answer", `{"jsonrpc":"2.0","id":9,"result":{}}`, nil, 202, ""},
		{"events only", listTools, []string{"Accept", "text/event-stream"}, 200, "event: message\ndata: {"},
		{"a version of the future", listTools, []string{"Mcp-Protocol-Version", "2099-01-01"}, 400, `-32022`},
		{"headers that deceive", listTools, []string{"Mcp-Protocol-Version", "2026-07-28"}, 400, `-326`},
		{"a name that deceives", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"web_crawl","NAME":"web_search","arguments":{"url":"u"},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}`,
			[]string{"Mcp-Protocol-Version", "2026-07-28", "Mcp-Method", "tools/call", "Mcp-Name", "web_search"}, 400, `-32020`},
		{"neither", listTools, []string{"Accept", "text/html"}, 406, "Accept"},
		{"unknown session", listTools, []string{"Mcp-Session-Id", "x"}, 404, "session_not_found"},
		{"too large", `{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":"` + strings.Repeat("x", 1<<20) + `"}}`, nil, 413,
			"payload_too_large"},
	} {
		g := e.rpc(token, tt.body, tt.header...)
		if g.status != tt.status || !strings.Contains(g.body, tt.want) || tt.want == "" && g.body != "" {
			t.Errorf("%s: %d %.300s", tt.name, g.status, g.body)
		}
	}
	if g := e.send(http.MethodPost, "/search/mcp", listTools, "Authorization", "Bearer "+token, "Content-Type",
		"text/plain"); g.status != 415 {
		t.Errorf("text: %d %s", g.status, g.body)
	}
	if got := e.used(e.svc, idOf(token)); got.HourlyRequests != 0 {
		t.Errorf("counted %+v", got)
	}
}

func TestMCPAddresses(t *testing.T) {
	e, _ := mcpEnv(t)
	token := e.token(nil)
	for _, tt := range []struct {
		method, path string
		status       int
		code         string
	}{
		{"GET", "/search/mcp", 405, "method_not_allowed"},
		{"OPTIONS", "/search/mcp", 405, "method_not_allowed"},
		{"GET", "/search/mcp/", 405, "method_not_allowed"},
		{"DELETE", "/search/mcp/", 400, "invalid_request"},
		{"POST", "/search/mcp/sse", 404, "not_found"},
		{"GET", "/.well-known/oauth-protected-resource", 404, "not_found"},
		{"GET", "/.well-known/oauth-protected-resource/search/mcp", 404, "not_found"},
		{"GET", "/.well-known/oauth-authorization-server", 404, "not_found"},
		{"DELETE", "/search/mcp", 400, "invalid_request"},
	} {
		g := e.send(tt.method, tt.path, "", "Authorization", "Bearer "+token, "Accept", "text/event-stream")
		if g.status != tt.status || g.json["code"] != tt.code {
			t.Errorf("%s %s: %d %s", tt.method, tt.path, g.status, g.body)
		}
		if allow := g.header.Get("Allow"); tt.status == 405 && (!strings.Contains(allow, "POST") || !strings.Contains(allow, "DELETE")) {
			t.Errorf("%s %s: Allow %q", tt.method, tt.path, allow)
		}
		if cors := g.header.Get("Access-Control-Allow-Origin"); cors != "" {
			t.Errorf("%s %s: CORS for %q", tt.method, tt.path, cors)
		}
	}
}

// TestMCPWithASlash: a session that was begun at one of the addresses goes on at the other.
func TestMCPWithASlash(t *testing.T) {
	e, _ := mcpEnv(t)
	header := []string{"Authorization", "Bearer " + e.token(nil), "Content-Type", "application/json"}
	for i, path := range api.McpPaths {
		g := e.send(http.MethodPost, "/search"+path, welcome, header...)
		id := g.header.Get("Mcp-Session-Id")
		if g.status != 200 || id == "" {
			t.Fatalf("%s: %d %s", path, g.status, g.body)
		}
		other := "/search" + api.McpPaths[1-i]
		if g := e.send(http.MethodPost, other, callSearch, append(header, "Mcp-Session-Id", id)...); g.status != 200 ||
			!strings.Contains(g.body, `"title":"one"`) {
			t.Errorf("%s: %d %s", other, g.status, g.body)
		}
		if g := e.send(http.MethodDelete, other, "", append(header, "Mcp-Session-Id", id)...); g.status != 204 {
			t.Errorf("end at %s: %d %s", other, g.status, g.body)
		}
	}
}

func TestMCPSessions(t *testing.T) {
	e, _ := mcpEnv(t)
	token, other := e.token(nil), e.token(nil)
	begin := func() string {
		g := e.rpc(token, welcome)
		id := g.header.Get("Mcp-Session-Id")
		if g.status != 200 || id == "" || !strings.Contains(g.body, `"protocolVersion":"2025-06-18"`) || !strings.Contains(g.body, `"tools":{}`) {
			t.Fatalf("%d %v %s", g.status, g.header, g.body)
		}
		return id
	}
	list := func(token, id string) int { return e.rpc(token, listTools, "Mcp-Session-Id", id).status }
	id := begin()
	if got := list(token, id); got != 200 {
		t.Errorf("own session: %d", got)
	}
	if got := list(other, id); got != 404 {
		t.Errorf("another token's session: %d", got)
	}
	if g := e.send("DELETE", "/search/mcp", "", "Authorization", "Bearer "+other, "Mcp-Session-Id", id); g.status != 404 {
		t.Errorf("end of another token's session: %d", g.status)
	}
	if g := e.rpc(token, "["+listTools+"]", "Mcp-Session-Id", id); g.status != 400 {
		t.Errorf("a batch in a session that knows none: %d", g.status)
	}
	if err := e.svc.Reload(e.set, e.backend); err != nil {
		t.Fatal(err)
	}
	if got := list(token, id); got != 200 {
		t.Errorf("after a reload: %d", got)
	}
	if g := e.send("DELETE", "/search/mcp", "", "Authorization", "Bearer "+token, "Mcp-Session-Id", id); g.status != 204 || g.body != "" {
		t.Errorf("end: %d %s", g.status, g.body)
	}
	if got := list(token, id); got != 404 {
		t.Errorf("after the end: %d", got)
	}
	id = begin()
	e.clock.Advance(59 * 60e9)
	if got := list(token, id); got != 200 {
		t.Errorf("after 59 minutes: %d", got)
	}
	e.clock.Advance(60 * 60e9)
	if got := list(token, id); got != 404 {
		t.Errorf("after an idle hour: %d", got)
	}
}

// TestMCPEndsWhatRuns ends a session while a call runs: the client hears of it at once, and the call is charged once the
// upstream has ended it.
func TestMCPEndsWhatRuns(t *testing.T) {
	e, double := mcpEnv(t)
	token := e.token(nil)
	id := e.rpc(token, welcome).header.Get("Mcp-Session-Id")
	entered, answer := make(chan struct{}), make(chan struct{})
	double.On(sdk.OpMap, answerWhen(entered, answer))
	status := make(chan int, 1)
	go func() {
		body := `{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"web_map","arguments":{"url":"u"}}}`
		status <- e.rpc(token, body, "Mcp-Session-Id", id).status
	}()
	wait(t, entered)
	if g := e.rpc(token, `{"jsonrpc":"2.0","id":5,"method":"ping"}`, "Mcp-Session-Id", id); g.status != 400 {
		t.Errorf("the same id twice: %d %s", g.status, g.body)
	}
	if g := e.send("DELETE", "/search/mcp", "", "Authorization", "Bearer "+token, "Mcp-Session-Id", id); g.status != 204 {
		t.Errorf("end: %d", g.status)
	}
	if got := <-status; got != 499 {
		t.Errorf("the call ended with %d", got)
	}
	close(answer)
	e.charged(token, 2)
}

func TestMCPOrigins(t *testing.T) {
	for _, tt := range []struct {
		public, host, origin string
		status               int
	}{
		{"", "", "", 200},
		{"", "localhost:1", "", 200},
		{"", "[::1]:50883", "http://[::1]:50883", 200},
		{"", "proxy.example.com", "", 200},
		{"", "evil.example.com", "http://evil.example.com", 403},
		{"", "localhost:50883", "http://localhost:50883", 200},
		{"", "localhost:50883", "http://localhost:6274", 403},
		{"", "localhost:50883", "http://evil.example.com", 403},
		{"", "localhost:50883", "null", 403},
		{"", "localhost:50883", "", 200},
		{"https://patchbay.example.com", "patchbay.example.com", "https://patchbay.example.com", 200},
		{"https://patchbay.example.com", "patchbay.example.com:443", "", 200},
		{"https://patchbay.example.com", "127.0.0.1:50883", "https://patchbay.example.com:443", 200},
		{"https://patchbay.example.com", "evil.example.com", "", 403},
		{"https://patchbay.example.com", "patchbay.example.com", "https://evil.example.com", 403},
	} {
		t.Run(fmt.Sprintf("%s %s %s", tt.public, tt.host, tt.origin), func(t *testing.T) {
			e, _ := mcpEnv(t, func(e *env) { e.public = tt.public })
			req, err := http.NewRequest(http.MethodPost, e.base+"/search/mcp", strings.NewReader(listTools))
			if err != nil {
				t.Fatal(err)
			}
			req.Host = tt.host
			req.Header.Set("Authorization", "Bearer "+e.token(nil))
			req.Header.Set("Content-Type", "application/json")
			if tt.origin != "" {
				req.Header.Set("Origin", tt.origin)
			}
			resp, err := http.DefaultClient.Do(req)
			if err != nil {
				t.Fatal(err)
			}
			defer resp.Body.Close()
			if resp.StatusCode != tt.status {
				t.Errorf("status %d, want %d", resp.StatusCode, tt.status)
			}
		})
	}
}
