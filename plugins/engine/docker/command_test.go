package docker_test

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc/codes"

	"github.com/patchbay-dev/patchbay/plugins/engine/docker"
	"github.com/patchbay-dev/patchbay/plugins/internal/dockertest"
	"github.com/patchbay-dev/patchbay/plugins/internal/testkit"
	"github.com/patchbay-dev/patchbay/sdk/engine"
	"github.com/patchbay-dev/patchbay/sdk/errs"
	"github.com/patchbay-dev/patchbay/sdk/plugintest"
)

// containersNamed are the ids of the containers of a name, running or not.
func containersNamed(t *testing.T, name string) string {
	t.Helper()
	return dockertest.Docker(t, "ps", "-aq", "--no-trunc", "--filter", "name=^/"+name+"$")
}

// TestRun: a command of an image is run, its end is told, and its container is gone, also when it cannot begin.
func TestRun(t *testing.T) {
	c := open(t, "{}")
	core := imageOf(t, dockertest.Behaviour{Version: "1.2.3", Entrypoint: true, Healthcheck: true})
	crash := imageOf(t, dockertest.Behaviour{Version: "1", Entrypoint: true, Crash: true})
	name := dockertest.Name(t)
	res, err := c.Run(within(t, time.Minute), engine.RunRequest{Image: core, Args: []string{"version"}, Name: name})
	if err != nil || res.ExitCode != 0 || !strings.HasPrefix(res.Output, "patchbay 1.2.3, ") {
		t.Errorf("the version is %+v, %v", res, err)
	}
	res, err = c.Run(within(t, time.Minute), engine.RunRequest{Image: crash, Name: name})
	if err != nil || res.ExitCode != 3 || !strings.Contains(res.Output, "crashing as asked") {
		t.Errorf("a command that fails is %+v, %v", res, err)
	}
	plain := imageOf(t, dockertest.Behaviour{Version: "1"})
	_, err = c.Run(within(t, time.Minute), engine.RunRequest{Image: plain, Args: []string{"version"}, Name: name})
	wantError(t, err, codes.FailedPrecondition, errs.Caller)
	_, err = c.Run(within(t, time.Minute), engine.RunRequest{Image: "sha256:" + strings.Repeat("0", 64), Name: name})
	wantError(t, err, codes.NotFound, errs.Caller)
	if left := containersNamed(t, name); left != "" {
		t.Errorf("a container is left: %s", left)
	}
}

// proxyConfig is the config of an engine behind a proxy, which calls created before it passes the answer to a creation on.
func proxyConfig(t *testing.T, created func()) string {
	t.Helper()
	proxy := httputil.NewSingleHostReverseProxy(&url.URL{Scheme: "http", Host: "engine"})
	proxy.Transport = &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", engineSocket)
	}}
	proxy.ModifyResponse = func(res *http.Response) error {
		if strings.HasSuffix(res.Request.URL.Path, "/containers/create") {
			created()
		}
		return nil
	}
	srv := httptest.NewServer(proxy)
	t.Cleanup(srv.Close)
	return `{"host":"tcp://` + srv.Listener.Addr().String() + `"}`
}

// TestRunIsCalledOffWhileItsContainerIsMade: the engine makes the container nevertheless, and it is removed.
func TestRunIsCalledOffWhileItsContainerIsMade(t *testing.T) {
	created, release := make(chan struct{}), make(chan struct{})
	c := open(t, proxyConfig(t, func() { close(created); <-release }))
	answer := sync.OnceFunc(func() { close(release) })
	// The proxy does not end before it has passed the answer on.
	defer answer()
	image := imageOf(t, dockertest.Behaviour{Version: "1", Entrypoint: true, Prints: "hang"})
	name := dockertest.Name(t)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		_, err := c.Run(ctx, engine.RunRequest{Image: image, Args: []string{"version"}, Name: name})
		ended <- err
	}()
	select {
	case <-created:
	case err := <-ended:
		t.Fatalf("it ended before its container was made: %v", err)
	}
	if containersNamed(t, name) == "" {
		t.Fatal("the container is not there")
	}
	cancel()
	if e := errs.From(<-ended); e == nil || e.Code != codes.Canceled {
		t.Errorf("a call that was called off ended with %v", e)
	}
	answer()
	testkit.Eventually(t, 2*time.Minute, func() bool { return containersNamed(t, name) == "" }, "the container is removed")
}

