package core

import (
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/patchbay-dev/patchbay/plugins/internal/e2e/kit"
	"github.com/patchbay-dev/patchbay/plugins/internal/testkit"
	"github.com/patchbay-dev/patchbay/sdk/conformance"
	"github.com/patchbay-dev/patchbay/sdk/notify"
	"github.com/patchbay-dev/patchbay/sdk/search"
)

// newPlugin makes a plugin with "plugin new" in a directory of the test.
func newPlugin(t *testing.T, language, kind string) (dir string) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "demo")
	if out, err := exec.Command(kit.Built.Core, "plugin", "new", "-language", language, "-dir", dir, kind, "demo").CombinedOutput(); err != nil {
		t.Fatalf("plugin new: %v\n%s", err, out)
	}
	return dir
}

func conforms(t *testing.T, report conformance.Report) {
	t.Helper()
	if err := report.Err(); err != nil {
		t.Errorf("the plugin does not conform: %v\n%s", err, report)
	}
}

// A new plugin in Node is a copy of the example that stands alone.
func TestNewPluginInNodeConforms(t *testing.T) {
	t.Parallel()
	dir := newPlugin(t, "node", notify.Kind)
	program := kit.InstallNode(t, dir)
	in := kit.NewInbox(t)
	at := func(path string) string { return fmt.Sprintf(`{"url":%q,"username":"tests"}`, in.URL+path) }
	conn, logs := plugged(t, program, filepath.Join(dir, "plugin.mjs"))
	conforms(t, conformance.Notify(t.Context(), conn, conformance.NotifyConfig{
		JSON:    at("/ok"),
		Invalid: []string{`{}`, `{"url":"ftp://example.com/"}`, `{"url":"no address"}`, `{"url":""}`, `{"url":null}`},
		Failures: []conformance.NotifyCase{
			{JSON: at("/busy"), Outcome: notify.Retryable}, {JSON: at("/gone"), Outcome: notify.Refused},
			{JSON: at("/moved"), Outcome: notify.Refused}, {JSON: at("/broken"), Outcome: notify.Uncertain},
			{JSON: at("/cut"), Outcome: notify.Uncertain},
			{JSON: fmt.Sprintf(`{"url":"http://%s/"}`, testkit.FreeAddress(t)), Outcome: notify.Retryable},
		},
		Slow: &conformance.NotifyCase{JSON: at("/slow")}, Received: in.Received, Secrets: []string{in.URL + "/ok"}, Logs: logs,
	}))
	kit.Contains(t, strings.Join(in.Texts, "\n"),
		"tests: Conformance: ü & <b>\n\nA sample.\n\nIt has\nmore lines.\n\nExample: https://example.com/?a=1&b=2")
}

// A new plugin in Python is a copy of the example that stands alone.
func TestNewPluginInPythonConforms(t *testing.T) {
	t.Parallel()
	kit.RequirePython(t)
	dir := newPlugin(t, "python", search.Kind)
	conn, logs := plugged(t, kit.PythonPath, filepath.Join(dir, "plugin.py"))
	conforms(t, conformance.Search(t.Context(), conn, conformance.SearchConfig{
		JSON: `{"folder":".","pattern":null}`, BaseDir: dir, Logs: logs,
		Invalid: []string{`{}`, `{"folder":""}`, `{"folder":"missing"}`, `{"folder":"\u0000"}`, `{"folder":".","pattern":"../*"}`,
			`{"folder":".","pattern":"**"}`},
		Samples: []conformance.Sample{
			{Operation: search.OpSearch, Body: `{"query":"\"interpreter\" pinned","max_results":3}`, Check: func(r *search.Response) error {
				if !strings.Contains(string(r.Body), `"url": "file:README.md"`) {
					return fmt.Errorf("the file is not found: %s", r.Body)
				}
				return nil
			}},
			{Operation: search.OpSearch, Body: `{"query":"AND OR NOT * ^ ( - \" : x"}`},
		},
	}))
}

// The command tests a script by its relative path, as an author does.
func TestPluginTestTakesAScript(t *testing.T) {
	t.Parallel()
	dir := kit.PythonExample(t)
	if err := os.WriteFile(filepath.Join(dir, "settings.json"), []byte(`{"folder": "."}`), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(kit.Built.Core, "plugin", "test", "-settings", "settings.json", kit.PythonPath, "plugin.py")
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Errorf("plugin test: %v", err)
	}
	kit.Contains(t, string(out), "ok    describe", "ok    samples/unary", "skip  samples/streams", "ok    stop")
}

