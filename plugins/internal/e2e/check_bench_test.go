package e2e

import (
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/patchbay-dev/patchbay/plugins/internal/dockertest"
)

// BenchmarkCheck times a check of 40 running services, each with an image of its own in a real registry, when nothing is
// new: from the job's start to its end, and as a client sees it.
func BenchmarkCheck(b *testing.B) {
	const services = 40
	bins := dockertest.Compose(b)
	reg := dockertest.Registry(b, dockertest.RegistryOptions{})
	var file strings.Builder
	file.WriteString("version: \"3.7\"\nservices:\n")
	for i := range services {
		repo := fmt.Sprintf("demo/bench-%d", i)
		dockertest.App(b, reg, repo, "1", dockertest.Behaviour{Version: "1"})
		fmt.Fprintf(&file, "  s%d:\n    image: \"%s/%s:1\"\n    network_mode: none\n    stop_grace_period: 1s\n", i, reg.Host, repo)
	}
	dir := dockertest.Project(b, map[string]string{"docker-compose.yml": file.String()})
	bin := bins[len(bins)-1]
	dockertest.Up(b, bin, dir, "up", "-d")
	c := startCore(b, containersHCL(bin.Path, ""))
	c.stackNamed(b, filepath.Base(dir))
	check := func() (wall, job time.Duration) {
		began := time.Now()
		id := c.beginJob(b, "/api/checks", `{"scope":"all"}`)
		for {
			a := c.api(b, http.MethodGet, "/api/jobs/"+id, "", http.StatusOK)
			j := decode[struct {
				Job struct {
					Status                string
					StartedAt, FinishedAt time.Time
				}
			}](b, a.body).Job
			if j.Status == "success" {
				return time.Since(began), j.FinishedAt.Sub(j.StartedAt)
			}
			if j.Status != "queued" && j.Status != "running" {
				b.Fatalf("the check ended %s: %s", j.Status, a.body)
			}
			time.Sleep(2 * time.Millisecond)
		}
	}
	check()
	var walls, jobs time.Duration
	b.ResetTimer()
	for range b.N {
		wall, job := check()
		walls, jobs = walls+wall, jobs+job
	}
	b.ReportMetric(float64(walls.Milliseconds())/float64(b.N), "ms/check")
	b.ReportMetric(float64(jobs.Milliseconds())/float64(b.N), "ms/job")
}
