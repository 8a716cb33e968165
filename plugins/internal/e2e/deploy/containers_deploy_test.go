package deploy

import (
	"archive/tar"
	"bytes"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/patchbay-dev/patchbay/plugins/internal/dockertest"
	"github.com/patchbay-dev/patchbay/plugins/internal/e2e/kit"
	"github.com/patchbay-dev/patchbay/plugins/internal/testkit"
)

// TestDeployInAContainer builds the image, starts it as the example says, has it look after a project of the host and run a
// third-party plugin, and has the supervisor beside it upgrade it.
func TestDeployInAContainer(t *testing.T) {
	t.Parallel()
	newest := dockertest.NewestCompose(t)
	testkit.Require(t, "compose v2", newest.PullPolicy, dockertest.Compose2Hint)
	reg := dockertest.Registry(t, dockertest.RegistryOptions{})
	image := reg.Host + "/patchbay:dev"
	makeImage(t, "image", "IMAGE="+image, "COMPOSE="+newest.Path, "IMAGE_DIR="+t.TempDir())
	t.Cleanup(func() { dockertest.Docker(t, "rmi", "-f", image) })

	refuseForeignVolume(t, image)

	a := kit.StartApp(t, newest, dockertest.Behaviour{Version: "1", Healthcheck: true})
	files := map[string]string{}
	for _, name := range []string{"compose.yaml", "config/plugin.hcl"} {
		raw, err := os.ReadFile(filepath.Join(kit.Root(), "examples/deploy", name))
		if err != nil {
			t.Fatal(err)
		}
		files[name] = string(raw)
	}
	_, port, _ := strings.Cut(testkit.FreeAddress(t), ":")
	_, supervisorPort, _ := strings.Cut(testkit.FreeAddress(t), ":")
	dir := dockertest.Project(t, files)
	env := fmt.Sprintf("PATCHBAY_IMAGE=%s\nPATCHBAY_IMAGE_REPO=%s\nPATCHBAY_PORT=%s\nSTACKS_DIR=%s\nSUPERVISOR_PORT=%s\nDEPLOY_DIR=%s\nDOCKER_GID=%s\nPATCHBAY_ALLOWED_USER=ops@example.org\nPATCHBAY_TRUSTED_PROXIES=0.0.0.0/0\n",
		image, strings.TrimSuffix(image, ":dev"), port, filepath.Dir(a.Dir), supervisorPort, dir,
		kit.RunHost(t, "", "stat", "-L", "-c", "%g", "/var/run/docker.sock"))
	// The supervisor's compose reads it, too, as a user that is not root.
	if err := os.WriteFile(filepath.Join(dir, ".env"), []byte(env), 0o644); err != nil {
		t.Fatal(err)
	}
	dockertest.Up(t, newest, dir, "up", "-d")
	container := dockertest.FindContainer(t, dir, "patchbay")
	t.Cleanup(func() {
		if t.Failed() {
			t.Log(dockertest.Docker(t, "logs", "--tail", "60", container))
		}
	})
	kit.Eventually(t, 90*time.Second, "the container is healthy", func() bool {
		return strings.TrimSpace(dockertest.Docker(t, "inspect", "-f", "{{.State.Health.Status}}", container)) == "healthy"
	})
	checkUnprivileged(t, container)

	c := &kit.Core{T: t, Base: "http://127.0.0.1:" + port}
	for path, want := range map[string]int{"/api/health": 200, "/api/version": 200, "/api/deploy-check/report": 401, "/stacks": 401} {
		if a := c.Send(t, kit.Request{Method: http.MethodGet, Path: path}); a.Status != want {
			t.Errorf("%s without an identity: %d, want %d", path, a.Status, want)
		}
	}
	key := strings.TrimSpace(dockertest.Docker(t, "exec", container, "/bin/patchbay", "user", "create", "-email", "ops@example.org", "-name",
		"Ops", "-role", "admin"))
	c.Key = key
	web := c.StackNamed(t, a.Project).Service(t, "web")
	before := dockertest.Docker(t, "inspect", "-f", "{{.State.StartedAt}}", dockertest.FindContainer(t, a.Dir, "web"))
	c.Finished(t, c.BeginJob(t, "/api/services/"+web.ID+"/lifecycle", `{"action":"restart"}`), "success")
	if after := dockertest.Docker(t, "inspect", "-f", "{{.State.StartedAt}}", dockertest.FindContainer(t, a.Dir, "web")); after == before {
		t.Error("the service was not restarted")
	}
	deployed := &deployedPlugin{core: c, dir: dir, bin: newest}
	deployed.install(t)
	deployed.check(t)
	upgradeDeployed(t, dir, image, "http://127.0.0.1:"+supervisorPort+"/supervisor")
	deployed.check(t)
}