// The core runs a backend in Python and a channel in Node like any other, pinned, and ends them with itself.
func TestExamplesRunInTheCore(t *testing.T) {
	t.Parallel()
	program, node := kit.NodeExample(t)
	backend := kit.PythonExample(t)
	hcl := fmt.Sprintf(kit.ExamplesHCL, kit.PythonPath, program)
	in := kit.NewInbox(t)
	c := kit.LocalCore(t, hcl, "CHAT_URL="+in.URL+"/ok")
	for name, dir := range map[string]string{"search-python": backend, "notify-node": node} {
		if err := os.Symlink(dir, filepath.Join(c.Dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	kit.Contains(t, c.CLI("plugin", "lock"), "search-python sha256:", "notify-node sha256:")
	kit.Contains(t, c.CLI("plugin", "list"), "search-python  1.0.0", "notify-node    1.0.0", "Posts notifications to an incoming webhook.")
	c.Start()
	t.Cleanup(c.Stop)
	token := c.Token()
	got := kit.Decode[searchAnswer](t, c.Post(t, token, "search", `{"query":"who starts a crashed plugin"}`).Body)
	if len(got.Results) != 1 || got.Results[0].URL != "file:guide.md" || got.Results[0].Title != "Guide" {
		t.Errorf("the backend answers %+v", got)
	}
	c.Post(t, token, "search", `{"query":7}`).Refused(t, http.StatusBadRequest, "invalid_request")
	// What the backend does not offer is not found.
	for _, path := range []string{"crawl", "map"} {
		c.Post(t, token, path, `{"url":"https://example.org"}`).Refused(t, http.StatusNotFound, "not_found")
	}
	c.Logged("instance docs is ready")
	c.Logged("instance chat is ready")
	alertsReach(t, c, in, hcl, token)

	started := listStartedFrom(t, c, kit.PythonPath, program)
	if len(started) != 2 {
		t.Fatalf("the core runs the processes %v, want one of each", started)
	}
	// A plugin that is killed comes back with its instance, and a reload gives it another.
	if err := syscall.Kill(started[0], syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	found := func(query, want string) func() bool {
		return func() bool {
			a := c.Post(t, token, "search", `{"query":"`+query+`"}`)
			return a.Status == http.StatusOK && strings.Contains(a.Body, want)
		}
	}
	kit.Eventually(t, kit.StartWithin, "the backend is started again", found("crashed", "file:guide.md"))
	if err := os.WriteFile(filepath.Join(c.Dir, "docs", "more.txt"), []byte("Reloads are taken.\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	c.Configure(strings.Replace(hcl, `folder = "docs"`, "folder = \"docs\"\n    pattern = \"*.txt\"", 1))
	c.Reload()
	kit.Eventually(t, kit.StartWithin, "the new configuration is in use", found("reloads", "file:more.txt"))
	c.Configure(strings.Replace(hcl, `folder = "docs"`, `folder = "missing"`, 1))
	c.Reload()
	c.Logged("is not a folder")
	if !found("reloads", "file:more.txt")() {
		t.Error("a refused configuration took the running instance away")
	}
	c.Configure(hcl)
	started = listStartedFrom(t, c, kit.PythonPath, program)
	c.Kill()
	kit.Eventually(t, kit.StartWithin, "no plugin outlives the core", func() bool { return !slices.ContainsFunc(started, kit.IsAlive) })
	c.Start()
	c.Stop()

	// A changed byte in a script keeps the core from starting it.
	script := filepath.Join(backend, "serve.py")
	text, err := os.ReadFile(script)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(script, append(text, '\n'), 0o600); err != nil {
		t.Fatal(err)
	}
	startFails(c, statusMistake, "checksum", "serve.py", "plugin lock")
}

// alertsReach has the only key of a web backend refused: the backend in Python answers instead, and the channel in Node
// tells the inbox of the key and of the empty pool, each once.
func alertsReach(t *testing.T, c *kit.Core, in *kit.Inbox, hcl, token string) {
	t.Helper()
	up := kit.StartUpstream(t)
	c.Configure(strings.Replace(hcl, "backend = search.docs", "backend = [search.web, search.docs]\n  notify  = notify.chat", 1) +
		fmt.Sprintf("search \"tavily\" \"web\" {\n  config { base_url = %q }\n}\n", up.URL))
	c.Reload()
	c.AddKeys("key-refused")
	up.Script(kit.Scripted{Status: 401})
	for range 3 {
		a := c.Post(t, token, "search", `{"query":"crashed"}`)
		if a.Status != http.StatusOK || !strings.Contains(a.Body, "file:guide.md") {
			t.Fatalf("the second backend: status %d: %s", a.Status, a.Body)
		}
	}
	kit.Eventually(t, kit.StartWithin, "two alerts arrive", func() bool { return len(in.Received()) >= 2 })
	c.Configure(hcl)
	c.Reload()
	in.Mu.Lock()
	defer in.Mu.Unlock()
	text := strings.Join(in.Texts, "\n")
	kit.Contains(t, text, "Patchbay: An upstream key is invalid", "Patchbay: No upstream key can be used", "The backend search.web needs a key")
	if len(in.IDs) != 2 || in.IDs[0] == in.IDs[1] || !strings.HasPrefix(in.IDs[0], "ntf_") || strings.Contains(text, "key-refused") {
		t.Errorf("ids %v, texts:\n%s", in.IDs, text)
	}
}

// listStartedFrom are the processes that the core runs with one of these programs.
func listStartedFrom(t *testing.T, c *kit.Core, programs ...string) (pids []int) {
	t.Helper()
	for _, p := range programs {
		resolved, err := filepath.EvalSymlinks(p)
		if err != nil {
			t.Fatal(err)
		}
		pids = append(pids, kit.Processes(resolved, c.Cmd.Process.Pid)...)
	}
	return pids
}
