package containers

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/patchbay-dev/patchbay/plugins/internal/dockertest"
	"github.com/patchbay-dev/patchbay/plugins/internal/e2e/kit"
)

func TestContainersUpdateAndRollBack(t *testing.T) {
	t.Parallel()
	for _, bin := range dockertest.Compose(t) {
		t.Run(bin.Name, func(t *testing.T) {
			t.Parallel()
			a := kit.StartApp(t, bin, dockertest.Behaviour{Version: "1.0.0", Healthcheck: true})
			c := kit.StartCore(t, kit.ContainersHCL(bin.Path, ""))
			st := c.StackNamed(t, a.Project)
			web := st.Service(t, "web")
			// The stack is there as soon as the image of one of its services is known.
			kit.Eventually(t, 30*time.Second, "the image of the service is known", func() bool {
				web = c.Service(t, web.ID)
				return web.Image.Digest != ""
			})
			_, firstImage, firstDigests := kit.RunningImage(t, a.Dir, "web")
			side, _, _ := kit.RunningImage(t, a.Dir, "side")
			if !kit.HasDigest(firstDigests, web.Image.Digest) || web.Image.ResolvedTag != "1.0.0" {
				t.Fatalf("discovery says %+v, the engine %v", web.Image, firstDigests)
			}
			if web = c.Check(t, web.ID); web.Candidate != nil {
				t.Fatalf("a candidate without a new version: %+v", web.Candidate)
			}

			second := a.Push(t, dockertest.Behaviour{Version: "1.1.0", Healthcheck: true, PadBytes: 1 << 20})
			web = c.Check(t, web.ID)
			if web.Candidate == nil || web.Candidate.Digest != second || web.Candidate.ArchMatch != "match" || web.Status != "updatable" {
				t.Fatalf("candidate %+v, status %s, want %s", web.Candidate, web.Status, second)
			}
			dry := c.Finished(t, c.BeginJob(t, "/api/updates", kit.UpdateBody(web, `,"mode":"dry-run"`)), "success")
			if !strings.Contains(string(dry.Summary), "--no-deps") || !strings.Contains(string(dry.Summary), second) {
				t.Errorf("the plan is %s", dry.Summary)
			}
			if _, image, _ := kit.RunningImage(t, a.Dir, "web"); image != firstImage {
				t.Fatal("a dry run changed the container")
			}

			up := c.Finished(t, c.BeginJob(t, "/api/updates", kit.UpdateBody(web, "")), "success")
			_, secondImage, digests := kit.RunningImage(t, a.Dir, "web")
			if !kit.HasDigest(digests, second) {
				t.Errorf("runs %v, want %s: %s", digests, second, up.Summary)
			}
			if after, _, _ := kit.RunningImage(t, a.Dir, "side"); after != side {
				t.Error("the neighbour was recreated")
			}
			if web = c.Service(t, web.ID); web.Candidate != nil || web.Image.Digest != second {
				t.Errorf("after the update: %+v, candidate %+v", web.Image, web.Candidate)
			}
			if files := dockertest.Docker(t, "inspect", "-f", `{{index .Config.Labels "com.docker.compose.project.config_files"}}`,
				dockertest.FindContainer(t, a.Dir, "web")); !strings.HasSuffix(strings.TrimSpace(files), "docker-compose.yml") ||
				strings.Contains(files, ",") {
				t.Errorf("the label names %s", files)
			}

			crash := a.Push(t, dockertest.Behaviour{Version: "1.2.0", Crash: true})
			web = c.Check(t, web.ID)
			failed := c.Finished(t, c.BeginJob(t, "/api/updates", kit.UpdateBody(web, "")), "rolled_back")
			if _, image, _ := kit.RunningImage(t, a.Dir, "web"); image != secondImage {
				t.Errorf("after the rollback runs %s, want %s", image, secondImage)
			}
			var sum struct {
				Stacks []struct {
					Update struct{ FailureStep, LastError string }
				}
			}
			if err := json.Unmarshal(failed.Summary, &sum); err != nil || len(sum.Stacks) != 1 || sum.Stacks[0].Update.FailureStep != "healthcheck" {
				t.Errorf("summary %s, %v", failed.Summary, err)
			}
			if web = c.Service(t, web.ID); web.Candidate == nil || web.Candidate.Digest != crash || web.Image.Digest != second {
				t.Errorf("after the rollback: %+v, candidate %+v", web.Image, web.Candidate)
			}

			target := kit.Ask[struct {
				Available                   bool
				TargetDigest, CurrentDigest string
			}](t, c, "/api/services/"+web.ID+"/rollback-target")
			if !target.Available || target.CurrentDigest != second {
				t.Fatalf("rollback target %+v", target)
			}
			c.Finished(t, c.BeginJob(t, "/api/services/"+web.ID+"/rollback", ""), "success")
			if _, image, _ := kit.RunningImage(t, a.Dir, "web"); image != firstImage {
				t.Errorf("after the manual rollback runs %s, want %s", image, firstImage)
			}
			lifecycle(t, c, a, st, web)
		})
	}
}

// lifecycle stops, starts and restarts a service and the stack.
func lifecycle(t *testing.T, c *kit.Core, a *kit.App, st kit.Stack, web kit.Service) {
	t.Helper()
	state := func(path string) string {
		return kit.Ask[struct{ State string }](t, c, path+"/lifecycle-status").State
	}
	act := func(path, action, want string) {
		t.Helper()
		c.Finished(t, c.BeginJob(t, path+"/lifecycle", `{"action":"`+action+`"}`), "success")
		if got := state(path); got != want {
			t.Errorf("%s after %s: %s, want %s", path, action, got, want)
		}
	}
	one, all := "/api/services/"+web.ID, "/api/stacks/"+st.ID
	container := dockertest.FindContainer(t, a.Dir, "web")
	act(one, "stop", "stopped")
	if got := state(all); got != "partial" {
		t.Errorf("the stack is %s", got)
	}
	act(one, "start", "running")
	act(one, "restart", "running")
	act(all, "stop", "stopped")
	act(all, "start", "running")
	act(all, "restart", "running")
	if after := dockertest.FindContainer(t, a.Dir, "web"); after != container {
		t.Error("the lifecycle replaced the container")
	}
	c.API(t, http.MethodPost, one+"/lifecycle", `{"action":"explode"}`, http.StatusBadRequest)
	c.API(t, http.MethodPost, "/api/services/svc_none/lifecycle", `{"action":"stop"}`, http.StatusNotFound)
}
