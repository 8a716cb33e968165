package containers

import (
	"encoding/json"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/patchbay-dev/patchbay/plugins/internal/dockertest"
	"github.com/patchbay-dev/patchbay/plugins/internal/e2e/kit"
	"github.com/patchbay-dev/patchbay/plugins/internal/testkit"
)

// curled is an event as curl shows it.
type curled struct{ id, name, data string }

// readStream reads a stream for some seconds, or until it ends.
func readStream(t testing.TB, c *kit.Core, path string, seconds string, headers ...string) (out []curled) {
	t.Helper()
	args := []string{"-sS", "-N", "-m", seconds}
	for _, h := range headers {
		args = append(args, "-H", h)
	}
	// The time limit is an error to curl, and what was asked for here.
	raw, _ := exec.Command("curl", append(args, c.Base+path)...).Output()
	for block := range strings.SplitSeq(string(raw), "\n\n") {
		var ev curled
		for line := range strings.Lines(block) {
			field, value, _ := strings.Cut(strings.TrimSpace(line), ": ")
			switch field {
			case "id":
				ev.id = value
			case "event":
				ev.name = value
			case "data":
				ev.data = value
			}
		}
		if ev.name != "" {
			out = append(out, ev)
		}
	}
	return out
}

// TestContainersStreams reads each stream with curl, cuts it, and goes on with the id of the last event: nothing is missed and
// nothing comes twice.
func TestContainersStreams(t *testing.T) {
	t.Parallel()
	_, err := exec.LookPath("curl")
	testkit.Require(t, "curl", err == nil, "install curl")
	bin := dockertest.NewestCompose(t)
	a := kit.StartApp(t, bin, dockertest.Behaviour{Version: "1", Healthcheck: true})
	c := kit.StartCore(t, kit.ContainersHCL(bin.Path, ""))
	web := c.StackNamed(t, a.Project).Service(t, "web")
	for _, v := range []string{"1.0.1", "1.0.2"} {
		dockertest.App(t, a.Reg, a.Repo, v, dockertest.Behaviour{Version: v})
	}
	a.Push(t, dockertest.Behaviour{Version: "2", Healthcheck: true, PadBytes: 4 << 20})
	web = c.Check(t, web.ID)
	job := c.BeginJob(t, "/api/updates", kit.UpdateBody(web, ""))
	cut := readStream(t, c, "/api/jobs/"+job+"/events", "1")
	c.Finished(t, job, "success")
	kit.Eventually(t, kit.StartWithin, "versions are looked for", func() bool {
		return kit.Ask[struct{ Worker struct{ InFlight int } }](t, c, "/api/version-inference/overview").Worker.InFlight == 0
	})
	for _, stream := range []struct {
		path, event string
		first       []curled
	}{
		{"/api/jobs/" + job + "/events", "", cut},
		{"/api/jobs/events", "job_event", nil},
		{"/api/version-inference/events", "version_inference_event", nil},
	} {
		all := readStream(t, c, stream.path, "3", "Last-Event-ID: 0")
		if len(all) < 4 {
			t.Errorf("%s: %d events", stream.path, len(all))
			continue
		}
		for i, ev := range all {
			if stream.event != "" && ev.name != stream.event || ev.id == "" || !json.Valid([]byte(ev.data)) {
				t.Errorf("%s: event %d is %+v", stream.path, i, ev)
			}
		}
		first := stream.first
		if len(first) == 0 {
			first = all[:len(all)/2]
		}
		last := first[len(first)-1].id
		for what, rest := range map[string][]curled{
			"header":    readStream(t, c, stream.path, "2", "Last-Event-ID: "+last),
			"parameter": readStream(t, c, stream.path+"?afterId="+last, "2"),
			"larger":    readStream(t, c, stream.path+"?afterId=1", "2", "Last-Event-ID: "+last),
		} {
			if got := append(slices.Clone(first), rest...); !slices.Equal(ids(got), ids(all)) {
				t.Errorf("%s, resumed by the %s after %s: %v, want %v", stream.path, what, last, ids(got), ids(all))
			}
		}
	}
	if live := readStream(t, c, "/api/jobs/events", "1"); len(live) != 0 {
		t.Errorf("without a cursor the stream begins with what is past: %v", ids(live))
	}
	end := readStream(t, c, "/api/jobs/"+job+"/events", "20")
	if tail := end[len(end)-1]; tail.name != "job_status" || !strings.Contains(tail.data, `"status":"success"`) {
		t.Errorf("the stream of a finished job ends with %+v", tail)
	}
}

func ids(events []curled) (out []string) {
	for _, ev := range events {
		out = append(out, fmt.Sprint(ev.id, " ", ev.name))
	}
	return out
}
