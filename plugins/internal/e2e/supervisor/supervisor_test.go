package supervisor

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/patchbay-dev/patchbay/plugins/internal/dockertest"
	"github.com/patchbay-dev/patchbay/plugins/internal/e2e/kit"
	"github.com/patchbay-dev/patchbay/plugins/internal/testkit"
)

// answering is the behaviour of a core of a version.
func answering(version string) dockertest.Behaviour {
	return dockertest.Behaviour{Version: version, Answers: version, Healthcheck: true, Entrypoint: true}
}

// crashing is the behaviour of a core that can tell its version, and cannot serve.
func crashing(version string) dockertest.Behaviour {
	return dockertest.Behaviour{Version: version, Crash: true, Entrypoint: true}
}

// startSupervised starts a core of version 1.0.0 under the tag latest, and a supervisor.
func startSupervised(t testing.TB, bin dockertest.ComposeBin) *kit.Supervised {
	t.Helper()
	return startSupervisedIn(t, nil, bin)
}

// startSupervisedIn is startSupervised in an engine. In one of the test's own the core is started again with the engine.
func startSupervisedIn(t testing.TB, daemon *dockertest.Daemon, bin dockertest.ComposeBin) *kit.Supervised {
	t.Helper()
	restart, config := "no", ""
	if daemon != nil {
		restart, config = "unless-stopped", fmt.Sprintf("\n  config { host = %q }\n", daemon.Host)
	}
	s := &kit.Supervised{Daemon: daemon, Bin: bin, Reg: dockertest.Registry(t, dockertest.RegistryOptions{}),
		Repo: "patchbay/" + dockertest.Name(t)}
	pushImage(t, s, "latest", answering("1.0.0"))
	s.Dir = dockertest.Project(t, map[string]string{"docker-compose.yml": fmt.Sprintf(`version: "3.7"
services:
  patchbay:
    image: "%s/%s:latest"
    ports: ["127.0.0.1:%d:50883"]
    volumes: ["data:/data"]
    stop_grace_period: 1s
    restart: "%s"
volumes: { data: {} }
`, s.Reg.Host, s.Repo, testkit.FreePort(t), restart)})
	daemon.Up(t, bin, s.Dir, "up", "-d")
	s.Core = kit.NewCore(t, fmt.Sprintf(`
engine "docker" "local" {%s}
supervisor {
  compose_bin       = %q
  target_image_repo = "%s/%s"
  health_timeout    = "15s"
}
`, config, bin.Path, s.Reg.Host, s.Repo), "SVC_SUPERVISOR_HTTP_ADDR=127.0.0.1:0")
	s.Command = "supervise"
	s.Start()
	t.Cleanup(func() {
		s.Stop()
		if t.Failed() {
			t.Logf("log of the supervisor:\n%s", kit.LastLines(s.Logs(), 80))
		}
	})
	return s
}

func pushImage(t testing.TB, s *kit.Supervised, tag string, b dockertest.Behaviour) (digest string) {
	t.Helper()
	return dockertest.App(t, s.Reg, s.Repo, tag, b)
}

// askSupervisor sends a request that must have a status.
func askSupervisor(s *kit.Supervised, method, path, body string, status int) []byte {
	s.T.Helper()
	return []byte(s.API(s.T, method, "/supervisor"+path, body, status).Body)
}

// beginUpgrade begins an upgrade to a tag.
func beginUpgrade(s *kit.Supervised, tag, mode string) {
	s.T.Helper()
	askSupervisor(s, http.MethodPost, "/self-upgrade", fmt.Sprintf(`{"target":{"tag":%q},"mode":%q,"rollbackOnFailure":true}`, tag, mode), http.StatusOK)
}

func readState(s *kit.Supervised) (out kit.UpgradeState) {
	s.T.Helper()
	if err := json.Unmarshal(askSupervisor(s, http.MethodGet, "/self-upgrade", "", http.StatusOK), &out); err != nil {
		s.T.Fatal(err)
	}
	return out
}

// waitForEnd waits for the end of an operation.
func waitForEnd(s *kit.Supervised) (last kit.UpgradeState) {
	s.T.Helper()
	kit.Eventually(s.T, time.Minute, "the operation ends", func() bool { last = readState(s); return last.State != "running" })
	return last
}

