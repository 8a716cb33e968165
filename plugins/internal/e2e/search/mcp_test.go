package search

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/patchbay-dev/patchbay/plugins/internal/e2e/kit"
)

// mcpProgram connects in the four ways there are: the token in the header or in the query, the session kept or not.
const mcpProgram = `
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
const { PATCHBAY_URL, PATCHBAY_TOKEN } = process.env;
for (const where of ["header", "query"]) for (const session of [true, false]) {
  const url = new URL(PATCHBAY_URL + "/mcp" + (where === "query" ? "?tavilyApiKey=" + PATCHBAY_TOKEN : ""));
  const requestInit = where === "header" ? { headers: { Authorization: "Bearer " + PATCHBAY_TOKEN } } : {};
  const forget = (input, init) => {
    const headers = new Headers(init.headers);
    headers.delete("mcp-session-id");
    return fetch(input, { ...init, headers });
  };
  const transport = new StreamableHTTPClientTransport(url, { requestInit, ...(session ? {} : { fetch: forget }) });
  const client = new Client({ name: "test", version: "1" });
  await client.connect(transport);
  const { tools } = await client.listTools();
  const found = await client.callTool({ name: "tavily_search", arguments: { query: "q" } });
  const wrong = await client.callTool({ name: "tavily_search", arguments: {} });
  let told = 0;
  const report = await client.callTool({ name: "tavily_research", arguments: { input: "plugins" } }, undefined, { onprogress: () => told++ });
  console.log(where, session, tools.map(({ name }) => name).join(), found.structuredContent.results.length, wrong.isError, wrong.content[0].text,
    report.structuredContent.status, told > 0);
  if (session) await transport.terminateSession();
  await client.close();
}
`

// mcpRefusedProgram shows what the SDK makes of refusals.
const mcpRefusedProgram = `
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
const { PATCHBAY_URL, PATCHBAY_TOKEN } = process.env;
const attempt = async (name, headers) => {
  const client = new Client({ name: "test", version: "1" });
  try {
    await client.connect(new StreamableHTTPClientTransport(new URL(PATCHBAY_URL + "/mcp"), { requestInit: { headers } }));
    await client.callTool({ name: "tavily_search", arguments: { query: "q" } });
    console.log(name, "passed");
  } catch (e) { console.log(name, e.code, e.message); }
  await client.close();
};
const Authorization = "Bearer " + PATCHBAY_TOKEN;
await attempt("first", { Authorization });
await attempt("second", { Authorization });
await attempt("origin", { Authorization, Origin: "https://evil.example.com" });
await attempt("nobody", {});
`

const fiveTools = "tavily_crawl,tavily_extract,tavily_map,tavily_research,tavily_search"

func TestMCPClients(t *testing.T) {
	t.Parallel()
	dir := nodeClients(t)
	for name, text := range map[string]string{"mcp-ways.mjs": mcpProgram, "mcp-refused.mjs": mcpRefusedProgram} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	t.Run("SDK", func(t *testing.T) {
		t.Parallel()
		c, up, token := kit.StartWeb(t, "", kit.EndlessLimits)
		var want []string
		for _, way := range []string{"header true", "header false", "query true", "query false"} {
			want = append(want, way+" "+fiveTools+" 5 true The field query is missing. completed true")
		}
		runClients(t, c, dir, token, []clientRun{
			{[]string{"mcp.mjs", "anything"}, []string{"tavily_search: Web search", "tavily_map: Map a site", "Result 1\nhttps://example.org/1"}},
			{[]string{"mcp-ways.mjs"}, want},
		})
		if used := c.Records(t, kit.Storage{}).Balanced(c, token); used.HourlyRequests != 1+4*2 {
			t.Errorf("%d requests are counted, want %d", used.HourlyRequests, 1+4*2)
		}
		for _, r := range up.Requests() {
			if strings.Contains(fmt.Sprint(r), token) || r.Header.Get("Mcp-Session-Id") != "" {
				t.Errorf("the client shows upstream: %+v", r)
			}
		}
		if strings.Contains(c.Logs(), token) {
			t.Error("the token is in the log")
		}
	})
	t.Run("local backend", func(t *testing.T) {
		t.Parallel()
		c := kit.LocalCore(t, kit.LocalHCL)
		c.Start()
		t.Cleanup(c.Stop)
		runClients(t, c, dir, c.Token(), []clientRun{
			{[]string{"mcp.mjs", "Who starts a crashed plugin again?"},
				[]string{"search: Search documents", "extract: Extract pages", "file:docs/guide.md"}},
		})
	})
	t.Run("refusals", func(t *testing.T) {
		t.Parallel()
		c, _, token := kit.StartWeb(t, "", "limits {\n requests_hour = 1\n }")
		runClients(t, c, dir, token, []clientRun{
			{[]string{"mcp-refused.mjs"}, []string{"first passed", "second 429 ", "origin 403 ", "nobody 401 ", "quota_exhausted"}},
		})
	})
	t.Run("inspector", func(t *testing.T) { t.Parallel(); inspect(t, dir) })
	t.Run("mcp-remote", func(t *testing.T) { t.Parallel(); bridge(t, dir) })
}

