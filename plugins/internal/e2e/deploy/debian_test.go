package deploy

import (
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/patchbay-dev/patchbay/plugins/internal/dockertest"
	"github.com/patchbay-dev/patchbay/plugins/internal/e2e/kit"
	"github.com/patchbay-dev/patchbay/plugins/internal/testkit"
)

// sharedDebian makes a minimal Debian once for all tests, with nothing to build programs with, and returns its directory. Tests leave it
// as it is.
var sharedDebian = sync.OnceValues(func() (dir string, err error) {
	dir = filepath.Join(kit.Scratch, "debian")
	cmd := exec.Command("make", dir, "DEBIAN_ROOT="+dir)
	cmd.Dir = kit.Root()
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("debootstrap: %w\n%s", err, kit.LastLines(string(out), 30))
	}
	return dir, nil
})

// debianRoot returns the directory of a minimal Debian, which the test may not change.
func debianRoot(t *testing.T) string {
	t.Helper()
	_, err := exec.LookPath("debootstrap")
	testkit.Require(t, "debootstrap", err == nil, "install debootstrap")
	testkit.Require(t, "root", os.Geteuid() == 0, "run the test as root: it changes the root directory")
	dir, err := sharedDebian()
	kit.Must(t, err)
	return dir
}

// debianMachine returns the directory of a minimal Debian of the test's own, with its /proc.
func debianMachine(t *testing.T) string {
	t.Helper()
	shared := debianRoot(t)
	dir, err := os.MkdirTemp("/tmp", "pb")
	kit.Must(t, err)
	kit.Must(t, os.Chmod(dir, 0o755))
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	kit.RunHost(t, "", "cp", "-a", shared+"/.", dir)
	kit.Must(t, syscall.Mount("proc", filepath.Join(dir, "proc"), "proc", 0, ""))
	t.Cleanup(func() { _ = syscall.Unmount(filepath.Join(dir, "proc"), syscall.MNT_DETACH) })
	return dir
}

// debianImage builds the Debian flavour of the image, and returns its name.
func debianImage(t *testing.T, bin dockertest.ComposeBin) (image string) {
	t.Helper()
	base, image := debianRoot(t), dockertest.Name(t)+":dev"
	makeImage(t, "image-debian", "DEBIAN_ROOT="+base, "DEBIAN_IMAGE="+image, "COMPOSE="+bin.Path, "IMAGE_DIR="+t.TempDir())
	t.Cleanup(func() { dockertest.Docker(t, "rmi", "-f", image, image+"-base", image+"-root") })
	return image
}

// TestDebianImage builds the Debian flavour of the image and runs it: the core in it loads the examples in Python and Node, whose answers
// arrive outside. It can copy a PostgreSQL database, and is the same image as the one without a Debian otherwise.
func TestDebianImage(t *testing.T) {
	t.Parallel()
	newest := dockertest.NewestCompose(t)
	testkit.Require(t, "compose v2", newest.PullPolicy, dockertest.Compose2Hint)
	_, node := kit.NodeExample(t)
	backend := kit.PythonExample(t)
	image := debianImage(t, newest)
	config, in, up := t.TempDir(), kit.NewInbox(t), kit.StartUpstream(t)
	for _, dir := range []string{backend, node} {
		// The packages of npm are a link, which would lead nowhere in the container.
		kit.RunHost(t, "", "cp", "-rL", filepath.Dir(filepath.Dir(dir))+"/.", config)
		kit.RunHost(t, "", "ln", "-s", "examples/"+filepath.Base(dir), config)
	}
	kit.Must(t, os.Mkdir(filepath.Join(config, "docs"), 0o755))
	kit.Must(t, os.WriteFile(filepath.Join(config, "docs/guide.md"), []byte("# Guide\n\nA plugin that crashes is started again.\n"), 0o644))
	hcl := strings.Replace(fmt.Sprintf(kit.ExamplesHCL, kit.PythonPath, "/usr/bin/node"), "backend = search.docs",
		"backend = [search.web, search.docs]\n  notify  = notify.chat", 1)
	hcl += fmt.Sprintf("search \"tavily\" \"web\" {\n  config { base_url = %q }\n}\n", up.URL)
	kit.Must(t, os.WriteFile(filepath.Join(config, "plugin.hcl"), []byte(hcl), 0o644))
	kit.RunHost(t, "", "chmod", "-R", "a+rX", config)
	kit.Contains(t, dockertest.Docker(t, "run", "--rm", "--user", "0:0", "-v", config+":/etc/patchbay", "-e", "CHAT_URL="+in.URL, image, "plugin",
		"lock"), "search-python sha256:", "notify-node sha256:")

	// Both ends are in the network of this machine, where the inbox is.
	container, address := dockertest.Name(t), testkit.FreeAddress(t)
	dockertest.Docker(t, "run", "-d", "--init", "--name", container, "--network", "host", "-v", config+":/etc/patchbay:ro",
		"-e", "CHAT_URL="+in.URL+"/ok", "-e", "SVC_HTTP_ADDR="+address, "-e", "SVC_ADMIN_ADDR="+testkit.FreeAddress(t), "--health-interval",
		"1s", image)
	t.Cleanup(func() {
		if t.Failed() {
			t.Log(dockertest.Docker(t, "logs", "--tail", "60", container))
		}
		dockertest.Docker(t, "rm", "-f", "-v", container)
	})
	kit.Eventually(t, 90*time.Second, "the container is healthy", func() bool {
		return dockertest.Docker(t, "inspect", "-f", "{{.State.Health.Status}}", container) == "healthy"
	})
	checkUnprivileged(t, container)
	add := exec.Command("docker", "exec", "-i", container, "/bin/patchbay", "key", "add")
	add.Stdin = strings.NewReader("key-refused\n")
	if out, err := add.CombinedOutput(); err != nil {
		t.Fatalf("key add: %v\n%s", err, out)
	}
	up.Script(kit.Scripted{Status: 401})
	c := &kit.Core{T: t, Base: "http://" + address}
	token := dockertest.Docker(t, "exec", container, "/bin/patchbay", "token", "create", "-note", "debian")
	if a := c.Post(t, token, "search", `{"query":"crashes"}`); a.Status != http.StatusOK || !strings.Contains(a.Body, "file:guide.md") {
		t.Errorf("the backend in Python: status %d: %s", a.Status, a.Body)
	}
	kit.Eventually(t, kit.StartWithin, "the channel in Node sends the alerts", func() bool { return len(in.Received()) >= 2 })
	kit.Contains(t, dockertest.Docker(t, "run", "--rm", "--entrypoint", "/usr/bin/pg_dump", image, "--version"), "pg_dump (PostgreSQL)")
	labels := dockertest.Docker(t, "inspect", "-f",
		"{{index .Config.Labels \"org.opencontainers.image.version\"}} {{.Config.User}} {{.Config.Entrypoint}} {{.Config.Healthcheck.Test}} {{.Config.Volumes}}", image)
	if want := "0.1.0-dev 10001:10001 [/bin/patchbay] [CMD /bin/patchbay health] map[/data:{}]"; labels != want {
		t.Errorf("the image is %s, want %s", labels, want)
	}
}
