package e2e

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/patchbay-dev/patchbay/plugins/internal/testkit"
	"github.com/patchbay-dev/patchbay/sdk/conformance"
	"github.com/patchbay-dev/patchbay/sdk/notify"
	"github.com/patchbay-dev/patchbay/sdk/search"
)

// python is Debian's interpreter, which alone sees Debian's packages.
const python = "/usr/bin/python3"

// example copies an example and the published .proto files into a directory of the test, laid out as in the repository.
func example(t *testing.T, name string) (dir string) {
	t.Helper()
	top := t.TempDir()
	dir = filepath.Join(top, "examples", name)
	entries, err := os.ReadDir(filepath.Join(root(), "examples", name))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if !e.IsDir() {
			copyAll(t, filepath.Join(root(), "examples", name, e.Name()), filepath.Join(dir, e.Name()))
		}
	}
	copyAll(t, filepath.Join(root(), "sdk", "proto"), filepath.Join(top, "sdk", "proto"))
	return dir
}

// newPlugin makes a plugin with "plugin new" in a directory of the test.
func newPlugin(t *testing.T, language, kind string) (dir string) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "demo")
	if out, err := exec.Command(built.core, "plugin", "new", "-language", language, "-dir", dir, kind, "demo").CombinedOutput(); err != nil {
		t.Fatalf("plugin new: %v\n%s", err, out)
	}
	return dir
}

// nodeExample installs the channel; program is the interpreter.
func nodeExample(t *testing.T) (program, dir string) {
	t.Helper()
	dir = example(t, "notify-node")
	return installNode(t, dir), dir
}

// installNode installs what a plugin in Node depends on, and returns the interpreter.
func installNode(t *testing.T, dir string) (program string) {
	t.Helper()
	program, err := exec.LookPath("node")
	_, npmErr := exec.LookPath("npm")
	testkit.Require(t, "node", err == nil && npmErr == nil, "install Node 20 or newer with npm")
	if err := testkit.InstallPackages(dir); err != nil {
		t.Fatal(err)
	}
	return program
}

// pythonExample is the backend.
func pythonExample(t *testing.T) (dir string) {
	t.Helper()
	requirePython(t)
	return example(t, "search-python")
}

func requirePython(t *testing.T) {
	t.Helper()
	err := exec.Command(python, "-c", "import grpc, google.protobuf").Run()
	testkit.Require(t, "python3-grpcio", err == nil, "install Debian's packages python3-grpcio and python3-protobuf")
}

// inbox is an incoming webhook that keeps what it gets; other paths fail in their ways.
type inbox struct {
	*httptest.Server
	mu    sync.Mutex
	ids   []string
	texts []string
}

func newInbox(t *testing.T) *inbox {
	in := &inbox{}
	closed := make(chan struct{})
	mux := http.NewServeMux()
	mux.HandleFunc("POST /ok", func(_ http.ResponseWriter, r *http.Request) {
		var body struct{ Text, Username string }
		err := json.NewDecoder(r.Body).Decode(&body)
		in.mu.Lock()
		defer in.mu.Unlock()
		in.ids = append(in.ids, r.Header.Get("Idempotency-Key"))
		in.texts = append(in.texts, fmt.Sprint(body.Username, ": ", body.Text, err))
	})
	mux.HandleFunc("POST /busy", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", "7")
		w.WriteHeader(http.StatusTooManyRequests)
	})
	mux.HandleFunc("POST /gone", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusGone) })
	mux.HandleFunc("POST /moved", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/ok", http.StatusSeeOther) })
	mux.HandleFunc("POST /broken", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusInternalServerError) })
	mux.HandleFunc("POST /cut", func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })
	mux.HandleFunc("POST /slow", func(_ http.ResponseWriter, r *http.Request) {
		select {
		case <-r.Context().Done():
		case <-closed:
		}
	})
	in.Server = httptest.NewServer(mux)
	t.Cleanup(func() { close(closed); in.Close() })
	return in
}

func (in *inbox) received() []string {
	in.mu.Lock()
	defer in.mu.Unlock()
	return append([]string(nil), in.ids...)
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
	program := installNode(t, dir)
	in := newInbox(t)
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
		Slow: &conformance.NotifyCase{JSON: at("/slow")}, Received: in.received, Secrets: []string{in.URL + "/ok"}, Logs: logs,
	}))
	contains(t, strings.Join(in.texts, "\n"),
		"tests: Conformance: ü & <b>\n\nA sample.\n\nIt has\nmore lines.\n\nExample: https://example.com/?a=1&b=2")
}

// A new plugin in Python is a copy of the example that stands alone.
func TestNewPluginInPythonConforms(t *testing.T) {
	t.Parallel()
	requirePython(t)
	dir := newPlugin(t, "python", search.Kind)
	conn, logs := plugged(t, python, filepath.Join(dir, "plugin.py"))
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
	dir := pythonExample(t)
	if err := os.WriteFile(filepath.Join(dir, "settings.json"), []byte(`{"folder": "."}`), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(built.core, "plugin", "test", "-settings", "settings.json", python, "plugin.py")
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Errorf("plugin test: %v", err)
	}
	contains(t, string(out), "ok    describe", "ok    samples/unary", "skip  samples/streams", "ok    stop")
}

const examplesHCL = `
plugin "search-python" {
  path = %q
  args = ["search-python/plugin.py", "search-python/serve.py"]
}
plugin "notify-node" {
  path = %q
  args = ["notify-node/plugin.mjs", "notify-node/serve.mjs"]
}
search "search-python" "docs" {
  config {
    folder = "docs"
  }
}
notify "notify-node" "chat" {
  config { url = env("CHAT_URL") }
}
service "search" {
  backend = search.docs
}
`

