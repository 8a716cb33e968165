package containers

import (
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/patchbay-dev/patchbay/plugins/internal/dockertest"
	"github.com/patchbay-dev/patchbay/plugins/internal/e2e/kit"
)

// outageMoment is where in an update the engine is ended.
type outageMoment struct {
	name string
	// method and path are the request at which it is ended, after others like it; without them it is ended at the step.
	method, path string
	after        int
	step         string
	failing      bool
	// only is the generation of compose for which it is tried; empty for both.
	only string
}

// outageMoments are the moments at which containers are most easily left behind.
func outageMoments() []outageMoment {
	const create, start = `/containers/create$`, `/containers/[^/]+/start$`
	return []outageMoment{
		{name: "pull", method: http.MethodPost, path: `/images/create$`, only: "v2"},
		{name: "before it is created", method: http.MethodPost, path: create, only: "v1"},
		{name: "between create and start", method: http.MethodPost, path: start},
		{name: "health check", step: "healthcheck", only: "v2"},
		{name: "rollback between create and start", method: http.MethodPost, path: start, after: 1, failing: true},
		{name: "rollback health check", step: "rollback_healthcheck", failing: true, only: "v1"},
	}
}

// restartingApp is a project on an engine of its own, which the core sees through a view.
type restartingApp struct {
	*kit.App
	daemon *dockertest.Daemon
	view   *kit.EngineView
}

// startRestartingApp starts a project with the services web, whose containers do not start with the engine, side, whose do, and idle, which
// is stopped.
func startRestartingApp(t testing.TB, bin dockertest.ComposeBin) *restartingApp {
	t.Helper()
	daemon := dockertest.StartDaemon(t)
	a := &restartingApp{
		App:    &kit.App{Reg: dockertest.Registry(t, dockertest.RegistryOptions{}), Repo: "demo/" + dockertest.Name(t)},
		daemon: daemon, view: kit.StartEngineViewOf(t, daemon.Host),
	}
	a.Push(t, dockertest.Behaviour{Version: "1.0.0", Healthcheck: true})
	dockertest.App(t, a.Reg, a.Repo+"-side", "1", dockertest.Behaviour{Version: "side"})
	a.Dir = dockertest.Project(t, map[string]string{"docker-compose.yml": fmt.Sprintf(`version: "3.7"
services:
  web:
    image: "%[1]s/%[2]s:1"
    stop_grace_period: 1s
  side:
    image: "%[1]s/%[2]s-side:1"
    stop_grace_period: 1s
    restart: always
  idle:
    image: "%[1]s/%[2]s-side:1"
    stop_grace_period: 1s
`, a.Reg.Host, a.Repo)})
	a.Project = filepath.Base(a.Dir)
	daemon.Up(t, bin, a.Dir, "up", "-d")
	daemon.Up(t, bin, a.Dir, "stop", "idle")
	return a
}

// restart ends the engine, by kill -9 or in order, and starts it again.
func (a *restartingApp) restart(t testing.TB, kill bool, held *kit.PausedRequest) {
	t.Helper()
	a.view.Close()
	if kill {
		a.daemon.Kill(t)
	} else {
		a.daemon.Stop(t)
	}
	if held != nil {
		close(held.Done)
	}
	a.daemon.Start(t)
	a.view.Open()
}

// state is image, state and health of the only container of a service.
func (a *restartingApp) state(t testing.TB, service string) string {
	t.Helper()
	ids := strings.Fields(a.daemon.FindContainer(t, a.Dir, service))
	if len(ids) != 1 {
		t.Fatalf("%s has %d containers", service, len(ids))
	}
	return a.daemon.Docker(t, "inspect", "-f", "{{.Image}} {{.State.Status}}{{with .State.Health}} {{.Status}}{{end}}", ids[0])
}

// TestContainersWhileTheEngineRestarts: an engine that is ended at any step of an update and comes back leaves no container behind that was
// created and not started. The job waits for it and tells the truth, what ran runs, and what was stopped stays so.
func TestContainersWhileTheEngineRestarts(t *testing.T) {
	t.Parallel()
	for i, bin := range dockertest.Compose(t) {
		t.Run(bin.Name, func(t *testing.T) {
			t.Parallel()
			a := startRestartingApp(t, bin)
			c := kit.StartCore(t, strings.Replace(kit.ContainersHCL(bin.Path, ""), `engine "docker" "local" {}`,
				fmt.Sprintf("engine \"docker\" \"local\" {\n  config { host = %q }\n}", a.view.Address()), 1))
			web := c.StackNamed(t, a.Project).Service(t, "web")
			image := strings.Fields(a.state(t, "web"))[0]
			for n, m := range outageMoments() {
				if m.only != "" && m.only != bin.Name {
					continue
				}
				// Each generation is killed where the other one is stopped.
				kill, version := (n+i)%2 == 0, fmt.Sprintf("2.%d.0", n)
				if image = a.updateAcross(t, c, web.ID, image, version, m, kill); t.Failed() {
					return
				}
			}
		})
	}
}

// updateAcross updates web while the engine is restarted at a moment, and returns the image that must run then.
func (a *restartingApp) updateAcross(t testing.TB, c *kit.Core, id, former, version string, m outageMoment, kill bool) (image string) {
	t.Helper()
	began := time.Now()
	digest := a.Push(t, dockertest.Behaviour{Version: version, Healthcheck: true, SlowStart: time.Second, StartPeriod: 5 * time.Second,
		Unhealthy: m.failing})
	web := c.Check(t, id)
	if web.Candidate == nil || web.Candidate.Digest != digest {
		t.Fatalf("%s: the candidate is %+v", m.name, web.Candidate)
	}
	var held *kit.PausedRequest
	if m.path != "" {
		held = pauseAt(a.view, m.method, m.path, m.after)
	}
	job := c.BeginJob(t, "/api/updates", kit.UpdateBody(web, ""))
	if held == nil && !waitForStep(t, c, job, m.step) {
		t.Fatalf("%s: the job ended before: %+v", m.name, c.Job(t, job).Logs)
	}
	if held != nil {
		kit.Eventually(t, time.Minute, m.name+": the engine is asked", func() bool {
			select {
			case <-held.Come:
				return true
			default:
				return false
			}
		})
	}
	a.restart(t, kill, held)
	want, image := "success", former
	if m.failing {
		want = "rolled_back"
	}
	j := c.Finished(t, job, want)
	t.Logf("%s, kill %v: %s after %s", m.name, kill, j.Status, time.Since(began).Round(100*time.Millisecond))
	if !m.failing {
		image = a.daemon.Docker(t, "image", "inspect", "-f", "{{.Id}}", a.Reg.Host+"/"+a.Repo+"@"+digest)
	}
	kit.Eventually(t, time.Minute, m.name+": web runs", func() bool { return a.state(t, "web") == image+" running healthy" })
	kit.Eventually(t, time.Minute, m.name+": side runs", func() bool { return strings.HasSuffix(a.state(t, "side"), " running") })
	if got := a.state(t, "idle"); !strings.HasSuffix(got, " exited") {
		t.Errorf("%s: what was stopped is %s: %+v", m.name, got, j.Logs)
	}
	return image
}
