package core

import (
	"net/http"
	"strings"
	"syscall"
	"testing"
	"time"

	tracev1 "go.opentelemetry.io/proto/otlp/trace/v1"

	"github.com/patchbay-dev/patchbay/plugins/internal/e2e/kit"
	"github.com/patchbay-dev/patchbay/plugins/internal/testkit"
)

const (
	searchSpan = "POST /search/api/proxy/search"
	mcpSpan    = "POST /search/mcp"
	// clientTrace and clientParent are what a client sends that is traced itself.
	clientTrace  = "0af7651916cd43dd8448eb211c80319c"
	clientParent = "00-" + clientTrace + "-b7ad6b7169203331-01"
	mcpSearch    = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"tavily_search","arguments":{"query":"a private question"}}}`
)

// startTraced runs a core with a web instance that is traced, and returns it with the stand-in of its upstream and a token.
func startTraced(t *testing.T, k *collector, env ...string) (*kit.Core, *kit.Upstream, string) {
	t.Helper()
	up := kit.StartUpstream(t)
	c := kit.StartCore(t, kit.WebHCL(up.URL, "", ""), k.env(env...)...)
	c.AddKeys("tvly-very-secret-key")
	return c, up, c.Token()
}

// TestTraces: a search is one trace over the core, the plugin and its request to the upstream, by the proxy's API and by MCP.
func TestTraces(t *testing.T) {
	t.Parallel()
	k := startCollector(t)
	c, up, token := startTraced(t, k, "SVC_LOG_LEVEL=debug", "SVC_AUTH_TRUSTED_PROXIES=10.0.0.0/8",
		"OTEL_EXPORTER_OTLP_HEADERS=authorization=Bearer%20collector-secret", "OTEL_RESOURCE_ATTRIBUTES=deployment.environment.name=test")
	search := kit.Request{Path: "search", Token: token, Body: `{"query":"a private question"}`, Header: http.Header{"Traceparent": {clientParent}}}
	c.Send(t, search)
	chain := k.trace(searchSpan, 4)
	want := []struct {
		service, name string
		kind          tracev1.Span_SpanKind
		attributes    map[string]string
	}{
		{"patchbay", searchSpan, tracev1.Span_SPAN_KIND_SERVER,
			map[string]string{"http.route": "/search/api/proxy/search", "http.response.status_code": "int_value:200", "patchbay.service": "search"}},
		{"patchbay", "search.web search", tracev1.Span_SPAN_KIND_CLIENT,
			map[string]string{"patchbay.kind": "search", "patchbay.instance": "search.web"}},
		{"patchbay-plugin", "patchbay.search.v1.Search/Invoke", tracev1.Span_SPAN_KIND_SERVER,
			map[string]string{"patchbay.instance": "search.web"}},
		{"patchbay-plugin", "POST", tracev1.Span_SPAN_KIND_CLIENT,
			map[string]string{"server.address": "127.0.0.1", "url.path": "/search", "http.response.status_code": "int_value:200"}},
	}
	for i, w := range want {
		s := chain[i]
		if s.service != w.service || s.name != w.name || s.kind != w.kind || s.failed {
			t.Errorf("span %d is %+v, want %+v", i, s, w)
		}
		for key, value := range w.attributes {
			if s.attributes[key] != value {
				t.Errorf("span %q has %s = %q, want %q", s.name, key, s.attributes[key], value)
			}
		}
		if s.resource["deployment.environment.name"] != "test" {
			t.Errorf("span %q lacks the attribute of the environment: %v", s.name, s.resource)
		}
	}
	if chain[2].resource["patchbay.plugin"] != "tavily" {
		t.Errorf("the resource of the plugin is %v", chain[2].resource)
	}
	// A stranger's trace is linked, and decides nothing.
	if chain[0].trace == clientTrace || chain[0].parent != "" || len(chain[0].links) != 1 || chain[0].links[0] != clientTrace {
		t.Errorf("the span of a stranger's request is %+v", chain[0])
	}
	c.Logged("trace_id=" + chain[0].trace)
	if got := up.Requests(); got[0].Header.Get("Traceparent") != "" || got[0].Header.Get("Tracestate") != "" {
		t.Errorf("the upstream is told of the trace: %v", got[0].Header)
	}
	k.forget()
	c.Send(t, kit.Request{Path: "/search/mcp?tavilyApiKey=" + token, Body: mcpSearch})
	if chain := k.trace(mcpSpan, 4); chain[3].name != "POST" {
		t.Errorf("the trace by MCP is %+v", chain)
	}
	k.forget()
	up.Script(kit.Scripted{Path: "/search", Times: 1, Status: http.StatusInternalServerError, Body: `{"detail":{"error":"broken"}}`})
	c.Send(t, search)
	for _, s := range k.trace(searchSpan, 4) {
		// The plugin did its part: it passes an answer on.
		if s.failed != (s.name != "patchbay.search.v1.Search/Invoke") {
			t.Errorf("the upstream fails, and span %q has failed: %v", s.name, s.failed)
		}
	}
	for _, secret := range []string{token, "very-secret-key", "collector-secret", "private question", "tavilyApiKey"} {
		if strings.Contains(k.text(), secret) {
			t.Errorf("a span says %q", secret)
		}
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if got := k.header.Get("Authorization"); got != "Bearer collector-secret" {
		t.Errorf("the collector is sent %q", got)
	}
}

// TestTracesOfTrustedProxies: the trace that a trusted proxy sends is continued, and its decision about sampling is followed.
func TestTracesOfTrustedProxies(t *testing.T) {
	t.Parallel()
	k := startCollector(t)
	c, _, token := startTraced(t, k)
	search := kit.Request{Path: "search", Token: token, Body: `{"query":"q"}`,
		Header: http.Header{"Traceparent": {strings.TrimSuffix(clientParent, "1") + "0"}}}
	c.Send(t, search)
	search.Header = http.Header{"Traceparent": {clientParent}}
	c.Send(t, search)
	if chain := k.trace(searchSpan, 4); chain[0].trace != clientTrace || chain[0].parent != "b7ad6b7169203331" {
		t.Errorf("the trace of the proxy is not continued: %+v", chain[0])
	}
}

// TestTracesAreFlushed: the spans that wait to be sent are sent when the core ends, those of plugins too.
func TestTracesAreFlushed(t *testing.T) {
	t.Parallel()
	k := startCollector(t)
	c, _, token := startTraced(t, k, "OTEL_BSP_SCHEDULE_DELAY=3600000")
	c.Search(t, token, http.StatusOK)
	if n := k.connections.Load(); n != 0 {
		t.Fatalf("%d connections are made before anything is due", n)
	}
	c.Signal(syscall.SIGTERM)
	waitForExit(c, kit.StopWithin)
	k.trace(searchSpan, 4)
}

// TestTracesWithoutCollector: requests are answered while spans cannot be sent, and the log says so once.
func TestTracesWithoutCollector(t *testing.T) {
	t.Parallel()
	k := &collector{t: t, url: "http://" + testkit.FreeAddress(t)}
	c, _, token := startTraced(t, k, "OTEL_EXPORTER_OTLP_TIMEOUT=300", "OTEL_BSP_EXPORT_TIMEOUT=300")
	c.Search(t, token, http.StatusOK)
	c.Logged(" traces: cannot send spans")
	for range 20 {
		c.Search(t, token, http.StatusOK)
	}
	began := time.Now()
	c.Stop()
	if took := time.Since(began); took > kit.Slower(10*time.Second) {
		t.Errorf("the core takes %s to end", took)
	}
	if n := strings.Count(c.Logs(), " traces: cannot send spans"); n != 1 {
		t.Errorf("the log says %d times that cannot send spans", n)
	}
}

// TestTracesOff: nothing is sent where the environment does not ask for it, and by no plugin either.
func TestTracesOff(t *testing.T) {
	t.Parallel()
	k := startCollector(t)
	for _, env := range [][]string{{"OTEL_SDK_DISABLED=true"}, {"OTEL_TRACES_EXPORTER=none"}, {"OTEL_EXPORTER_OTLP_PROTOCOL=grpc"},
		{"OTEL_TRACES_SAMPLER=always_off"}} {
		c, _, token := startTraced(t, k, env...)
		c.Search(t, token, http.StatusOK)
		c.Stop()
		if says := strings.Contains(c.Logs(), "tracing off"); says != strings.Contains(env[0], "grpc") {
			t.Errorf("%v: the log says that tracing off: %v", env, says)
		}
	}
	if n := k.connections.Load(); n != 0 {
		t.Errorf("%d connections were made to the collector", n)
	}
}