// inspect runs the inspector's command line.
func inspect(t *testing.T, dir string) {
	c, _, token := kit.StartWeb(t, "", "limits {\n requests_hour = 1\n }")
	run := func(fails bool, query string, args ...string) string {
		t.Helper()
		cmd := exec.Command(filepath.Join(dir, "node_modules", ".bin", "mcp-inspector"),
			append([]string{"--cli", c.Base + "/search/mcp" + query, "--transport", "http"}, args...)...)
		cmd.Dir, cmd.Env = dir, []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir}
		out, err := cmd.CombinedOutput()
		if fails != (err != nil) {
			t.Errorf("mcp-inspector %v: %v\n%s", args, err, out)
		}
		return string(out)
	}
	bearer := "Authorization: Bearer " + token
	kit.Contains(t, run(false, "", "--method", "tools/list", "--header", bearer), `"name": "tavily_search"`, `"inputSchema"`,
		`"title": "Web search"`)
	kit.Contains(t, run(false, "?tavilyApiKey="+token, "--method", "tools/list"), `"name": "tavily_research"`)
	call := []string{"--method", "tools/call", "--tool-name", "tavily_search", "--tool-arg", "query=anything", "--header", bearer}
	kit.Contains(t, run(false, "", call...), `"Result 1"`, `https://example.org/1`)
	kit.Contains(t, run(true, "", call...), "quota_exhausted")
	c.Records(t, kit.Storage{}).Balanced(c, token)
}

// bridge talks to the endpoint through mcp-remote, line by line.
func bridge(t *testing.T, dir string) {
	c, _, token := kit.StartWeb(t, "", "limits {\n requests_hour = 1\n }")
	cmd := exec.Command(filepath.Join(dir, "node_modules", ".bin", "mcp-remote"), c.Base+"/search/mcp", "--header",
		"Authorization:Bearer "+token, "--allow-http", "--transport", "http-only")
	var problems strings.Builder
	cmd.Dir, cmd.Env, cmd.Stderr = dir, []string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir()}, &problems
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := make(chan string)
	go func() {
		defer close(lines)
		scan := bufio.NewScanner(out)
		scan.Buffer(nil, 1<<20)
		for scan.Scan() {
			lines <- scan.Text()
		}
	}()
	defer func() {
		_ = in.Close()
		_ = cmd.Process.Kill()
		for range lines {
		}
		_ = cmd.Wait()
		if t.Failed() {
			t.Logf("mcp-remote says:\n%s", problems.String())
		}
	}()
	ask := func(id int, method string, params any) string {
		t.Helper()
		message, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": id, "method": method, "params": params})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := fmt.Fprintf(in, "%s\n", message); err != nil {
			t.Fatal(err)
		}
		return answerTo(t, lines, id)
	}
	kit.Contains(t, ask(1, "initialize", map[string]any{"protocolVersion": "2025-06-18", "capabilities": map[string]any{},
		"clientInfo": map[string]any{"name": "t", "version": "1"}}), `"serverInfo"`)
	if _, err := io.WriteString(in, `{"jsonrpc":"2.0","method":"notifications/initialized"}`+"\n"); err != nil {
		t.Fatal(err)
	}
	kit.Contains(t, ask(2, "tools/list", map[string]any{}), `"tavily_search"`, `"tavily_crawl"`)
	call := map[string]any{"name": "tavily_search", "arguments": map[string]any{"query": "anything"}}
	kit.Contains(t, ask(3, "tools/call", call), `https://example.org/1`)
	kit.Contains(t, ask(4, "tools/call", call), `"error"`, "quota_exhausted")
	c.Records(t, kit.Storage{}).Balanced(c, token)
}

// answerTo waits for the line with an id.
func answerTo(t *testing.T, lines <-chan string, id int) string {
	t.Helper()
	late := time.After(kit.Patience * 60 * time.Second)
	for {
		select {
		case line, open := <-lines:
			if !open {
				t.Fatal("mcp-remote has ended")
			}
			if strings.Contains(line, fmt.Sprintf(`"id":%d`, id)) {
				return line
			}
		case <-late:
			t.Fatalf("no answer to message %d", id)
		}
	}
}

// TestMCPFromOutside is what clients look for before they ask for a token, and what pages of other sites get.
func TestMCPFromOutside(t *testing.T) {
	t.Parallel()
	c := kit.LocalCore(t, kit.LocalHCL)
	c.Start()
	t.Cleanup(c.Stop)
	for _, path := range []string{"oauth-protected-resource", "oauth-protected-resource/search/mcp", "oauth-authorization-server",
		"openid-configuration"} {
		a := c.Send(t, kit.Request{Method: http.MethodGet, Path: "/.well-known/" + path})
		if p := kit.Decode[kit.Problem](t, a.Body); a.Status != http.StatusNotFound || p.Code != "not_found" ||
			a.Header.Get("Content-Type") != "application/json" {
			t.Errorf("%s: status %d: %s", path, a.Status, a.Body)
		}
	}
	token := c.Token()
	list := `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`
	foreign := kit.Request{Path: "/search/mcp", Token: token, Body: list, Header: http.Header{"Origin": {"https://evil.example.com"}}}
	c.Send(t, foreign).Refused(t, http.StatusForbidden, "forbidden")
	if a := c.Send(t, kit.Request{Path: "/search/mcp", Token: token, Body: list}); a.Status != http.StatusOK ||
		!strings.Contains(a.Body, `"name":"search"`) {
		t.Errorf("status %d: %s", a.Status, a.Body)
	}
}