// waitForState waits for the end of an operation, which must have a state.
func waitForState(s *kit.Supervised, want string) kit.UpgradeState {
	s.T.Helper()
	last := waitForEnd(s)
	if last.State != want {
		s.T.Fatalf("the operation ended %s at %s (%s), want %s", last.State, last.Progress.Step, last.Progress.Message, want)
	}
	return last
}

// requireOneCore fails the test unless exactly one container of the core runs, of an image, and returns its id.
func requireOneCore(s *kit.Supervised, what, image string) (id string) {
	s.T.Helper()
	id = s.Daemon.FindContainer(s.T, s.Dir, "patchbay")
	if id == "" || strings.ContainsAny(id, " \n") {
		s.T.Fatalf("%s: the containers of the core are %q", what, id)
	}
	if got := s.Daemon.Docker(s.T, "inspect", "-f", "{{.State.Running}} {{.Image}}", id); got != "true "+image {
		s.T.Fatalf("%s: the core's container is %q, want image %s", what, got, image)
	}
	return id
}

// readImage returns the id of the image that runs.
func readImage(s *kit.Supervised) string {
	s.T.Helper()
	return s.Daemon.Docker(s.T, "inspect", "-f", "{{.Image}}", s.Daemon.FindContainer(s.T, s.Dir, "patchbay"))
}

func hasOverride(s *kit.Supervised) bool {
	_, err := os.Stat(filepath.Join(s.Core.Dir, "data", "supervisor", "self-upgrade.override.yml"))
	return err == nil
}

// TestSupervisor upgrades a core on a real engine: to good images under its own tag and under another one, to those that
// crash, answer with another version or do not exist, and back.
func TestSupervisor(t *testing.T) {
	t.Parallel()
	for _, bin := range dockertest.Compose(t) {
		t.Run(bin.Name, func(t *testing.T) {
			t.Parallel()
			s := startSupervised(t, bin)
			first := readImage(s)
			if st := readState(s); st.State != "idle" || st.Previous.Tag != "unknown" {
				t.Errorf("a new supervisor says %+v", st)
			}
			askSupervisor(s, http.MethodPost, "/self-upgrade/rollback", `{}`, http.StatusBadRequest)

			pushImage(t, s, "latest", answering("1.1.0"))
			ref := s.Reg.Host + "/" + s.Repo + ":latest"
			dockertest.Docker(t, "tag", first, ref)
			beginUpgrade(s, "latest", "dry-run")
			if st := waitForState(s, "succeeded"); st.Target.Version != "1.1.0" || st.Previous.Version != "1.0.0" || st.Target.Digest == "" {
				t.Errorf("the dry run found %+v", st)
			}
			requireOneCore(s, "after the dry run", first)
			if id := dockertest.Docker(t, "inspect", "-f", "{{.Id}}", ref); id != first {
				t.Errorf("after the dry run %s names %s", ref, id)
			}

			beginUpgrade(s, "latest", "apply")
			waitForState(s, "succeeded")
			second := readImage(s)
			requireOneCore(s, "after the upgrade", second)
			if second == first || hasOverride(s) {
				t.Errorf("the upgrade left the image %s, an override: %v", second, hasOverride(s))
			}

			refusesBadImages(t, s, second)

			pushImage(t, s, "1.2.0", answering("1.2.0"))
			beginUpgrade(s, "1.2.0", "apply")
			waitForState(s, "succeeded")
			third := readImage(s)
			if third == second || !hasOverride(s) {
				t.Errorf("another tag left the image %s, an override: %v", third, hasOverride(s))
			}
			askSupervisor(s, http.MethodPost, "/self-upgrade/rollback", `{"opId":"sup_none"}`, http.StatusBadRequest)
			for _, want := range []string{second, first} {
				askSupervisor(s, http.MethodPost, "/self-upgrade/rollback", `{}`, http.StatusOK)
				waitForState(s, "rolled_back")
				requireOneCore(s, "after a rollback", want)
				if hasOverride(s) {
					t.Error("the override is still there")
				}
			}
			askSupervisor(s, http.MethodPost, "/self-upgrade/rollback", `{}`, http.StatusBadRequest)
		})
	}
}

