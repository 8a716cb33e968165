package containers

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/patchbay-dev/patchbay/plugins/internal/dockertest"
	"github.com/patchbay-dev/patchbay/plugins/internal/e2e/kit"
)

// TestContainersDependents: a service in the network of another's container is in that of the new container after an
// update, and in that of the restored one after a rollback.
func TestContainersDependents(t *testing.T) {
	t.Parallel()
	for _, bin := range dockertest.Compose(t) {
		t.Run(bin.Name, func(t *testing.T) {
			t.Parallel()
			a := &kit.App{Reg: dockertest.Registry(t, dockertest.RegistryOptions{}), Repo: "demo/" + dockertest.Name(t)}
			dockertest.App(t, a.Reg, a.Repo, "1", dockertest.Behaviour{Version: "1"})
			dockertest.App(t, a.Reg, a.Repo+"-side", "1", dockertest.Behaviour{Version: "side"})
			a.Dir = dockertest.Project(t, map[string]string{"docker-compose.yml": fmt.Sprintf(`version: "2.4"
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
`, a.Reg.Host, a.Repo)})
			a.Project = filepath.Base(a.Dir)
			dockertest.Up(t, bin, a.Dir, "up", "-d")
			inspect := func(container, what string) string {
				t.Helper()
				return strings.TrimSpace(dockertest.Docker(t, "inspect", "-f", what, container))
			}
			shared := func(when, former string) (provider string) {
				t.Helper()
				provider = inspect(dockertest.FindContainer(t, a.Dir, "web"), "{{.Id}}")
				side := dockertest.FindContainer(t, a.Dir, "side")
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
			c := kit.StartCore(t, kit.ContainersHCL(bin.Path, ""))
			web := c.StackNamed(t, a.Project).Service(t, "web")
			a.Push(t, dockertest.Behaviour{Version: "2"})
			web = c.Check(t, web.ID)
			plan := c.Finished(t, c.BeginJob(t, "/api/updates", kit.UpdateBody(web, `,"mode":"dry-run"`)), "success")
			if !strings.Contains(string(plan.Summary), `"name":"side"`) {
				t.Errorf("the plan does not tell of side: %s", plan.Summary)
			}
			c.Finished(t, c.BeginJob(t, "/api/updates", kit.UpdateBody(web, "")), "success")
			second := shared("after the update", first)
			a.Push(t, dockertest.Behaviour{Version: "3", Healthcheck: true, Unhealthy: true})
			web = c.Check(t, web.ID)
			c.Finished(t, c.BeginJob(t, "/api/updates", kit.UpdateBody(web, "")), "rolled_back")
			shared("after the rollback", second)
		})
	}
}
