package e2e

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/patchbay-dev/patchbay/plugins/internal/dockertest"
	"github.com/patchbay-dev/patchbay/plugins/internal/testkit"
)

// supervised is a compose project whose service plays the core, with a supervisor that looks after it.
type supervised struct {
	*core
	bin       dockertest.ComposeBin
	reg       *dockertest.Reg
	repo, dir string
	// daemon is the engine of the project.
	daemon *dockertest.Daemon
}

// upgradeState is what the tests read of the state of self-upgrade.
type upgradeState struct {
	State, OpID string
	Target      struct{ Tag, Digest, Version string }
	Previous    struct{ Tag, Digest, Version string }
	Progress    struct{ Step, Message string }
	Operations  []struct {
		OpID, State string
		Logs        []struct{ Level, Msg string }
	}
}

// answering is the behaviour of a core of a version.
func answering(version string) dockertest.Behaviour {
	return dockertest.Behaviour{Version: version, Answers: version, Healthcheck: true, Entrypoint: true}
}

// crashing is the behaviour of a core that can tell its version, and cannot serve.
func crashing(version string) dockertest.Behaviour {
	return dockertest.Behaviour{Version: version, Crash: true, Entrypoint: true}
}

// startSupervised starts a core of version 1.0.0 under the tag latest, and a supervisor.
func startSupervised(t testing.TB, bin dockertest.ComposeBin) *supervised {
	t.Helper()
	return startSupervisedIn(t, nil, bin)
}

// startSupervisedIn is startSupervised in an engine. In one of the test's own the core is started again with the engine.
func startSupervisedIn(t testing.TB, daemon *dockertest.Daemon, bin dockertest.ComposeBin) *supervised {
	t.Helper()
	restart, config := "no", ""
	if daemon != nil {
		restart, config = "unless-stopped", fmt.Sprintf("\n  config { host = %q }\n", daemon.Host)
	}
	s := &supervised{daemon: daemon, bin: bin, reg: dockertest.Registry(t, dockertest.RegistryOptions{}),
		repo: "patchbay/" + dockertest.Name(t)}
	s.push(t, "latest", answering("1.0.0"))
	s.dir = dockertest.Project(t, map[string]string{"docker-compose.yml": fmt.Sprintf(`version: "3.7"
services:
  patchbay:
    image: "%s/%s:latest"
    ports: ["127.0.0.1:%d:50883"]
    volumes: ["data:/data"]
    stop_grace_period: 1s
    restart: "%s"
volumes: { data: {} }
`, s.reg.Host, s.repo, testkit.FreePort(t), restart)})
	daemon.Up(t, bin, s.dir, "up", "-d")
	s.core = newCore(t, fmt.Sprintf(`
engine "docker" "local" {%s}
supervisor {
  compose_bin       = %q
  target_image_repo = "%s/%s"
  health_timeout    = "15s"
}
`, config, bin.Path, s.reg.Host, s.repo), "SVC_SUPERVISOR_HTTP_ADDR=127.0.0.1:0")
	s.command = "supervise"
	s.start()
	t.Cleanup(func() {
		s.stop()
		if t.Failed() {
			t.Logf("log of the supervisor:\n%s", tail(s.logs(), 80))
		}
	})
	return s
}

var supervisorAddress = regexp.MustCompile(`supervisor is ready: address=(http://\S+)`)

// start runs the supervisor and waits until it listens.
func (s *supervised) start() {
	s.t.Helper()
	s.launch()
	select {
	case line := <-s.ready:
		s.base = supervisorAddress.FindStringSubmatch(line)[1]
	case <-s.ended:
		s.t.Fatalf("the supervisor ended at its start: %v\n%s", s.err, s.logs())
	case <-time.After(patience * startWithin):
		s.t.Fatalf("the supervisor is not ready after %s\n%s", patience*startWithin, s.logs())
	}
}

func (s *supervised) push(t testing.TB, tag string, b dockertest.Behaviour) (digest string) {
	t.Helper()
	return dockertest.App(t, s.reg, s.repo, tag, b)
}

// ask sends a request that must have a status.
func (s *supervised) ask(method, path, body string, status int) []byte {
	s.t.Helper()
	return []byte(s.api(s.t, method, "/supervisor"+path, body, status).body)
}