// refusesBadImages upgrades to images that must not stay.
func refusesBadImages(t *testing.T, s *kit.Supervised, stays string) {
	t.Helper()
	unhealthy := answering("9.1.0")
	unhealthy.Unhealthy = true
	for tag, b := range map[string]dockertest.Behaviour{
		"crashes": crashing("9.0.0"), "unhealthy": unhealthy, "lies": {Version: "9.2.0", Answers: "1.1.0", Healthcheck: true, Entrypoint: true},
		"latest": crashing("9.3.0"),
	} {
		pushImage(t, s, tag, b)
		beginUpgrade(s, tag, "apply")
		st := waitForState(s, "rolled_back")
		requireOneCore(s, "after "+tag, stays)
		if id := dockertest.Docker(t, "inspect", "-f", "{{.Id}}", s.Reg.Host+"/"+s.Repo+":latest"); id != stays || hasOverride(s) {
			t.Errorf("%s: latest names %s, an override: %v (%s)", tag, id, hasOverride(s), st.Progress.Message)
		}
	}
	former := requireOneCore(s, "before images that do not start", stays)
	for tag, b := range map[string]dockertest.Behaviour{
		"no-program": {Version: "9.4.0"}, "latest": {Version: "9.5.0", Entrypoint: true, Prints: "9.6.0"},
	} {
		pushImage(t, s, tag, b)
		beginUpgrade(s, tag, "apply")
		st := waitForState(s, "failed")
		if id := requireOneCore(s, "after "+tag, stays); id != former || st.Progress.Step != "check_image" {
			t.Errorf("%s ended at %s (%s); the core's container is %s, and was %s", tag, st.Progress.Step, st.Progress.Message, id, former)
		}
	}
	if left := dockertest.Docker(t, "ps", "-aq", "--filter", "name=patchbay-check-"+filepath.Base(s.Dir)); left != "" {
		t.Errorf("containers are left of the images that were tried: %s", left)
	}
	beginUpgrade(s, "there-is-none", "apply")
	waitForState(s, "failed")
	requireOneCore(s, "after a tag that does not exist", stays)
}

// TestSupervisorRefusals: who may not, what is wrong, and one operation at a time.
func TestSupervisorRefusals(t *testing.T) {
	t.Parallel()
	s := startSupervised(t, dockertest.NewestCompose(t))
	for body, member := range map[string]string{
		`{"mode":"try"}`: "mode", `{"target":{"tag":""},"mode":"apply"}`: "target.tag", `{"target":{"tag":"a b"},"mode":"apply"}`: "target.tag",
		`{"target":{"digest":"sha256:12"},"mode":"apply"}`: "target.digest", `{`: "",
	} {
		if answer := askSupervisor(s, http.MethodPost, "/self-upgrade", body, http.StatusBadRequest); !strings.Contains(string(answer), member) {
			t.Errorf("%s: %s", body, answer)
		}
	}
	slow := answering("1.5.0")
	slow.SlowStart, slow.StartPeriod = 4*time.Second, 10*time.Second
	pushImage(t, s, "latest", slow)
	beginUpgrade(s, "latest", "apply")
	running := readState(s)
	beginUpgrade(s, "latest", "apply")
	if again := readState(s); again.OpID != running.OpID {
		t.Errorf("the same request began %s beside %s", again.OpID, running.OpID)
	}
	askSupervisor(s, http.MethodPost, "/self-upgrade", `{"target":{"tag":"other"},"mode":"apply"}`, http.StatusConflict)
	askSupervisor(s, http.MethodPost, "/self-upgrade/rollback", `{}`, http.StatusBadRequest)
	waitForState(s, "succeeded")

	s.Stop()
	s.Env = append(s.Env, "SVC_AUTH_ALLOWED_USER=operator@example.com")
	s.Start()
	for path, status := range map[string]int{"/health": 401, "/version": 401, "/self-upgrade": 401, "/": 401, "/favicon.png": 200} {
		answer := askSupervisor(s, http.MethodGet, path, "", status)
		if status == 401 && !strings.Contains(string(answer), "auth_required") {
			t.Errorf("%s: %s", path, answer)
		}
	}
	req, err := http.NewRequest(http.MethodGet, s.Base+"/supervisor/version", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("X-Forwarded-User", "operator@example.com")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		t.Errorf("the forwarded operator gets the status %d", resp.StatusCode)
	}
}
