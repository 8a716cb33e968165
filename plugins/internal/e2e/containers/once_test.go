package containers

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/patchbay-dev/patchbay/plugins/internal/dockertest"
	"github.com/patchbay-dev/patchbay/plugins/internal/e2e/kit"
)

// onceProject has a migration that web waits for, a job that nobody waits for, and a service that somebody has stopped.
const onceProject = `version: "2.4"
services:
  web:
    image: "%[1]s-web:1"
    stop_grace_period: 1s
    depends_on: {migrate: {condition: %[2]s}}
  migrate:
    image: "%[1]s-migrate:1"
  cron:
    image: "%[1]s-cron:1"
  idle:
    image: "%[1]s-idle:1"
    stop_grace_period: 1s
`

// TestContainersRunOnce: services that end by themselves are run once to their end, the migration before the service that waits for it;
// if it fails, that service is left alone, and if that one fails, the migration is not run again. What somebody has stopped stays
// stopped.
func TestContainersRunOnce(t *testing.T) {
	t.Parallel()
	for _, bin := range dockertest.Compose(t) {
		t.Run(bin.Name, func(t *testing.T) {
			t.Parallel()
			a := &kit.App{Reg: dockertest.Registry(t, dockertest.RegistryOptions{}), Repo: "demo/" + dockertest.Name(t)}
			ends := dockertest.Behaviour{Ends: true}
			push := func(name, version string, b dockertest.Behaviour) {
				t.Helper()
				b.Version = version
				dockertest.App(t, a.Reg, a.Repo+"-"+name, "1", b)
			}
			for name, b := range map[string]dockertest.Behaviour{"web": {}, "idle": {}, "migrate": ends, "cron": ends} {
				push(name, "1", b)
			}
			text := func(condition string) string { return fmt.Sprintf(onceProject, a.Reg.Host+"/"+a.Repo, condition) }
			first := "service_completed_successfully"
			if !bin.PullPolicy {
				// The first generation knows no such condition; cron is the case that is left.
				first = "service_started"
			}
			a.Dir = dockertest.Project(t, map[string]string{"docker-compose.yml": text(first)})
			a.Project = filepath.Base(a.Dir)
			dockertest.Up(t, bin, a.Dir, "up", "-d")
			container := func(name string) string { return dockertest.FindContainer(t, a.Dir, name) }
			inspect := func(name, what string) string {
				t.Helper()
				return strings.TrimSpace(dockertest.Docker(t, "inspect", "-f", what, container(name)))
			}
			dockertest.Docker(t, "wait", container("cron"), container("migrate"))
			dockertest.Docker(t, "stop", container("idle"))
			if state := inspect("idle", "{{.State.Status}} {{.State.ExitCode}}"); state != "exited 0" {
				t.Fatalf("idle is %s", state)
			}
			c := kit.StartCore(t, kit.ContainersHCL(bin.Path, ""))
			st := c.StackNamed(t, a.Project)
			update := func(want string, names ...string) kit.Job {
				t.Helper()
				c.Finished(t, c.BeginJob(t, "/api/checks", fmt.Sprintf(`{"scope":"stack","stackId":%q}`, st.ID)), "success")
				var targets []string
				for _, name := range names {
					svc := c.Service(t, st.Service(t, name).ID)
					if svc.Candidate == nil {
						t.Fatalf("%s has no candidate: %+v", name, svc)
					}
					targets = append(targets, fmt.Sprintf(`{"serviceId":%q,"targetTag":"1","targetDigest":%q,"pullTags":[]}`, svc.ID,
						svc.Candidate.Digest))
				}
				return c.Finished(t, c.BeginJob(t, "/api/updates",
					fmt.Sprintf(`{"scope":"stack","stackId":%q,"targets":[%s]}`, st.ID, strings.Join(targets, ","))), want)
			}
			is := func(when, name, want string) {
				t.Helper()
				if got := inspect(name, `{{.State.Status}} {{.State.ExitCode}} {{index .Config.Labels "org.opencontainers.image.version"}}`); got != want {
					t.Errorf("%s: %s is %s, want %s", when, name, got, want)
				}
			}

			push("cron", "2", ends)
			push("migrate", "2", ends)
			push("web", "2", dockertest.Behaviour{})
			push("idle", "2", dockertest.Behaviour{})
			update("success", "web", "cron", "migrate")
			c.Finished(t, c.BeginJob(t, "/api/updates", kit.UpdateBody(c.Service(t, st.Service(t, "idle").ID), "")), "success")
			is("all updated", "migrate", "exited 0 2")
			is("all updated", "cron", "exited 0 2")
			is("all updated", "web", "running 0 2")
			is("all updated", "idle", "created 0 2")

			failed := ends
			failed.ExitCode = 5
			push("migrate", "3", failed)
			push("web", "3", dockertest.Behaviour{})
			if bin.PullPolicy {
				update("failed", "web", "migrate")
				is("a migration that fails", "migrate", "exited 5 3")
				is("a migration that fails", "web", "running 0 2")
			}

			push("migrate", "4", ends)
			push("web", "4", dockertest.Behaviour{Crash: true})
			done := update("rolled_back", "web", "migrate")
			is("a dependent that fails", "migrate", "exited 0 4")
			is("a dependent that fails", "web", "running 0 2")
			if !strings.Contains(done.ResultReason.Detail, "migrate was run with its new version, and stays so") ||
				!strings.Contains(string(done.Summary), "completedServices") {
				t.Errorf("the job does not say that the migration stays: %+v %s", done.ResultReason, done.Summary)
			}
		})
	}
}