// upgrade begins an upgrade to a tag.
func (s *supervised) upgrade(tag, mode string) {
	s.t.Helper()
	s.ask(http.MethodPost, "/self-upgrade", fmt.Sprintf(`{"target":{"tag":%q},"mode":%q,"rollbackOnFailure":true}`, tag, mode), http.StatusOK)
}

func (s *supervised) state() (out upgradeState) {
	s.t.Helper()
	if err := json.Unmarshal(s.ask(http.MethodGet, "/self-upgrade", "", http.StatusOK), &out); err != nil {
		s.t.Fatal(err)
	}
	return out
}

// endsAnyhow waits for the end of an operation.
func (s *supervised) endsAnyhow() (last upgradeState) {
	s.t.Helper()
	eventually(s.t, time.Minute, "the operation ends", func() bool { last = s.state(); return last.State != "running" })
	return last
}

// ends waits for the end of an operation, which must have a state.
func (s *supervised) ends(want string) upgradeState {
	s.t.Helper()
	last := s.endsAnyhow()
	if last.State != want {
		s.t.Fatalf("the operation ended %s at %s (%s), want %s", last.State, last.Progress.Step, last.Progress.Message, want)
	}
	return last
}

// runs fails the test unless exactly one container of the core runs, of an image, and returns its id.
func (s *supervised) runs(what, image string) (id string) {
	s.t.Helper()
	id = s.daemon.FindContainer(s.t, s.dir, "patchbay")
	if id == "" || strings.ContainsAny(id, " \n") {
		s.t.Fatalf("%s: the containers of the core are %q", what, id)
	}
	if got := s.daemon.Docker(s.t, "inspect", "-f", "{{.State.Running}} {{.Image}}", id); got != "true "+image {
		s.t.Fatalf("%s: the core's container is %q, want image %s", what, got, image)
	}
	return id
}

// image returns the id of the image that runs.
func (s *supervised) image() string {
	s.t.Helper()
	return s.daemon.Docker(s.t, "inspect", "-f", "{{.Image}}", s.daemon.FindContainer(s.t, s.dir, "patchbay"))
}

func (s *supervised) override() bool {
	_, err := os.Stat(filepath.Join(s.core.dir, "data", "supervisor", "self-upgrade.override.yml"))
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
			first := s.image()
			if st := s.state(); st.State != "idle" || st.Previous.Tag != "unknown" {
				t.Errorf("a new supervisor says %+v", st)
			}
			s.ask(http.MethodPost, "/self-upgrade/rollback", `{}`, http.StatusBadRequest)

			s.push(t, "latest", answering("1.1.0"))
			ref := s.reg.Host + "/" + s.repo + ":latest"
			dockertest.Docker(t, "tag", first, ref)
			s.upgrade("latest", "dry-run")
			if st := s.ends("succeeded"); st.Target.Version != "1.1.0" || st.Previous.Version != "1.0.0" || st.Target.Digest == "" {
				t.Errorf("the dry run found %+v", st)
			}
			s.runs("after the dry run", first)
			if id := dockertest.Docker(t, "inspect", "-f", "{{.Id}}", ref); id != first {
				t.Errorf("after the dry run %s names %s", ref, id)
			}

			s.upgrade("latest", "apply")
			s.ends("succeeded")
			second := s.image()
			s.runs("after the upgrade", second)
			if second == first || s.override() {
				t.Errorf("the upgrade left the image %s, an override: %v", second, s.override())
			}

			s.refusesBadImages(t, second)

			s.push(t, "1.2.0", answering("1.2.0"))
			s.upgrade("1.2.0", "apply")
			s.ends("succeeded")
			third := s.image()
			if third == second || !s.override() {
				t.Errorf("another tag left the image %s, an override: %v", third, s.override())
			}
			s.ask(http.MethodPost, "/self-upgrade/rollback", `{"opId":"sup_none"}`, http.StatusBadRequest)
			for _, want := range []string{second, first} {
				s.ask(http.MethodPost, "/self-upgrade/rollback", `{}`, http.StatusOK)
				s.ends("rolled_back")
				s.runs("after a rollback", want)
				if s.override() {
					t.Error("the override is still there")
				}
			}
			s.ask(http.MethodPost, "/self-upgrade/rollback", `{}`, http.StatusBadRequest)
		})
	}
}

