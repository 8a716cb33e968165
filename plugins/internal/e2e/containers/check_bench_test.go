package containers

import (
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/patchbay-dev/patchbay/plugins/internal/dockertest"
	"github.com/patchbay-dev/patchbay/plugins/internal/e2e/kit"
)

// BenchmarkCheck times a check of 40 running services, each with an image of its own in a real registry, when nothing is
// new: from the job's start to its end, and as a client sees it that follows the job's events. The registry's part is most
// of it: ms/requests is what the same 40 requests take without us, by as many at once as a check makes. The processor times
// tell whose work the time is: *-cpu-ms of the core, its plugins and the registry during a check, and of the registry during
// the bare requests.
func BenchmarkCheck(b *testing.B) {
	const services = 40
	bins := dockertest.Compose(b)
	reg := dockertest.Registry(b, dockertest.RegistryOptions{})
	var file strings.Builder
	var manifests []string
	file.WriteString("version: \"3.7\"\nservices:\n")
	for i := range services {
		repo := fmt.Sprintf("demo/bench-%d", i)
		dockertest.App(b, reg, repo, "1", dockertest.Behaviour{Version: "1"})
		fmt.Fprintf(&file, "  s%d:\n    image: \"%s/%s:1\"\n    network_mode: none\n    stop_grace_period: 1s\n", i, reg.Host, repo)
		manifests = append(manifests, "http://"+reg.Host+"/v2/"+repo+"/manifests/1")
	}
	dir := dockertest.Project(b, map[string]string{"docker-compose.yml": file.String()})
	bin := bins[len(bins)-1]
	dockertest.Up(b, bin, dir, "up", "-d")
	c := kit.StartCore(b, kit.ContainersHCL(bin.Path, ""))
	c.StackNamed(b, filepath.Base(dir))
	check := func() (wall, run time.Duration) {
		began := time.Now()
		id := c.BeginJob(b, "/api/checks", `{"scope":"all"}`)
		// The stream ends with the job.
		c.API(b, http.MethodGet, "/api/jobs/"+id+"/events", "", http.StatusOK)
		wall = time.Since(began)
		j := kit.Ask[struct {
			Job struct {
				Status                string
				StartedAt, FinishedAt time.Time
			}
		}](b, c, "/api/jobs/"+id).Job
		if j.Status != "success" {
			b.Fatalf("the check ended %s", j.Status)
		}
		return wall, j.FinishedAt.Sub(j.StartedAt)
	}
	check()
	registry := reg.PID()
	var walls, runs, bare, core, plugins, registryChecked, registryBare time.Duration
	b.ResetTimer()
	for range b.N {
		coreBefore, pluginsBefore, registryBefore := cpuTime(c.Cmd.Process.Pid), cpuTime(c.Plugins()...), cpuTime(registry)
		wall, run := check()
		core, plugins = core+cpuTime(c.Cmd.Process.Pid)-coreBefore, plugins+cpuTime(c.Plugins()...)-pluginsBefore
		registryBetween := cpuTime(registry)
		walls, runs, bare = walls+wall, runs+run, bare+headAll(b, manifests)
		registryChecked, registryBare = registryChecked+registryBetween-registryBefore, registryBare+cpuTime(registry)-registryBetween
	}
	each := func(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 / float64(b.N) }
	b.ReportMetric(each(walls), "ms/check")
	b.ReportMetric(each(runs), "ms/job")
	b.ReportMetric(each(bare), "ms/requests")
	b.ReportMetric(each(core), "core-cpu-ms")
	b.ReportMetric(each(plugins), "plugins-cpu-ms")
	b.ReportMetric(each(registryChecked), "registry-cpu-ms")
	b.ReportMetric(each(registryBare), "bare-registry-cpu-ms")
}

// headAll asks for the digest of every manifest, five requests at once, and returns how long that took.
func headAll(b *testing.B, manifests []string) time.Duration {
	began := time.Now()
	var g errgroup.Group
	g.SetLimit(5)
	for _, url := range manifests {
		g.Go(func() error {
			req, err := http.NewRequest(http.MethodHead, url, nil)
			if err != nil {
				return err
			}
			req.Header.Set("Accept", "application/vnd.docker.distribution.manifest.v2+json")
			resp, err := benchClient.Do(req)
			if err != nil {
				return err
			}
			defer resp.Body.Close()
			if resp.StatusCode != http.StatusOK {
				return fmt.Errorf("HEAD %s: %s", url, resp.Status)
			}
			_, err = io.Copy(io.Discard, resp.Body)
			return err
		})
	}
	if err := g.Wait(); err != nil {
		b.Fatal(err)
	}
	return time.Since(began)
}

// benchClient keeps as many connections as headAll uses.
var benchClient = &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 5}}
