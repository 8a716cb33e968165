package docker_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc/codes"

	"github.com/patchbay-dev/patchbay/plugins/engine/docker"
	"github.com/patchbay-dev/patchbay/plugins/internal/dockertest"
	"github.com/patchbay-dev/patchbay/sdk/engine"
	"github.com/patchbay-dev/patchbay/sdk/errs"
	"github.com/patchbay-dev/patchbay/sdk/plugintest"
)

func TestMain(m *testing.M) {
	if os.Getenv(envParent) != "" {
		parent()
		return
	}
	dir, err := os.MkdirTemp("", "engine-docker")
	if err != nil {
		panic(err)
	}
	program = filepath.Join(dir, "patchbay-plugins")
	code := m.Run()
	removeHelper()
	_ = os.RemoveAll(dir)
	os.Exit(code)
}

// removeHelper removes the helper image that was made from the program.
func removeHelper() {
	raw, err := os.ReadFile(program)
	if err != nil {
		return
	}
	_ = exec.Command("docker", "rmi", fmt.Sprintf("patchbay-helper:%x", sha256.Sum256(raw))[:len("patchbay-helper:")+12]).Run()
}

// program is where executable builds to.
var program string

// executable builds the program that holds the plugins, as it is shipped: static, so that it runs in a container of its
// own.
var executable = sync.OnceValues(func() (string, error) {
	cmd := exec.Command("go", "build", "-trimpath", "-ldflags", "-s -w", "-o", program,
		"github.com/patchbay-dev/patchbay/plugins/cmd/patchbay-plugins")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if text, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build the plugins: %w: %s", err, text)
	}
	return program, nil
})

// open makes an instance and returns a client over the wire. It needs an engine.
func open(t *testing.T, config string) *engine.Client {
	t.Helper()
	dockertest.Engine(t)
	l := plugintest.Load(t, docker.Declare(executable))
	return engine.NewClient(l.Conn, l.Configure(t, plugintest.Config(t, engine.Kind, "local", config)))
}

// container runs an image and returns the id; the container is removed when the test ends.
func container(t *testing.T, args ...string) string {
	t.Helper()
	id := dockertest.Docker(t, append([]string{"run", "-d", "--name", dockertest.Name(t)}, args...)...)
	t.Cleanup(func() { dockertest.Docker(t, "rm", "-f", "-v", id) })
	return id
}

// imageOf makes an image that is removed when the test ends.
func imageOf(t *testing.T, b dockertest.Behaviour) string {
	t.Helper()
	id := dockertest.Import(t, b)
	t.Cleanup(func() { dockertest.Docker(t, "rmi", "-f", id) })
	return id
}

func wantError(t *testing.T, err error, code codes.Code, source errs.Source) {
	t.Helper()
	if err == nil {
		t.Fatalf("no error, want %s", code)
	}
	if e := errs.From(err); e.Code != code || e.Source != source {
		t.Errorf("%s of %s (%s): %v; want %s of %s", e.Code, e.Source, e.Reason, err, code, source)
	}
}

func within(t *testing.T, d time.Duration) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), d)
	t.Cleanup(cancel)
	return ctx
}

// door leads from a socket of the test's own to the engine's, and can be shut.
type door struct {
	path string

	mu    sync.Mutex
	lis   net.Listener
	conns map[net.Conn]bool
}

func newDoor(t *testing.T) *door {
	t.Helper()
	dir, err := os.MkdirTemp("", "door")
	if err != nil {
		t.Fatal(err)
	}
	d := &door{path: filepath.Join(dir, "s"), conns: map[net.Conn]bool{}}
	t.Cleanup(func() {
		d.shut()
		_ = os.RemoveAll(dir)
	})
	return d
}

func (d *door) config() string { return fmt.Sprintf(`{"host":"unix://%s"}`, d.path) }

const engineSocket = "/var/run/docker.sock"

func (d *door) open(t *testing.T) {
	t.Helper()
	lis, err := net.Listen("unix", d.path)
	if err != nil {
		t.Fatal(err)
	}
	d.mu.Lock()
	d.lis = lis
	d.mu.Unlock()
	go d.accept(lis)
}

func (d *door) accept(lis net.Listener) {
	for {
		in, err := lis.Accept()
		if err != nil {
			return
		}
		go d.pass(in)
	}
}

func (d *door) pass(in net.Conn) {
	out, err := net.Dial("unix", engineSocket)
	if err != nil {
		_ = in.Close()
		return
	}
	d.mu.Lock()
	d.conns[in], d.conns[out] = true, true
	d.mu.Unlock()
	go func() {
		_, _ = io.Copy(out, in)
		_ = out.(*net.UnixConn).CloseWrite()
	}()
	_, _ = io.Copy(in, out)
	_ = in.Close()
}

// shut breaks all connections and accepts no more.
func (d *door) shut() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.lis != nil {
		_ = d.lis.Close()
		d.lis = nil
	}
	for c := range d.conns {
		_ = c.Close()
	}
	clear(d.conns)
}

var errEnough = errors.New("enough")
