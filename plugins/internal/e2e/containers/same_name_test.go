package containers

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/patchbay-dev/patchbay/plugins/internal/dockertest"
	"github.com/patchbay-dev/patchbay/plugins/internal/e2e/kit"
)

// TestContainersOfOneName has two projects of one name in two directories, as compose makes them. Both are listed, and what is done to
// the one leaves the containers of the other alone.
func TestContainersOfOneName(t *testing.T) {
	t.Parallel()
	for _, bin := range dockertest.Compose(t) {
		t.Run(bin.Name, func(t *testing.T) {
			t.Parallel()
			a := kit.StartApp(t, bin, dockertest.Behaviour{Version: "1"})
			image := a.Reg.Host + "/" + a.Repo + "-side:1"
			other := filepath.Join(t.TempDir(), a.Project)
			write := func(services ...string) {
				t.Helper()
				text := "version: \"3.7\"\nservices:\n"
				for _, s := range services {
					text += fmt.Sprintf("  %s:\n    image: %q\n    stop_grace_period: 1s\n", s, image)
				}
				if err := os.MkdirAll(other, 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(filepath.Join(other, "docker-compose.yml"), []byte(text), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			write("api")
			dockertest.Up(t, bin, other, "up", "-d")
			api := dockertest.FindContainer(t, other, "api")
			c := kit.StartCore(t, kit.ContainersHCL(bin.Path, ""))
			st := c.StackNamed(t, a.Project)
			type project struct {
				Project, Status, LastError, StackID string
				ConfigFiles                         []string
			}
			projects := func() []project {
				return slices.DeleteFunc(kit.Ask[struct{ Projects []project }](t, c, "/api/discovery/projects").Projects,
					func(p project) bool { return !strings.HasPrefix(p.Project, a.Project) })
			}
			kit.Eventually(t, 30*time.Second, "both are listed", func() bool {
				all := projects()
				of := func(i int, dir string) bool {
					return slices.Equal(all[i].ConfigFiles, []string{filepath.Join(dir, "docker-compose.yml")})
				}
				return len(all) == 2 && of(0, a.Dir) && all[0].StackID == st.ID && of(1, other) && all[1].LastError == "project_name_shared" &&
					all[1].StackID == ""
			})
			untouched := func(when, id string) {
				t.Helper()
				if state := dockertest.Docker(t, "inspect", "-f", "{{.State.Status}} {{.RestartCount}}", id); state != "running 0" {
					t.Errorf("after %s the container of the other project is %q", when, state)
				}
			}
			for _, action := range []string{"stop", "start", "restart"} {
				c.Finished(t, c.BeginJob(t, "/api/stacks/"+st.ID+"/lifecycle", fmt.Sprintf(`{"action":%q}`, action)), "success")
				untouched(action, api)
			}
			a.Push(t, dockertest.Behaviour{Version: "2"})
			web := c.Check(t, st.Service(t, "web").ID)
			c.Finished(t, c.BeginJob(t, "/api/updates", kit.UpdateBody(web, "")), "success")
			untouched("the update", api)
			if got := dockertest.FindContainer(t, other, "api"); got != api {
				t.Errorf("the container of the other project is another one: %s", got)
			}

			// The other project gets a service of the same name: compose gives it the container of this one.
			write("api", "web")
			dockertest.Up(t, bin, other, "up", "-d")
			taken := dockertest.FindContainer(t, other, "web")
			a.Push(t, dockertest.Behaviour{Version: "3"})
			for _, action := range []string{"stop", "restart"} {
				c.Finished(t, c.BeginJob(t, "/api/services/"+web.ID+"/lifecycle", fmt.Sprintf(`{"action":%q}`, action)), "failed")
				untouched(action, taken)
			}
			c.Finished(t, c.BeginJob(t, "/api/stacks/"+st.ID+"/lifecycle", `{"action":"stop"}`), "failed")
			untouched("stop", taken)
			if image := dockertest.Docker(t, "inspect", "-f", "{{.Config.Image}}", taken); !strings.Contains(image, "-side") {
				t.Errorf("the container of the other project has the image %s", image)
			}
		})
	}
}