// TestRunLosesTheAnswerOfACreation: a container whose making was not confirmed is removed.
func TestRunLosesTheAnswerOfACreation(t *testing.T) {
	name := dockertest.Name(t)
	c := open(t, proxyConfig(t, func() {
		if containersNamed(t, name) == "" {
			t.Error("the container is not there")
		}
		panic(http.ErrAbortHandler)
	}))
	image := imageOf(t, dockertest.Behaviour{Version: "1", Entrypoint: true})
	_, err := c.Run(within(t, time.Minute), engine.RunRequest{Image: image, Args: []string{"version"}, Name: name})
	wantError(t, err, codes.Unavailable, errs.Upstream)
	if left := containersNamed(t, name); left != "" {
		t.Errorf("a container is left: %s", left)
	}
}

// TestRunLosesTheAnswerWhileTheNextOneRuns: what another call has made meanwhile under the same name stays.
func TestRunLosesTheAnswerWhileTheNextOneRuns(t *testing.T) {
	created, release := make(chan struct{}), make(chan struct{})
	abort := sync.OnceFunc(func() { close(release) })
	l := plugintest.Load(t, docker.Declare(executable))
	id := l.Configure(t, plugintest.Config(t, engine.Kind, "slow", proxyConfig(t, func() {
		close(created)
		<-release
		panic(http.ErrAbortHandler)
	})))
	defer abort()
	c := open(t, "{}")
	req := engine.RunRequest{
		Image: imageOf(t, dockertest.Behaviour{Version: "1", Entrypoint: true, Prints: "hang"}), Args: []string{"version"},
		Name: dockertest.Name(t),
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	run := func(c *engine.Client) <-chan error {
		ended := make(chan error, 1)
		go func() {
			_, err := c.Run(ctx, req)
			ended <- err
		}()
		return ended
	}
	first := run(engine.NewClient(l.Conn, id))
	select {
	case <-created:
	case err := <-first:
		t.Fatalf("it ended before its container was made: %v", err)
	}
	second := run(c)
	running := func() string {
		return dockertest.Docker(t, "ps", "-q", "--no-trunc", "--filter", "name=^/"+req.Name+"$")
	}
	testkit.Eventually(t, time.Minute, func() bool { return running() != "" }, "the second container runs")
	before := running()
	abort()
	<-first
	if after := running(); after != before {
		t.Errorf("the container that runs was %q and is %q", before, after)
	}
	cancel()
	<-second
	testkit.Eventually(t, time.Minute, func() bool { return containersNamed(t, req.Name) == "" }, "the container is removed")
}

// TestRunEnds: a command that does not end is ended with its call, and one that a killed plugin has left before the next one; a
// container of somebody else stays.
func TestRunEnds(t *testing.T) {
	c := open(t, "{}")
	hanging := imageOf(t, dockertest.Behaviour{Version: "1", Entrypoint: true, Prints: "hang"})
	core := imageOf(t, dockertest.Behaviour{Version: "1", Entrypoint: true})
	name := dockertest.Name(t)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		_, err := c.Run(ctx, engine.RunRequest{Image: hanging, Args: []string{"version"}, Name: name})
		ended <- err
	}()
	testkit.Eventually(t, 2*time.Minute, func() bool { return containersNamed(t, name) != "" }, "the container is there")
	cancel()
	if e := errs.From(<-ended); e == nil || e.Code != codes.Canceled {
		t.Errorf("a call that was called off ended with %v", e)
	}
	testkit.Eventually(t, 2*time.Minute, func() bool { return containersNamed(t, name) == "" }, "the container is removed")

	left := container(t, "--label", "patchbay.run=command", hanging, "version")
	dockertest.Docker(t, "rename", left, name)
	res, err := c.Run(within(t, time.Minute), engine.RunRequest{Image: core, Args: []string{"version"}, Name: name})
	if err != nil || res.ExitCode != 0 || containersNamed(t, name) != "" {
		t.Errorf("beside one that was left: %+v, %v", res, err)
	}
	others := container(t, hanging, "version")
	dockertest.Docker(t, "rename", others, name)
	_, err = c.Run(within(t, time.Minute), engine.RunRequest{Image: core, Args: []string{"version"}, Name: name})
	wantError(t, err, codes.FailedPrecondition, errs.Caller)
	if containersNamed(t, name) != others {
		t.Error("the container of somebody else is gone")
	}
}
