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
	// t.TempDir names all directories of a test alike, up to a number.
	own := filepath.Join(os.TempDir(), strings.ReplaceAll(t.Name(), "/", ""))
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

// hideOthersContainers drops from a list of containers those of compose projects that lie in directories of other tests.
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
