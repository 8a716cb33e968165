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
	"testing"

	"github.com/patchbay-dev/patchbay/plugins/internal/dockertest"
)

// engineView is an engine as one test sees it.
type engineView struct {
	t       testing.TB
	socket  string
	handler http.Handler
	server  *http.Server
}

// startEngineView serves the engine of this machine on a socket of its own, without the compose projects of other tests,
// so that tests which run at the same time do not find each other's.
func startEngineView(t testing.TB) *engineView {
	t.Helper()
	target := os.Getenv("DOCKER_HOST")
	if target == "" {
		target = "unix:///var/run/docker.sock"
	}
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
	v := &engineView{t: t, socket: socket, handler: &httputil.ReverseProxy{
		Rewrite:        func(p *httputil.ProxyRequest) { p.SetURL(&url.URL{Scheme: "http", Host: "engine"}) },
		Transport:      transport,
		FlushInterval:  -1,
		ModifyResponse: func(resp *http.Response) error { return hideOthersContainers(resp, own) },
		ErrorHandler:   func(w http.ResponseWriter, _ *http.Request, _ error) { w.WriteHeader(http.StatusBadGateway) },
	}}
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
