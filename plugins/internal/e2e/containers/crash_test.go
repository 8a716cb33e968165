package containers

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/patchbay-dev/patchbay/plugins/internal/dockertest"
	"github.com/patchbay-dev/patchbay/plugins/internal/e2e/kit"
)

// slowCompose is a compose command that takes its time, so that a test can hit the step that runs it.
func slowCompose(t testing.TB, bin dockertest.ComposeBin) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "slow-compose")
	script := fmt.Sprintf("#!/bin/sh\ncase \"$*\" in *--help*|*version*) exec %[1]q \"$@\";; esac\nsleep 0.7\n%[1]q \"$@\"\nstatus=$?\nsleep 0.7\nexit $status\n", bin.Path)
	if err := os.WriteFile(path, []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	return path
}

// withArgument are the processes whose command line has a text.
func withArgument(text string) (pids []string) {
	files, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, f := range files {
		if raw, err := os.ReadFile(f); err == nil && strings.Contains(string(raw), text) {
			pids = append(pids, filepath.Base(filepath.Dir(f)))
		}
	}
	return pids
}

// waitForStep waits until a job is at a step; false if it ended before.
func waitForStep(t testing.TB, c *kit.Core, id, step string) bool {
	t.Helper()
	for deadline := kit.DeadlineAfter(time.Minute); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		j := c.Job(t, id)
		if j.Progress.Phase == step {
			return true
		}
		if j.Final() {
			return false
		}
	}
	t.Fatalf("the job did not reach %s", step)
	return false
}

// oneHealthy makes sure that the service has exactly one container, which runs the image and is well.
func oneHealthy(t testing.TB, a *kit.App, image string) {
	t.Helper()
	list := strings.Fields(dockertest.Docker(t, "ps", "-a", "-q", "--filter", "label=com.docker.compose.project="+a.Project, "--filter",
		"label=com.docker.compose.service=web"))
	if len(list) != 1 {
		t.Fatalf("the service has %d containers", len(list))
	}
	kit.Eventually(t, 20*time.Second, "the container is well", func() bool {
		return strings.TrimSpace(dockertest.Docker(t, "inspect", "-f", "{{.Image}} {{.State.Status}} {{.State.Health.Status}}",
			list[0])) == image+" running healthy"
	})
	// Pushing takes the name away from the engine, so that it is only there once an update has given it.
	if named := strings.Fields(dockertest.Docker(t, "images", "-q", "--no-trunc", a.Reg.Host+"/"+a.Repo+":1")); len(named) > 0 &&
		named[0] != image {
		t.Errorf("the name in the project stands for %s, not for what runs, %s", named[0], image)
	}
}