// refusesBadImages upgrades to images that must not stay.
func (s *supervised) refusesBadImages(t *testing.T, stays string) {
	t.Helper()
	unhealthy := answering("9.1.0")
	unhealthy.Unhealthy = true
	for tag, b := range map[string]dockertest.Behaviour{
		"crashes": crashing("9.0.0"), "unhealthy": unhealthy, "lies": {Version: "9.2.0", Answers: "1.1.0", Healthcheck: true, Entrypoint: true},
		"latest": crashing("9.3.0"),
	} {
		s.push(t, tag, b)
		s.upgrade(tag, "apply")
		st := s.ends("rolled_back")
		s.runs("after "+tag, stays)
		if id := dockertest.Docker(t, "inspect", "-f", "{{.Id}}", s.reg.Host+"/"+s.repo+":latest"); id != stays || s.override() {
			t.Errorf("%s: latest names %s, an override: %v (%s)", tag, id, s.override(), st.Progress.Message)
		}
	}
	former := s.runs("before images that do not start", stays)
	for tag, b := range map[string]dockertest.Behaviour{
		"no-program": {Version: "9.4.0"}, "latest": {Version: "9.5.0", Entrypoint: true, Prints: "9.6.0"},
	} {
		s.push(t, tag, b)
		s.upgrade(tag, "apply")
		st := s.ends("failed")
		if id := s.runs("after "+tag, stays); id != former || st.Progress.Step != "check_image" {
			t.Errorf("%s ended at %s (%s); the core's container is %s, and was %s", tag, st.Progress.Step, st.Progress.Message, id, former)
		}
	}
	if left := dockertest.Docker(t, "ps", "-aq", "--filter", "name=patchbay-check-"+filepath.Base(s.dir)); left != "" {
		t.Errorf("containers are left of the images that were tried: %s", left)
	}
	s.upgrade("there-is-none", "apply")
	s.ends("failed")
	s.runs("after a tag that does not exist", stays)
}

// TestSupervisorRefusals: who may not, what is wrong, and one operation at a time.
func TestSupervisorRefusals(t *testing.T) {
	t.Parallel()
	s := startSupervised(t, dockertest.NewestCompose(t))
	for body, member := range map[string]string{
		`{"mode":"try"}`: "mode", `{"target":{"tag":""},"mode":"apply"}`: "target.tag", `{"target":{"tag":"a b"},"mode":"apply"}`: "target.tag",
		`{"target":{"digest":"sha256:12"},"mode":"apply"}`: "target.digest", `{`: "",
	} {
		if answer := s.ask(http.MethodPost, "/self-upgrade", body, http.StatusBadRequest); !strings.Contains(string(answer), member) {
			t.Errorf("%s: %s", body, answer)
		}
	}
	slow := answering("1.5.0")
	slow.SlowStart, slow.StartPeriod = 4*time.Second, 10*time.Second
	s.push(t, "latest", slow)
	s.upgrade("latest", "apply")
	running := s.state()
	s.upgrade("latest", "apply")
	if again := s.state(); again.OpID != running.OpID {
		t.Errorf("the same request began %s beside %s", again.OpID, running.OpID)
	}
	s.ask(http.MethodPost, "/self-upgrade", `{"target":{"tag":"other"},"mode":"apply"}`, http.StatusConflict)
	s.ask(http.MethodPost, "/self-upgrade/rollback", `{}`, http.StatusBadRequest)
	s.ends("succeeded")

	s.stop()
	s.env = append(s.env, "SVC_AUTH_ALLOWED_USER=operator@example.com")
	s.start()
	for path, status := range map[string]int{"/health": 401, "/version": 401, "/self-upgrade": 401, "/": 401, "/favicon.png": 200} {
		answer := s.ask(http.MethodGet, path, "", status)
		if status == 401 && !strings.Contains(string(answer), "auth_required") {
			t.Errorf("%s: %s", path, answer)
		}
	}
	req, err := http.NewRequest(http.MethodGet, s.base+"/supervisor/version", nil)
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