// The core runs a backend in Python and a channel in Node like any other, pinned, and ends them with itself.
func TestExamplesRunInTheCore(t *testing.T) {
	t.Parallel()
	program, node := nodeExample(t)
	backend := pythonExample(t)
	hcl := fmt.Sprintf(examplesHCL, python, program)
	in := newInbox(t)
	c := localCore(t, hcl, "CHAT_URL="+in.URL+"/ok")
	for name, dir := range map[string]string{"search-python": backend, "notify-node": node} {
		if err := os.Symlink(dir, filepath.Join(c.dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	contains(t, c.cli("plugin", "lock"), "search-python sha256:", "notify-node sha256:")
	contains(t, c.cli("plugin", "list"), "search-python  1.0.0", "notify-node    1.0.0", "Posts notifications to an incoming webhook.")
	c.start()
	t.Cleanup(c.stop)
	token := c.token()
	got := decode[searchAnswer](t, c.post(t, token, "search", `{"query":"who starts a crashed plugin"}`).body)
	if len(got.Results) != 1 || got.Results[0].URL != "file:guide.md" || got.Results[0].Title != "Guide" {
		t.Errorf("the backend answers %+v", got)
	}
	c.post(t, token, "search", `{"query":7}`).refused(t, http.StatusBadRequest, "invalid_request")
	// What the backend does not offer is not found.
	for _, path := range []string{"crawl", "map"} {
		c.post(t, token, path, `{"url":"https://example.org"}`).refused(t, http.StatusNotFound, "not_found")
	}
	c.logged("instance docs is ready")
	c.logged("instance chat is ready")
	c.alertsReach(t, in, hcl, token)

	started := c.startedFrom(t, python, program)
	if len(started) != 2 {
		t.Fatalf("the core runs the processes %v, want one of each", started)
	}
	// A plugin that is killed comes back with its instance, and a reload gives it another.
	if err := syscall.Kill(started[0], syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	found := func(query, want string) func() bool {
		return func() bool {
			a := c.post(t, token, "search", `{"query":"`+query+`"}`)
			return a.status == http.StatusOK && strings.Contains(a.body, want)
		}
	}
	eventually(t, startWithin, "the backend is started again", found("crashed", "file:guide.md"))
	if err := os.WriteFile(filepath.Join(c.dir, "docs", "more.txt"), []byte("Reloads are taken.\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	c.configure(strings.Replace(hcl, `folder = "docs"`, "folder = \"docs\"\n    pattern = \"*.txt\"", 1))
	c.hup()
	eventually(t, startWithin, "the new configuration is in use", found("reloads", "file:more.txt"))
	c.configure(strings.Replace(hcl, `folder = "docs"`, `folder = "missing"`, 1))
	c.hup()
	c.logged("is not a folder")
	if !found("reloads", "file:more.txt")() {
		t.Error("a refused configuration took the running instance away")
	}
	c.configure(hcl)
	started = c.startedFrom(t, python, program)
	c.kill9()
	eventually(t, startWithin, "no plugin outlives the core", func() bool { return !slices.ContainsFunc(started, alive) })
	c.start()
	c.stop()

	// A changed byte in a script keeps the core from starting it.
	script := filepath.Join(backend, "serve.py")
	text, err := os.ReadFile(script)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(script, append(text, '\n'), 0o600); err != nil {
		t.Fatal(err)
	}
	c.startFails(statusMistake, "checksum", "serve.py", "plugin lock")
}

// alertsReach has the only key of a web backend refused: the backend in Python answers instead, and the channel in Node
// tells the inbox of the key and of the empty pool, each once.
func (c *core) alertsReach(t *testing.T, in *inbox, hcl, token string) {
	t.Helper()
	up := startUpstream(t)
	c.configure(strings.Replace(hcl, "backend = search.docs", "backend = [search.web, search.docs]\n  notify  = notify.chat", 1) +
		fmt.Sprintf("search \"tavily\" \"web\" {\n  config { base_url = %q }\n}\n", up.url))
	c.hup()
	c.addKeys("key-refused")
	up.script(scripted{Status: 401})
	for range 3 {
		a := c.post(t, token, "search", `{"query":"crashed"}`)
		if a.status != http.StatusOK || !strings.Contains(a.body, "file:guide.md") {
			t.Fatalf("the second backend: status %d: %s", a.status, a.body)
		}
	}
	eventually(t, startWithin, "two alerts arrive", func() bool { return len(in.received()) >= 2 })
	c.configure(hcl)
	c.hup()
	in.mu.Lock()
	defer in.mu.Unlock()
	text := strings.Join(in.texts, "\n")
	contains(t, text, "Patchbay: An upstream key is invalid", "Patchbay: No upstream key can be used", "The backend search.web needs a key")
	if len(in.ids) != 2 || in.ids[0] == in.ids[1] || !strings.HasPrefix(in.ids[0], "ntf_") || strings.Contains(text, "key-refused") {
		t.Errorf("ids %v, texts:\n%s", in.ids, text)
	}
}

// startedFrom are the processes that the core runs with one of these programs.
func (c *core) startedFrom(t *testing.T, programs ...string) (pids []int) {
	t.Helper()
	for _, p := range programs {
		resolved, err := filepath.EvalSymlinks(p)
		if err != nil {
			t.Fatal(err)
		}
		pids = append(pids, processes(resolved, c.cmd.Process.Pid)...)
	}
	return pids
}
