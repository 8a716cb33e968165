package operator

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/hashicorp/go-hclog"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/internal/testing/testkit"
	"github.com/patchbay-dev/patchbay/core/privatedir"
)

// envAskAs makes the test binary ask the socket of that name for the status, as the user nobody.
const envAskAs = "PATCHBAY_TEST_ASK_AS_NOBODY"

func TestMain(m *testing.M) {
	if path := os.Getenv(envAskAs); path != "" {
		if err := syscall.Setuid(65534); err != nil {
			panic(err)
		}
		client, err := Connect(context.Background(), []string{path})
		if err == nil {
			_, err = client.Status(context.Background())
		}
		fmt.Println(err)
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// fixedCore says the same at each request.
type fixedCore struct{}

func (fixedCore) Status(context.Context) (Status, error) {
	return Status{Version: "7", Ready: true}, nil
}
func (fixedCore) Reload(context.Context) Reload { return Reload{Error: "no"} }
func (fixedCore) BeginUpgrade(context.Context) (Upgrade, error) {
	return Upgrade{WaitsFor: "core-2"}, nil
}
func (fixedCore) EndUpgrade(context.Context) error { return fault.New(fault.NotFound, "no such node") }

// recordedAudit keeps what was recorded.
type recordedAudit struct{ rows []string }

func (a *recordedAudit) Record(_ context.Context, action, object string, failure error) error {
	a.rows = append(a.rows, fmt.Sprint(action, " ", object, " ", failure != nil))
	return nil
}

func serve(t *testing.T, paths ...string) (*Server, error) {
	t.Helper()
	s, err := Serve(Config{Paths: paths, Core: fixedCore{}, Audit: &recordedAudit{}, Logger: hclog.NewNullLogger()})
	if err == nil {
		t.Cleanup(s.Close)
	}
	return s, err
}

func askVersion(t *testing.T, path string) string {
	t.Helper()
	client, err := Connect(t.Context(), []string{path})
	must(t, err)
	st, err := client.Status(t.Context())
	must(t, err)
	return st.Version
}

func TestSocketIsPrivate(t *testing.T) {
	path := filepath.Join(t.TempDir(), SocketName)
	_, err := serve(t, path)
	must(t, err)
	info, err := os.Lstat(path)
	must(t, err)
	if info.Mode() != fs.ModeSocket|0o600 {
		t.Errorf("the socket has the mode %s", info.Mode())
	}
	if got := askVersion(t, path); got != "7" {
		t.Errorf("the version is %q", got)
	}
}

// TestUpgradeCalls: the answers of the core to the beginning and the end of an upgrade reach the caller.
func TestUpgradeCalls(t *testing.T) {
	path := filepath.Join(t.TempDir(), SocketName)
	_, err := serve(t, path)
	must(t, err)
	client, err := Connect(t.Context(), []string{path})
	must(t, err)
	if got, err := client.BeginUpgrade(t.Context()); err != nil || got.WaitsFor != "core-2" {
		t.Errorf("the beginning: %+v, %v", got, err)
	}
	if err := client.EndUpgrade(t.Context()); fault.CodeOf(err) != fault.NotFound || !strings.Contains(err.Error(), "no such node") {
		t.Errorf("the end: %v", err)
	}
}

// TestSocketOfDeadCoreIsReplaced: a socket that nobody serves any more is replaced, one that is served is not, and what is no
// socket stays.
func TestSocketOfDeadCoreIsReplaced(t *testing.T) {
	path := filepath.Join(t.TempDir(), SocketName)
	dead, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	must(t, err)
	dead.SetUnlinkOnClose(false)
	must(t, dead.Close())
	if _, err := Connect(t.Context(), []string{path}); !errors.Is(err, ErrNoCore) {
		t.Errorf("a dead socket: %v", err)
	}
	served, err := serve(t, path)
	must(t, err)
	if _, err := serve(t, path); err == nil || !strings.Contains(err.Error(), "another core serves this socket") {
		t.Errorf("a second core: %v", err)
	}
	askVersion(t, path)
	served.Close()
	if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the socket stays: %v", err)
	}
	must(t, os.WriteFile(path, []byte("mine"), 0o600))
	if _, err := serve(t, path); err == nil || !strings.Contains(err.Error(), "is no socket") {
		t.Errorf("a file in its place: %v", err)
	}
	if raw, _ := os.ReadFile(path); string(raw) != "mine" {
		t.Errorf("the file holds %q", raw)
	}
}

// TestSocketTakesSafeDirectory: a directory that others may write to, and a path that is too long, are left out.
func TestSocketTakesSafeDirectory(t *testing.T) {
	open := filepath.Join(t.TempDir(), "open")
	must(t, os.Mkdir(open, 0o700))
	must(t, os.Chmod(open, 0o777))
	long := filepath.Join(t.TempDir(), strings.Repeat("x", privatedir.MaxSocketPath))
	safe := filepath.Join(t.TempDir(), "made", SocketName)
	s, err := serve(t, filepath.Join(open, SocketName), filepath.Join(long, SocketName), safe)
	must(t, err)
	if s.Path() != safe {
		t.Errorf("the socket is %s", s.Path())
	}
	askVersion(t, safe)
	if _, err := serve(t, filepath.Join(open, SocketName)); err == nil || !strings.Contains(err.Error(), "others may write to") {
		t.Errorf("an open directory: %v", err)
	}
}

// TestOtherUsersAreRefused asks as another user, first at the socket as it is and then at one that its mode does not protect.
func TestOtherUsersAreRefused(t *testing.T) {
	testkit.Require(t, "root", os.Geteuid() == 0, "run the tests as root")
	dir, err := os.MkdirTemp("/tmp", "operator-")
	must(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	must(t, os.Chmod(dir, 0o711))
	path := filepath.Join(dir, SocketName)
	_, err = serve(t, path)
	must(t, err)
	ask := func() string {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), os.Args[0])
		cmd.Env = append(os.Environ(), envAskAs+"="+path)
		out, err := cmd.CombinedOutput()
		must(t, err)
		return string(out)
	}
	if got := ask(); !strings.Contains(got, "You may not use the socket "+path) {
		t.Errorf("mode 0600: %s", got)
	}
	must(t, os.Chmod(path, 0o666))
	if got := ask(); !strings.Contains(got, "Only root and the user that runs the core") {
		t.Errorf("mode 0666: %s", got)
	}
}

var must = testkit.Must