// TestContainersKilledInAnUpdate ends the core without warning at each step of an update. After the restart the job goes on,
// and what runs is either the new version or the former one, whole.
func TestContainersKilledInAnUpdate(t *testing.T) {
	t.Parallel()
	for _, bin := range dockertest.Compose(t) {
		// Parallel subtests would wait until every other test has begun, and this one takes longest.
		t.Run(bin.Name, func(t *testing.T) {
			a := kit.StartApp(t, bin, dockertest.Behaviour{Version: "1.0.0", Healthcheck: true})
			_, first, _ := kit.RunningImage(t, a.Dir, "web")
			good := dockertest.Behaviour{Version: "1.1.0", Healthcheck: true, SlowStart: 2 * time.Second, StartPeriod: 10 * time.Second,
				PadBytes: 24 << 20}
			bad := dockertest.Behaviour{Version: "1.2.0", Healthcheck: true, Unhealthy: true, PadBytes: 1 << 20}
			compose := slowCompose(t, bin)
			c := kit.StartCore(t, kit.ContainersHCL(compose, ""))
			web := c.StackNamed(t, a.Project).Service(t, "web")
			for _, tt := range []struct {
				step string
				next dockertest.Behaviour
				want string
			}{
				{"pull", good, "success"}, {"backup", good, "success"}, {"up", good, "success"}, {"healthcheck", good, "success"},
				{"healthcheck", bad, "rolled_back"}, {"rollback_up", bad, "rolled_back"}, {"rollback_healthcheck", bad, "rolled_back"},
			} {
				t.Run(tt.step+" "+tt.want, func(t *testing.T) {
					tt.next.Labels = map[string]string{"test": t.Name()}
					digest := a.Push(t, tt.next)
					if web = c.Check(t, web.ID); web.Candidate == nil || web.Candidate.Digest != digest {
						t.Fatalf("candidate %+v", web.Candidate)
					}
					id := c.BeginJob(t, "/api/updates", kit.UpdateBody(web, ""))
					if !waitForStep(t, c, id, tt.step) {
						t.Fatalf("the job ended before %s: %+v", tt.step, c.Job(t, id).Logs)
					}
					plugins := c.Plugins()
					c.Kill()
					if len(plugins) == 0 {
						t.Error("no plugin was running")
					}
					kit.Eventually(t, 10*time.Second, "nothing that the core has started is left", func() bool {
						return !slices.ContainsFunc(plugins, kit.IsAlive) && len(withArgument(compose)) == 0
					})
					c.Start()
					c.Finished(t, id, tt.want)
					wanted := first
					if tt.want == "success" {
						_, wanted, _ = kit.RunningImage(t, a.Dir, "web")
						if _, _, digests := kit.RunningImage(t, a.Dir, "web"); !kit.HasDigest(digests, digest) {
							t.Errorf("runs %v, want %s", digests, digest)
						}
					}
					oneHealthy(t, a, wanted)
					first = wanted
					if st := kit.Ask[struct{ ActiveJob any }](t, c, "/api/services/"+web.ID+"/lifecycle-status"); st.ActiveJob != nil {
						t.Errorf("something still works on the service: %v", st.ActiveJob)
					}
				})
			}
		})
	}
}

// TestContainersCancelAnUpdate cancels an update at each step: the former version runs afterwards.
func TestContainersCancelAnUpdate(t *testing.T) {
	t.Parallel()
	bin := dockertest.NewestCompose(t)
	a := kit.StartApp(t, bin, dockertest.Behaviour{Version: "1.0.0", Healthcheck: true})
	_, first, _ := kit.RunningImage(t, a.Dir, "web")
	c := kit.StartCore(t, kit.ContainersHCL(slowCompose(t, bin), ""))
	web := c.StackNamed(t, a.Project).Service(t, "web")
	for _, step := range []string{"pull", "backup", "up", "healthcheck"} {
		t.Run(step, func(t *testing.T) {
			a.Push(t, dockertest.Behaviour{
				Version: "2", Healthcheck: true, SlowStart: 5 * time.Second, StartPeriod: 10 * time.Second, PadBytes: 24 << 20,
				Labels: map[string]string{"test": step},
			})
			web = c.Check(t, web.ID)
			id := c.BeginJob(t, "/api/updates", kit.UpdateBody(web, ""))
			if !waitForStep(t, c, id, step) {
				t.Fatalf("the job ended before %s", step)
			}
			c.API(t, http.MethodPost, "/api/jobs/"+id+"/cancel", "", http.StatusOK)
			kit.Eventually(t, time.Minute, "the job ends", func() bool { return c.Job(t, id).Final() })
			if j := c.Job(t, id); j.Status != "canceled" && j.Status != "rolled_back" {
				t.Errorf("ended %s: %+v %+v", j.Status, j.ResultReason, j.Logs)
			}
			oneHealthy(t, a, first)
			c.API(t, http.MethodPost, "/api/jobs/"+id+"/cancel", "", http.StatusConflict)
		})
	}
	c.API(t, http.MethodPost, "/api/jobs/job_none/cancel", "", http.StatusNotFound)
}
