package kit

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
)

// EngineView is an engine as one test sees it.
type EngineView struct {
	t       testing.TB
	socket  string
	handler http.Handler
	server  *http.Server

	Mu sync.Mutex
	// Pause is the request that is held; nil for none.
	Pause *PausedRequest
}

// PausedRequest is a request to the engine at which a test stops it.
type PausedRequest struct {
	Method string
	Path   *regexp.Regexp
	// After is how many such requests pass before.
	After int
	// Come is closed when it has come, done when it may end: it does not reach the engine.
	Come, Done chan struct{}
}

// StartEngineView serves the engine of this machine on a socket of its own, without the compose projects of other tests,
// so that tests which run at the same time do not find each other's.
func StartEngineView(t testing.TB) *EngineView {
	t.Helper()
	target := os.Getenv("DOCKER_HOST")
	if target == "" {
		target = "unix:///var/run/docker.sock"
	}
	return StartEngineViewOf(t, target)
}

// StartEngineViewOf is StartEngineView for the engine at an address.
func StartEngineViewOf(t testing.TB, target string) *EngineView {
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
	v := &EngineView{t: t, socket: socket}
	v.handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		v.holdRequest(r)
		proxy.ServeHTTP(w, r)
	})
	v.Open()
	t.Cleanup(func() {
		v.Close()
		transport.CloseIdleConnections()
		_ = os.RemoveAll(dir)
	})
	return v
}

// Open has the engine be there, close away, as while it restarts.
func (v *EngineView) Open() {
	v.t.Helper()
	l, err := net.Listen("unix", v.socket)
	if err != nil {
		v.t.Fatal(err)
	}
	v.server = &http.Server{Handler: v.handler}
	go func(s *http.Server) { _ = s.Serve(l) }(v.server)
}

// Close has the engine be away, as while it restarts.
func (v *EngineView) Close() { _ = v.server.Close() }

// holdRequest holds the request that pauseAt has asked for, which breaks off then.
func (v *EngineView) holdRequest(r *http.Request) {
	v.Mu.Lock()
	p := v.Pause
	held := p != nil && r.Method == p.Method && p.Path.MatchString(r.URL.Path)
	if held && p.After > 0 {
		p.After--
		held = false
	}
	if held {
		v.Pause = nil
	}
	v.Mu.Unlock()
	if held {
		close(p.Come)
		<-p.Done
		panic(http.ErrAbortHandler)
	}
}

// Address is where the view is reached.
func (v *EngineView) Address() string { return "unix://" + v.socket }

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