// refuseForeignVolume starts the image with a volume that root has used, as after an upgrade from an image that ran as root: core and
// supervisor must say whose the directory is and what helps.
func refuseForeignVolume(t *testing.T, image string) {
	t.Helper()
	volume := dockertest.Name(t)
	dockertest.Docker(t, "volume", "create", volume)
	t.Cleanup(func() { dockertest.Docker(t, "volume", "rm", "-f", volume) })
	dockertest.Docker(t, "run", "--rm", "--user", "0:0", "-v", volume+":/data/former", "-e", "SVC_DATA_DIR=/data/former", image, "mailbox",
		"list")
	for _, command := range []string{"serve", "supervise"} {
		cmd := exec.Command("docker", "run", "--rm", "-v", volume+":/data/former", "-e", "SVC_DATA_DIR=/data/former", "-e",
			"SVC_SUPERVISOR_STATE_PATH=/data/former/state.json", image, command)
		out, err := cmd.CombinedOutput()
		if want := "belongs to uid 0, and patchbay runs as uid 10001: as root, run chown -R 10001:10001 /data/former"; err == nil ||
			!strings.Contains(string(out), want) {
			t.Errorf("%s with root's volume: %v\n%s\nwant %q", command, err, out, want)
		}
	}
}

// checkUnprivileged expects that no process of a container is root's, and that what the core has made in its volume is its own.
func checkUnprivileged(t *testing.T, container string) {
	t.Helper()
	for i, line := range strings.Split(dockertest.Docker(t, "top", container, "-eo", "pid,uid,args"), "\n") {
		if fields := strings.Fields(line); i > 0 && fields[1] != "10001" {
			t.Errorf("a process of another user: %s", line)
		}
	}
	list := exec.Command("docker", "cp", container+":/data", "-")
	archive, err := list.Output()
	kit.Must(t, err)
	for files := tar.NewReader(bytes.NewReader(archive)); ; {
		file, err := files.Next()
		if err == io.EOF {
			return
		}
		kit.Must(t, err)
		if file.Uid != 10001 || file.Gid != 10001 {
			t.Errorf("%s belongs to %d:%d", file.Name, file.Uid, file.Gid)
		}
	}
}

// upgradeDeployed has the supervisor of the example upgrade the core to another image of the same version.
func upgradeDeployed(t *testing.T, dir, image, base string) {
	t.Helper()
	before := dockertest.Docker(t, "inspect", "-f", "{{.Image}}", dockertest.FindContainer(t, dir, "patchbay"))
	build := exec.Command("docker", "build", "-q", "-t", image, "-")
	build.Stdin = strings.NewReader("FROM " + image + "\nLABEL patchbay.test=next\n")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build the next image: %v\n%s", err, out)
	}
	next := dockertest.Docker(t, "inspect", "-f", "{{.Id}}", image)
	dockertest.Docker(t, "push", "-q", image)
	dockertest.Docker(t, "tag", before, image)
	c := &kit.Core{T: t, Base: base}
	operator := http.Header{"X-Forwarded-User": {"ops@example.org"}}
	if a := c.Send(t, kit.Request{Method: http.MethodGet, Path: "/health"}); a.Status != http.StatusUnauthorized {
		t.Errorf("the supervisor answers nobody with the status %d", a.Status)
	}
	if a := c.Send(t, kit.Request{Method: http.MethodPost, Path: "/self-upgrade", Body: `{"target":{"tag":"dev"},"mode":"apply"}`,
		Header: operator}); a.Status != http.StatusOK {
		t.Fatalf("begin the upgrade: %d %s", a.Status, a.Body)
	}
	var state kit.UpgradeState
	kit.Eventually(t, 2*time.Minute, "the upgrade ends", func() bool {
		state = kit.Decode[kit.UpgradeState](t, c.Send(t, kit.Request{Method: http.MethodGet, Path: "/self-upgrade", Header: operator}).Body)
		return state.State != "running"
	})
	container := dockertest.FindContainer(t, dir, "patchbay")
	if after := dockertest.Docker(t, "inspect", "-f", "{{.Image}} {{.State.Health.Status}}", container); state.State != "succeeded" ||
		after != next+" healthy" {
		t.Errorf("the upgrade ended %s (%s); the core's container is %s, want %s", state.State, state.Progress.Message, after, next)
	}
	// The supervisor has tried the image, and has asked the core, in another container, what it is doing.
	logs := fmt.Sprint(state.Operations)
	for _, line := range []string{"The image can start", "No job of the core runs"} {
		if !strings.Contains(logs, line) {
			t.Errorf("the log of the upgrade does not say %q: %s", line, logs)
		}
	}
}
