package e2e

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/patchbay-dev/patchbay/plugins/internal/dockertest"
)

func TestContainersUpdateAndRollBack(t *testing.T) {
	t.Parallel()
	for _, bin := range dockertest.Compose(t) {
		t.Run(bin.Name, func(t *testing.T) {
			t.Parallel()
			a := startApp(t, bin, dockertest.Behaviour{Version: "1.0.0", Healthcheck: true})
			c := startCore(t, containersHCL(bin.Path, ""))
			st := c.stackNamed(t, a.project)
			web := st.service(t, "web")
			// The stack is there as soon as the image of one of its services is known.
			eventually(t, 30*time.Second, "the image of the service is known", func() bool {
				web = c.service(t, web.ID)
				return web.Image.Digest != ""
			})
			_, firstImage, firstDigests := running(t, a.dir, "web")
			side, _, _ := running(t, a.dir, "side")
			if !hasDigest(firstDigests, web.Image.Digest) || web.Image.ResolvedTag != "1.0.0" {
				t.Fatalf("discovery says %+v, the engine %v", web.Image, firstDigests)
			}
			if web = c.check(t, web.ID); web.Candidate != nil {
				t.Fatalf("a candidate without a new version: %+v", web.Candidate)
			}

			second := a.push(t, dockertest.Behaviour{Version: "1.1.0", Healthcheck: true, PadBytes: 1 << 20})
			web = c.check(t, web.ID)
			if web.Candidate == nil || web.Candidate.Digest != second || web.Candidate.ArchMatch != "match" || web.Status != "updatable" {
				t.Fatalf("candidate %+v, status %s, want %s", web.Candidate, web.Status, second)
			}
			dry := c.finished(t, c.beginJob(t, "/api/updates", updateBody(web, `,"mode":"dry-run"`)), "success")
			if !strings.Contains(string(dry.Summary), "--no-deps") || !strings.Contains(string(dry.Summary), second) {
				t.Errorf("the plan is %s", dry.Summary)
			}
			if _, image, _ := running(t, a.dir, "web"); image != firstImage {
				t.Fatal("a dry run changed the container")
			}

			up := c.finished(t, c.beginJob(t, "/api/updates", updateBody(web, "")), "success")
			_, secondImage, digests := running(t, a.dir, "web")
			if !hasDigest(digests, second) {
				t.Errorf("runs %v, want %s: %s", digests, second, up.Summary)
			}
			if after, _, _ := running(t, a.dir, "side"); after != side {
				t.Error("the neighbour was recreated")
			}
			if web = c.service(t, web.ID); web.Candidate != nil || web.Image.Digest != second {
				t.Errorf("after the update: %+v, candidate %+v", web.Image, web.Candidate)
			}
			if files := dockertest.Docker(t, "inspect", "-f", `{{index .Config.Labels "com.docker.compose.project.config_files"}}`,
				dockertest.FindContainer(t, a.dir, "web")); !strings.HasSuffix(strings.TrimSpace(files), "docker-compose.yml") ||
				strings.Contains(files, ",") {
				t.Errorf("the label names %s", files)
			}

			crash := a.push(t, dockertest.Behaviour{Version: "1.2.0", Crash: true})
			web = c.check(t, web.ID)
			failed := c.finished(t, c.beginJob(t, "/api/updates", updateBody(web, "")), "rolled_back")
			if _, image, _ := running(t, a.dir, "web"); image != secondImage {
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
			if web = c.service(t, web.ID); web.Candidate == nil || web.Candidate.Digest != crash || web.Image.Digest != second {
				t.Errorf("after the rollback: %+v, candidate %+v", web.Image, web.Candidate)
			}

			target := ask[struct {
				Available                   bool
				TargetDigest, CurrentDigest string
			}](t, c, "/api/services/"+web.ID+"/rollback-target")
			if !target.Available || target.CurrentDigest != second {
				t.Fatalf("rollback target %+v", target)
			}
			c.finished(t, c.beginJob(t, "/api/services/"+web.ID+"/rollback", ""), "success")
			if _, image, _ := running(t, a.dir, "web"); image != firstImage {
				t.Errorf("after the manual rollback runs %s, want %s", image, firstImage)
			}
			lifecycle(t, c, a, st, web)
		})
	}
}

// lifecycle stops, starts and restarts a service and the stack.
func lifecycle(t *testing.T, c *core, a *app, st stack, web service) {
	t.Helper()
	state := func(path string) string {
		return ask[struct{ State string }](t, c, path+"/lifecycle-status").State
	}
	act := func(path, action, want string) {
		t.Helper()
		c.finished(t, c.beginJob(t, path+"/lifecycle", `{"action":"`+action+`"}`), "success")
		if got := state(path); got != want {
			t.Errorf("%s after %s: %s, want %s", path, action, got, want)
		}
	}
	one, all := "/api/services/"+web.ID, "/api/stacks/"+st.ID
	container := dockertest.FindContainer(t, a.dir, "web")
	act(one, "stop", "stopped")
	if got := state(all); got != "partial" {
		t.Errorf("the stack is %s", got)
	}
	act(one, "start", "running")
	act(one, "restart", "running")
	act(all, "stop", "stopped")
	act(all, "start", "running")
	act(all, "restart", "running")
	if after := dockertest.FindContainer(t, a.dir, "web"); after != container {
		t.Error("the lifecycle replaced the container")
	}
	c.api(t, http.MethodPost, one+"/lifecycle", `{"action":"explode"}`, http.StatusBadRequest)
	c.api(t, http.MethodPost, "/api/services/svc_none/lifecycle", `{"action":"stop"}`, http.StatusNotFound)
}
