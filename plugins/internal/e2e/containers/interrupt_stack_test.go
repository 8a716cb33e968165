package containers

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/patchbay-dev/patchbay/plugins/internal/dockertest"
	"github.com/patchbay-dev/patchbay/plugins/internal/e2e/kit"
)

// interruptedStack has a migration that web waits for, two services on their own, and one in the network namespace of another.
const interruptedStack = `version: "2.4"
services:
  web:
    image: "%[1]s-web:1"
    stop_grace_period: 1s
    depends_on: {migrate: {condition: %[2]s}}
  migrate:
    image: "%[1]s-migrate:1"
  one:
    image: "%[1]s-one:1"
    stop_grace_period: 1s
  two:
    image: "%[1]s-two:1"
    stop_grace_period: 1s
  side:
    image: "%[1]s-side:1"
    stop_grace_period: 1s
    network_mode: service:one
`

// stackServices are its services, with what they do.
func stackServices() map[string]dockertest.Behaviour {
	return map[string]dockertest.Behaviour{"web": {}, "migrate": {Ends: true}, "one": {Healthcheck: true}, "two": {}, "side": {}}
}

// usualStackInterruptions is how often each generation is interrupted where nothing else is asked for.
const usualStackInterruptions = 3

// TestContainersInterruptedStack interrupts updates of a whole stack at random moments, as TestContainersInterrupted does with one service.
// Afterwards each service has one container under its name, of its new image or of the former one. What shares a namespace shares it
// with a container that is there. After a success all have the new ones.
func TestContainersInterruptedStack(t *testing.T) {
	t.Parallel()
	seed := numberFrom(t, envSeed, uint64(time.Now().UnixNano()))
	times := int(numberFrom(t, envInterruptions, usualStackInterruptions))
	for _, bin := range dockertest.Compose(t) {
		t.Run(bin.Name, func(t *testing.T) {
			t.Parallel()
			t.Logf("%s=%d %s=%d", envSeed, seed, envInterruptions, times)
			random := rand.New(rand.NewPCG(seed, uint64(len(bin.Name)+len(bin.Path))))
			a := &interruptedApp{App: &kit.App{Reg: dockertest.Registry(t, dockertest.RegistryOptions{}), Repo: "demo/" + dockertest.Name(t)}, bin: bin}
			a.pushAll(t, 0)
			condition := "service_completed_successfully"
			if !bin.PullPolicy {
				condition = "service_started"
			}
			a.Dir = dockertest.Project(t, map[string]string{"docker-compose.yml": fmt.Sprintf(interruptedStack, a.Reg.Host+"/"+a.Repo, condition)})
			a.Project = filepath.Base(a.Dir)
			dockertest.Up(t, bin, a.Dir, "up", "-d")
			c := kit.StartCore(t, kit.ContainersHCL(bin.Path, ""))
			st := c.StackNamed(t, a.Project)
			ends := map[string]int{}
			for i := range times {
				a.runMigration(t)
				before := a.versions(t)
				number := strconv.Itoa(i + 1)
				a.pushAll(t, i+1)
				kind := []string{"core", "cancel", "plugin"}[i%3]
				wait := time.Duration(random.IntN(6000)) * time.Millisecond
				c.Finished(t, c.BeginJob(t, "/api/checks", fmt.Sprintf(`{"scope":"stack","stackId":%q}`, st.ID)), "success")
				var targets []string
				for _, name := range slices.Sorted(maps.Keys(stackServices())) {
					svc := c.Service(t, st.Service(t, name).ID)
					targets = append(targets, fmt.Sprintf(`{"serviceId":%q,"targetTag":"1","targetDigest":%q,"pullTags":[]}`, svc.ID,
						svc.Candidate.Digest))
				}
				id := c.BeginJob(t, "/api/updates", fmt.Sprintf(`{"scope":"stack","stackId":%q,"targets":[%s]}`, st.ID, strings.Join(targets, ",")))
				time.Sleep(wait) // the random moment is what is tested
				a.interrupt(t, c, id, kind)
				kit.Eventually(t, 4*time.Minute, "the job ends", func() bool { return c.Job(t, id).Final() })
				j := c.Job(t, id)
				ends[kind+" "+j.Status]++
				for name, version := range a.versions(t) {
					if version != number && (version != before[name] || j.Status == "success") {
						t.Errorf("%s has version %s after %q, had %s, was to get %s", name, version, j.Status, before[name], number)
					}
				}
				if j.Status == "failed" || kind != "cancel" && j.Status != "success" {
					t.Errorf("the job ended %s: %+v", j.Status, j.ResultReason)
				}
				if t.Failed() {
					t.Fatalf("after %s %s after its begin, number %d: %+v", kind, wait, i, j.Logs)
				}
			}
			t.Logf("how they ended: %v", ends)
		})
	}
}

// pushAll gives all services a version.
func (a *interruptedApp) pushAll(t testing.TB, version int) {
	t.Helper()
	for name, b := range stackServices() {
		b.Version = strconv.Itoa(version)
		dockertest.App(t, a.Reg, a.Repo+"-"+name, "1", b)
	}
}

// runMigration has the migration end with success, whatever it was interrupted in.
func (a *interruptedApp) runMigration(t testing.TB) {
	t.Helper()
	migrate := dockertest.FindContainer(t, a.Dir, "migrate")
	dockertest.Docker(t, "start", migrate)
	if code := strings.TrimSpace(dockertest.Docker(t, "wait", migrate)); code != "0" {
		t.Fatalf("the migration ended with %s", code)
	}
}

// versions returns the version of each service. Each must have one container, under its name, and run, except for the migration.
func (a *interruptedApp) versions(t testing.TB) map[string]string {
	t.Helper()
	out, ids := map[string]string{}, map[string]string{}
	separator := "_"
	if a.bin.PullPolicy {
		separator = "-"
	}
	for _, c := range a.containers(t) {
		name := c.Config.Labels["com.docker.compose.service"]
		if out[name] != "" {
			t.Errorf("%s has two containers", name)
		}
		if want := "/" + strings.Join([]string{a.Project, name, "1"}, separator); c.Name != want {
			t.Errorf("a container is named %s, want %s", c.Name, want)
		}
		if c.State.Status != "running" && name != "migrate" {
			t.Errorf("%s is %s", name, c.State.Status)
		}
		out[name], ids[name] = c.Config.Labels["org.opencontainers.image.version"],
			strings.TrimSpace(dockertest.Docker(t, "inspect", "-f", "{{.Id}} {{.HostConfig.NetworkMode}}", c.Name))
	}
	if len(out) != len(stackServices()) {
		raw, _ := json.Marshal(out)
		t.Errorf("there are only %s", raw)
	}
	one, _, _ := strings.Cut(ids["one"], " ")
	if !strings.HasSuffix(ids["side"], "container:"+one) {
		t.Errorf("side shares the namespace of another container: %s, want %s", ids["side"], one)
	}
	return out
}
