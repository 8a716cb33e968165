package containers

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/patchbay-dev/patchbay/plugins/internal/dockertest"
	"github.com/patchbay-dev/patchbay/plugins/internal/e2e/kit"
)

// Variables that steer TestContainersInterrupted: how often each generation of compose is interrupted, and the seed of
// the moments, which the test prints.
const (
	envInterruptions = "PATCHBAY_TEST_INTERRUPTIONS"
	envSeed          = "PATCHBAY_TEST_SEED"
)

// usualInterruptions is how often each generation is interrupted where nothing else is asked for.
const usualInterruptions = 10

// interruptedApp is a project with a service on a named and an anonymous volume, scaled to two containers.
type interruptedApp struct {
	*kit.App
	bin dockertest.ComposeBin
	// volumes are the anonymous volumes by the containers' numbers.
	volumes map[string]string
}

const interruptedReplicas = 2

func startInterruptedApp(t testing.TB, bin dockertest.ComposeBin) *interruptedApp {
	t.Helper()
	a := &kit.App{Reg: dockertest.Registry(t, dockertest.RegistryOptions{}), Repo: "demo/" + dockertest.Name(t)}
	dockertest.App(t, a.Reg, a.Repo, "1", dockertest.Behaviour{Version: "1"})
	a.Dir = dockertest.Project(t, map[string]string{"compose.yaml": fmt.Sprintf(`services:
  web:
    image: "%s/%s:1"
    volumes: ["data:/data", "/scratch"]
    stop_grace_period: 1s
volumes:
  data: {}
`, a.Reg.Host, a.Repo)})
	a.Project = filepath.Base(a.Dir)
	dockertest.Up(t, bin, a.Dir, "up", "-d", "--scale", "web="+strconv.Itoa(interruptedReplicas))
	out := &interruptedApp{App: a, bin: bin, volumes: map[string]string{}}
	for _, c := range out.containers(t) {
		out.volumes[c.Config.Labels["com.docker.compose.container-number"]] = c.volume("/scratch")
	}
	return out
}

// inspected is what the test reads of a container.
type inspected struct {
	Name, Image string
	State       struct{ Status string }
	Config      struct{ Labels map[string]string }
	Mounts      []struct{ Name, Destination string }
}

func (c inspected) volume(path string) string {
	for _, m := range c.Mounts {
		if m.Destination == path {
			return m.Name
		}
	}
	return ""
}

func (a *interruptedApp) containers(t testing.TB) (out []inspected) {
	t.Helper()
	ids := strings.Fields(dockertest.Docker(t, "ps", "-aq", "--filter", "label=com.docker.compose.project="+a.Project))
	if len(ids) == 0 {
		t.Fatal("the project has no container")
	}
	if err := json.Unmarshal([]byte(dockertest.Docker(t, append([]string{"inspect"}, ids...)...)), &out); err != nil {
		t.Fatal(err)
	}
	return out
}

// expectWhole makes sure that exactly the containers that there were run one of the images, all the same one, under their
// names and on their volumes. It returns the image.
func (a *interruptedApp) expectWhole(t testing.TB) string {
	t.Helper()
	list := a.containers(t)
	if len(list) != interruptedReplicas {
		t.Errorf("there are %d containers, want %d", len(list), interruptedReplicas)
	}
	separator := "_"
	if a.bin.PullPolicy {
		separator = "-"
	}
	for _, c := range list {
		number := c.Config.Labels["com.docker.compose.container-number"]
		if want := "/" + strings.Join([]string{a.Project, "web", number}, separator); c.Name != want {
			t.Errorf("a container is named %s, want %s", c.Name, want)
		}
		if c.State.Status != "running" || c.Image != list[0].Image {
			t.Errorf("%s is %s on %s, another runs %s", c.Name, c.State.Status, c.Image, list[0].Image)
		}
		if c.volume("/scratch") != a.volumes[number] || c.volume("/data") != a.Project+"_data" {
			t.Errorf("%s has the volumes %+v, want %s", c.Name, c.Mounts, a.volumes[number])
		}
	}
	return list[0].Image
}

func numberFrom(t testing.TB, name string, usual uint64) uint64 {
	t.Helper()
	text := os.Getenv(name)
	if text == "" {
		return usual
	}
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return n
}

