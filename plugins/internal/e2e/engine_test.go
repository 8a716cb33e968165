package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/patchbay-dev/patchbay/plugins/internal/dockertest"
)

// engineView is an engine as one test sees it.
type engineView struct {
	t       testing.TB
	socket  string
	handler http.Handler
	server  *http.Server

	mu sync.Mutex
	// pause is the request that is held; nil for none.
	pause *pausedRequest
}

// pausedRequest is a request to the engine at which a test stops it.
type pausedRequest struct {
	method string
	path   *regexp.Regexp
	// after is how many such requests pass before.
	after int
	// come is closed when it has come, done when it may end: it does not reach the engine.
	come, done chan struct{}
}

// startEngineView serves the engine of this machine on a socket of its own, without the compose projects of other tests,
// so that tests which run at the same time do not find each other's.
func startEngineView(t testing.TB) *engineView {
	t.Helper()
	target := os.Getenv("DOCKER_HOST")
	if target == "" {
		target = "unix:///var/run/docker.sock"
	}
	return startEngineViewOf(t, target)
}

// startEngineViewOf is startEngineView for the engine at an address.
func startEngineViewOf(t testing.TB, target string) *engineView {
	t.Helper()
	real, err := url.Parse(target)
	if err != nil {
		t.Fatal(err)
	}
	network, address := "tcp", real.Host
	if real.Scheme == "unix" {
		network, address = "unix", real.Path
	}
	dir, err := os.MkdirTemp("", "pbe")
	if err != nil {
		t.Fatal(err)
	}
	socket := filepath.Join(dir, "engine.sock")
	transport := &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, network, address)
	}}
	// All directories of a test lie in one, whose name no other run of the test has.
	own := filepath.Dir(t.TempDir()) + "/"
	proxy := &httputil.ReverseProxy{
		Rewrite:        func(p *httputil.ProxyRequest) { p.SetURL(&url.URL{Scheme: "http", Host: "engine"}) },
		Transport:      transport,
		FlushInterval:  -1,
		ModifyResponse: func(resp *http.Response) error { return hideOthersContainers(resp, own) },
		// A connection to an engine that went away breaks off.
		ErrorHandler: func(http.ResponseWriter, *http.Request, error) { panic(http.ErrAbortHandler) },
	}
	v := &engineView{t: t, socket: socket}
	v.handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		v.hold(r)
		proxy.ServeHTTP(w, r)
	})
	v.open()
	t.Cleanup(func() {
		v.close()
		transport.CloseIdleConnections()
		_ = os.RemoveAll(dir)
	})
	return v
}

// open has the engine be there, close away, as while it restarts.
func (v *engineView) open() {
	v.t.Helper()
	l, err := net.Listen("unix", v.socket)
	if err != nil {
		v.t.Fatal(err)
	}
	v.server = &http.Server{Handler: v.handler}
	go func(s *http.Server) { _ = s.Serve(l) }(v.server)
}

func (v *engineView) close() { _ = v.server.Close() }

// pauseAt holds a request with a method and a path, after others like it.
func (v *engineView) pauseAt(method, path string, after int) *pausedRequest {
	p := &pausedRequest{method: method, path: regexp.MustCompile(path), after: after, come: make(chan struct{}), done: make(chan struct{})}
	v.mu.Lock()
	defer v.mu.Unlock()
	v.pause = p
	return p
}

// hold holds the request that pauseAt has asked for, which breaks off then.
func (v *engineView) hold(r *http.Request) {
	v.mu.Lock()
	p := v.pause
	held := p != nil && r.Method == p.method && p.path.MatchString(r.URL.Path)
	if held && p.after > 0 {
		p.after--
		held = false
	}
	if held {
		v.pause = nil
	}
	v.mu.Unlock()
	if held {
		close(p.come)
		<-p.done
		panic(http.ErrAbortHandler)
	}
}

// address is where the view is reached.
func (v *engineView) address() string { return "unix://" + v.socket }

var containerList = regexp.MustCompile(`^(/v[0-9.]+)?/containers/json$`)

// hideOthersContainers drops from a list of containers those of compose projects that lie in directories of other tests, also of
// runs that were killed and left theirs.
func hideOthersContainers(resp *http.Response, own string) error {
	if resp.StatusCode != http.StatusOK || !containerList.MatchString(resp.Request.URL.Path) {
		return nil
	}
	raw, err := io.ReadAll(resp.Body)
	if err != nil {
		return err
	}
	_ = resp.Body.Close()
	var all []json.RawMessage
	if err := json.Unmarshal(raw, &all); err != nil {
		return err
	}
	kept := []json.RawMessage{}
	for _, one := range all {
		var c struct{ Labels map[string]string }
		if err := json.Unmarshal(one, &c); err != nil {
			return err
		}
		dir := c.Labels["com.docker.compose.project.working_dir"]
		if dir == "" || strings.HasPrefix(dir, own) || !strings.HasPrefix(dir, filepath.Join(os.TempDir(), "Test")) {
			kept = append(kept, one)
		}
	}
	if raw, err = json.Marshal(kept); err != nil {
		return err
	}
	resp.Body, resp.ContentLength = io.NopCloser(bytes.NewReader(raw)), int64(len(raw))
	resp.Header.Set("Content-Length", strconv.Itoa(len(raw)))
	return nil
}

// TestEngineViewHidesOtherProjects checks that the containers which a killed run of the same test has left are not seen either.
func TestEngineViewHidesOtherProjects(t *testing.T) {
	t.Parallel()
	dockertest.Engine(t)
	image := dockertest.Import(t, dockertest.Behaviour{})
	own := t.TempDir()
	left := filepath.Join(filepath.Dir(own)+"1", filepath.Base(own))
	var made []string
	for _, dir := range []string{own, left} {
		made = append(made, dockertest.Docker(t, "create", "--label", "com.docker.compose.project.working_dir="+dir, image))
	}
	t.Cleanup(func() {
		dockertest.Docker(t, append([]string{"rm"}, made...)...)
		dockertest.Docker(t, "rmi", image)
	})
	seen := dockertest.Docker(t, "--host", startEngineView(t).address(), "ps", "-aq", "--no-trunc")
	if !strings.Contains(seen, made[0]) || strings.Contains(seen, made[1]) {
		t.Errorf("of %v only the first must be seen, not %q", made, seen)
	}
}
