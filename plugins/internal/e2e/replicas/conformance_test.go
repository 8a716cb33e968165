package replicas

import (
	"cmp"
	"encoding/json"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	"github.com/patchbay-dev/patchbay/plugins/internal/e2e/kit"
)

// conforms has the scenarios of the suite that a server with tools alone has to pass. The others begin with a tool, a prompt or a
// resource that only a server made for the suite has, or are about an ability that this server does not announce.
var conforms = []string{
	"dns-rebinding-protection", "ping", "prompts-list", "resources-list", "server-initialize", "server-sse-multiple-streams", "tools-list",
}

// lacks is the error of a scenario that begins with what the server does not have.
var lacks = regexp.MustCompile(`^(Failed: MCP error (-32602: unknown tool "\w*test_\w+"|-32601: method not found: ` +
	`"(completion/complete|logging/setLevel|prompts/get|resources/(read|subscribe))")|Tool 'json_schema_2020_12_tool' not found\..*)$`)

// resultName matches the name of the folder with the checks of a scenario, which ends with the time.
var resultName = regexp.MustCompile(`^server-(.+)-\d{4}-\d\d-\d\dT[-\d]+Z$`)

// ping is a message that any session takes.
const ping = `{"jsonrpc":"2.0","id":1,"method":"ping"}`

// verdict is a check of the suite.
type verdict struct {
	Scenario string
	ID       string `json:"id"`
	Status   string `json:"status"`
	Message  string `json:"errorMessage"`
}

// TestMCPConformance runs the protocol's own suite against one of several cores, and through a proxy that sends each request to another of
// them: it finds the same.
func TestMCPConformance(t *testing.T) {
	dir := t.TempDir()
	kit.CopyAll(t, "conformance", dir)
	node := kit.InstallNode(t, dir)
	cores := startCores(t, newSetup(t), 3)
	token := knownToken(t, cores)
	one := judgeMCP(t, node, dir, cores[0], token)
	several := judgeMCP(t, node, dir, startNginx(t, cores), token)
	if !slices.Equal(several, one) {
		t.Error("several cores are found to be other than one")
	}
	for what, found := range map[string][]verdict{"one core": one, "several cores": several} {
		passed := map[string]bool{}
		for _, v := range found {
			switch {
			case v.Status == "SUCCESS":
				passed[v.Scenario] = true
			case v.Status == "INFO":
			case v.Status != "FAILURE" || !lacks.MatchString(v.Message) || slices.Contains(conforms, v.Scenario):
				t.Errorf("%s: %+v", what, v)
			}
		}
		for _, s := range conforms {
			if !passed[s] {
				t.Errorf("%s: %s has not passed", what, s)
			}
		}
	}
	endSessions(t, cores, token)
}

// endSessions ends sessions at one core after all cores have served them: they are over at all cores at once. The suite's versions for
// Node 20 do not ask for it.
func endSessions(t *testing.T, cores []*kit.Core, token string) {
	t.Helper()
	ask := func(c *kit.Core, method, body string, session ...string) kit.Answer {
		header := http.Header{"Mcp-Session-Id": session}
		return c.Send(t, kit.Request{Method: method, Path: "/search/mcp", Token: token, Body: body, Header: header})
	}
	for _, first := range cores {
		session := ask(first, http.MethodPost, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25",`+
			`"capabilities":{},"clientInfo":{"name":"test","version":"1"}}}`).Header.Get("Mcp-Session-Id")
		for _, c := range cores {
			if a := ask(c, http.MethodPost, ping, session); a.Status != http.StatusOK {
				t.Errorf("in the session: status %d: %s", a.Status, a.Body)
			}
		}
		if a := ask(first, http.MethodDelete, "", session); a.Status != http.StatusNoContent {
			t.Errorf("the end: status %d: %s", a.Status, a.Body)
		}
		for _, c := range cores {
			ask(c, http.MethodPost, ping, session).Refused(t, http.StatusNotFound, "session_not_found")
		}
	}
}

// judgeMCP runs the suite that is installed in dir against a core, and returns its checks in an order that is always the same.
func judgeMCP(t *testing.T, node, dir string, c *kit.Core, token string) (found []verdict) {
	t.Helper()
	results := t.TempDir()
	cmd := exec.Command(node, filepath.Join("node_modules", "@modelcontextprotocol", "conformance", "dist", "index.js"), "server",
		"--suite", "all", "--output-dir", results, "--url", c.Base+"/search/mcp?tavilyApiKey="+token)
	cmd.Dir = dir
	said, _ := cmd.CombinedOutput() // fails where any scenario does
	entries, err := os.ReadDir(results)
	kit.Must(t, err)
	if len(entries) < len(conforms) {
		t.Fatalf("%d scenarios ran: %s", len(entries), said)
	}
	for _, e := range entries {
		raw, err := os.ReadFile(filepath.Join(results, e.Name(), "checks.json"))
		kit.Must(t, err)
		var checks []verdict
		kit.Must(t, json.Unmarshal(raw, &checks))
		for _, v := range checks {
			v.Scenario = resultName.ReplaceAllString(e.Name(), "$1")
			found = append(found, v)
		}
	}
	slices.SortStableFunc(found, func(a, b verdict) int { return cmp.Compare(a.Scenario, b.Scenario) })
	return found
}