// TestContainersInterrupted interrupts updates and rollbacks at random moments after compose has begun: the job is
// cancelled, or its engine plugin or the core is killed. Afterwards there are as many containers as before. It does so ten
// times for each generation of compose; PATCHBAY_TEST_INTERRUPTIONS asks for another number, PATCHBAY_TEST_SEED for the
// moments of an earlier run.
func TestContainersInterrupted(t *testing.T) {
	t.Parallel()
	seed := numberFrom(t, envSeed, uint64(time.Now().UnixNano()))
	times := int(numberFrom(t, envInterruptions, usualInterruptions))
	for _, bin := range dockertest.Compose(t) {
		t.Run(bin.Name, func(t *testing.T) {
			t.Parallel()
			t.Logf("%s=%d %s=%d", envSeed, seed, envInterruptions, times)
			random := rand.New(rand.NewPCG(seed, uint64(len(bin.Name)+len(bin.Path))))
			a := startInterruptedApp(t, bin)
			c := kit.StartCore(t, kit.ContainersHCL(bin.Path, ""))
			web := c.StackNamed(t, a.Project).Service(t, "web")
			ends := map[string]int{}
			for i := range times {
				kind := []string{"cancel", "plugin", "core"}[i%3]
				wait := time.Duration(random.IntN(1500)) * time.Millisecond
				id, wanted := a.begin(t, c, web.ID, i)
				if !waitForStep(t, c, id, "up") {
					t.Fatalf("the job ended before: %+v", c.Job(t, id))
				}
				time.Sleep(wait) // the random moment is what is tested
				a.interrupt(t, c, id, kind)
				kit.Eventually(t, 3*time.Minute, "the job ends", func() bool { return c.Job(t, id).Final() })
				j := c.Job(t, id)
				ends[kind+" "+j.Status]++
				if image := a.expectWhole(t); j.Status == "success" && !slices.Contains(wanted, image) {
					t.Errorf("the job says success and %s runs, want %v", image, wanted)
				}
				if j.Status != "success" && j.Status != "rolled_back" {
					t.Errorf("the job ended %s: %+v", j.Status, j.ResultReason)
				}
				if t.Failed() {
					t.Fatalf("after %s %s into up, number %d: %+v", kind, wait, i, j.Logs)
				}
			}
			t.Logf("how they ended: %v", ends)
		})
	}
}

// begin begins an update to a new version, or each fourth time a rollback where there is something to go back to, and
// returns the images of which one runs after a success.
func (a *interruptedApp) begin(t testing.TB, c *kit.Core, id string, i int) (job string, wanted []string) {
	t.Helper()
	if i%4 == 3 {
		target := kit.Ask[struct {
			Available    bool
			TargetDigest string
		}](t, c, "/api/services/"+id+"/rollback-target")
		if target.Available {
			return c.BeginJob(t, "/api/services/"+id+"/rollback", ""), []string{a.imageOf(t, target.TargetDigest)}
		}
	}
	digest := a.Push(t, dockertest.Behaviour{Version: "2", Labels: map[string]string{"number": strconv.Itoa(i)}})
	dockertest.Docker(t, "pull", "-q", a.Reg.Host+"/"+a.Repo+"@"+digest)
	image := a.imageOf(t, digest)
	return c.BeginJob(t, "/api/updates", kit.UpdateBody(c.Check(t, id), "")), []string{image}
}

func (a *interruptedApp) imageOf(t testing.TB, digest string) string {
	t.Helper()
	return strings.TrimSpace(dockertest.Docker(t, "image", "inspect", "-f", "{{.Id}}", a.Reg.Host+"/"+a.Repo+"@"+digest))
}

// interrupt cancels the job, or kills the plugin that drives the engine, or the core, which it starts again at once.
func (a *interruptedApp) interrupt(t testing.TB, c *kit.Core, id, kind string) {
	t.Helper()
	switch kind {
	case "cancel":
		// The job may have ended by itself: then there is nothing to cancel.
		if got := c.Send(t, kit.Request{Method: http.MethodPost, Path: "/api/jobs/" + id + "/cancel"}); got.Status != http.StatusOK &&
			got.Status != http.StatusConflict {
			t.Fatalf("cancel: %d %s", got.Status, got.Body)
		}
	case "plugin":
		for _, pid := range c.Plugins() {
			if slices.Contains(withArgument("engine/docker"), strconv.Itoa(pid)) {
				_ = syscall.Kill(pid, syscall.SIGKILL)
			}
		}
	case "core":
		c.Kill()
		c.Start()
	}
}
