package kit

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"github.com/patchbay-dev/patchbay/plugins/internal/testkit"
)

// PythonPath is Debian's interpreter, which alone sees Debian's packages.
const PythonPath = "/usr/bin/python3"

// copyExample copies an example and the published .proto files into a directory of the test, laid out as in the repository.
func copyExample(t *testing.T, name string) (dir string) {
	t.Helper()
	top := t.TempDir()
	dir = filepath.Join(top, "examples", name)
	entries, err := os.ReadDir(filepath.Join(Root(), "examples", name))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if !e.IsDir() {
			CopyAll(t, filepath.Join(Root(), "examples", name, e.Name()), filepath.Join(dir, e.Name()))
		}
	}
	CopyAll(t, filepath.Join(Root(), "sdk", "proto"), filepath.Join(top, "sdk", "proto"))
	return dir
}

// NodeExample installs the channel; program is the interpreter.
func NodeExample(t *testing.T) (program, dir string) {
	t.Helper()
	dir = copyExample(t, "notify-node")
	return InstallNode(t, dir), dir
}

// InstallNode installs what a plugin in Node depends on, and returns the interpreter.
func InstallNode(t *testing.T, dir string) (program string) {
	t.Helper()
	program, err := exec.LookPath("node")
	_, npmErr := exec.LookPath("npm")
	testkit.Require(t, "node", err == nil && npmErr == nil, "install Node 20 or newer with npm")
	if err := testkit.InstallPackages(dir); err != nil {
		t.Fatal(err)
	}
	return program
}

// PythonExample is the backend.
func PythonExample(t *testing.T) (dir string) {
	t.Helper()
	RequirePython(t)
	return copyExample(t, "search-python")
}

// RequirePython skips the test without Python and its packages for plugins.
func RequirePython(t *testing.T) {
	t.Helper()
	err := exec.Command(PythonPath, "-c", "import grpc, google.protobuf").Run()
	testkit.Require(t, "python3-grpcio", err == nil, "install Debian's packages python3-grpcio and python3-protobuf")
}

// Inbox is an incoming webhook that keeps what it gets; other paths fail in their ways.
type Inbox struct {
	*httptest.Server
	Mu    sync.Mutex
	IDs   []string
	Texts []string
}

// NewInbox starts an inbox until the test ends.
func NewInbox(t *testing.T) *Inbox {
	in := &Inbox{}
	closed := make(chan struct{})
	mux := http.NewServeMux()
	mux.HandleFunc("POST /ok", func(_ http.ResponseWriter, r *http.Request) {
		var body struct{ Text, Username string }
		err := json.NewDecoder(r.Body).Decode(&body)
		in.Mu.Lock()
		defer in.Mu.Unlock()
		in.IDs = append(in.IDs, r.Header.Get("Idempotency-Key"))
		in.Texts = append(in.Texts, fmt.Sprint(body.Username, ": ", body.Text, err))
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

// Received returns the ids of the messages so far.
func (in *Inbox) Received() []string {
	in.Mu.Lock()
	defer in.Mu.Unlock()
	return append([]string(nil), in.IDs...)
}

// ExamplesHCL declares the examples as plugins, with the paths of their programs to be filled in.
const ExamplesHCL = `
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
