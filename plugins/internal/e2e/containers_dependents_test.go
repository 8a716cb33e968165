package e2e

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/patchbay-dev/patchbay/plugins/internal/dockertest"
)

// TestContainersDependents: a service in the network of another's container is in that of the new container after an
// update, and in that of the restored one after a rollback.
func TestContainersDependents(t *testing.T) {
	t.Parallel()
	for _, bin := range dockertest.Compose(t) {
		t.Run(bin.Name, func(t *testing.T) {
			t.Parallel()
			a := &app{reg: dockertest.Registry(t, dockertest.RegistryOptions{}), repo: "demo/" + dockertest.Name(t)}
			dockertest.App(t, a.reg, a.repo, "1", dockertest.Behaviour{Version: "1"})
			dockertest.App(t, a.reg, a.repo+"-side", "1", dockertest.Behaviour{Version: "side"})
			a.dir = dockertest.Project(t, map[string]string{"docker-compose.yml": fmt.Sprintf(`version: "2.4"
services:
  web:
    image: "%[1]s/%[2]s:1"
    volumes: ["/data"]
    stop_grace_period: 1s
  side:
    image: "%[1]s/%[2]s-side:1"
    network_mode: service:web
    volumes_from: [web]
    stop_grace_period: 1s
`, a.reg.Host, a.repo)})
			a.project = filepath.Base(a.dir)
			dockertest.Up(t, bin, a.dir, "up", "-d")
			inspect := func(container, what string) string {
				t.Helper()
				return strings.TrimSpace(dockertest.Docker(t, "inspect", "-f", what, container))
			}
			shared := func(when, former string) (provider string) {
				t.Helper()
				provider = inspect(dockertest.FindContainer(t, a.dir, "web"), "{{.Id}}")
				side := dockertest.FindContainer(t, a.dir, "side")
				if mode, state := inspect(side, "{{.HostConfig.NetworkMode}}"),
					inspect(side, "{{.State.Running}} {{.RestartCount}}"); mode != "container:"+provider || state != "true 0" {
					t.Errorf("%s: side has the network of %s and is %s; web is %s", when, mode, state, provider)
				}
				if provider == former {
					t.Errorf("%s: the container of web is the same", when)
				}
				return provider
			}
			first := shared("before", "")
			c := startCore(t, containersHCL(bin.Path, ""))
			web := c.stackNamed(t, a.project).service(t, "web")
			a.push(t, dockertest.Behaviour{Version: "2"})
			web = c.check(t, web.ID)
			plan := c.finished(t, c.beginJob(t, "/api/updates", updateBody(web, `,"mode":"dry-run"`)), "success")
			if !strings.Contains(string(plan.Summary), `"name":"side"`) {
				t.Errorf("the plan does not tell of side: %s", plan.Summary)
			}
			c.finished(t, c.beginJob(t, "/api/updates", updateBody(web, "")), "success")
			second := shared("after the update", first)
			a.push(t, dockertest.Behaviour{Version: "3", Healthcheck: true, Unhealthy: true})
			web = c.check(t, web.ID)
			c.finished(t, c.beginJob(t, "/api/updates", updateBody(web, "")), "rolled_back")
			shared("after the rollback", second)
		})
	}
}
