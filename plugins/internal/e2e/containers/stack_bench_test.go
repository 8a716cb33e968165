package containers

import (
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/patchbay-dev/patchbay/plugins/internal/dockertest"
	"github.com/patchbay-dev/patchbay/plugins/internal/e2e/kit"
)

// BenchmarkStackUpdate times the update of a stack of 15 services, each with an image of its own and a health check, from the request to
// the end of the job. Beside it stands what the same compose takes for the same step: "pull" and "up -d --wait" with the second
// generation, "pull" and "up -d" until all are healthy with the first. The last two services depend on the first one.
func BenchmarkStackUpdate(b *testing.B) {
	const services = 15
	for _, bin := range dockertest.Compose(b) {
		b.Run(bin.Name, func(b *testing.B) {
			reg := dockertest.Registry(b, dockertest.RegistryOptions{})
			name := dockertest.Name(b)
			var file strings.Builder
			file.WriteString("version: \"3.7\"\nservices:\n")
			for i := range services {
				fmt.Fprintf(&file, "  s%d:\n    image: \"%s/%s-%d:1\"\n    network_mode: none\n    stop_grace_period: 1s\n", i, reg.Host, name, i)
				if i >= services-2 {
					file.WriteString("    depends_on: [s0]\n")
				}
			}
			version := 0
			publish := func() {
				version++
				for i := range services {
					dockertest.App(b, reg, fmt.Sprintf("%s-%d", name, i), "1", dockertest.Behaviour{Version: fmt.Sprint(version), Healthcheck: true})
				}
			}
			publish()
			dir := dockertest.Project(b, map[string]string{"docker-compose.yml": file.String()})
			dockertest.Up(b, bin, dir, "up", "-d")
			c := kit.StartCore(b, kit.ContainersHCL(bin.Path, ""))
			st := c.StackNamed(b, filepath.Base(dir))
			var ours, theirs, core, plugins time.Duration
			b.ResetTimer()
			for range b.N {
				b.StopTimer()
				publish()
				c.Finished(b, c.BeginJob(b, "/api/checks", fmt.Sprintf(`{"scope":"stack","stackId":%q}`, st.ID)), "success")
				var targets []string
				for i := range services {
					svc := c.Service(b, st.Service(b, fmt.Sprintf("s%d", i)).ID)
					targets = append(targets, fmt.Sprintf(`{"serviceId":%q,"targetTag":"1","targetDigest":%q,"pullTags":[]}`, svc.ID,
						svc.Candidate.Digest))
				}
				body := fmt.Sprintf(`{"scope":"stack","stackId":%q,"targets":[%s]}`, st.ID, strings.Join(targets, ","))
				b.StartTimer()
				coreBefore, pluginsBefore, began := cpuTime(c.Cmd.Process.Pid), cpuTime(c.Plugins()...), time.Now()
				id := c.BeginJob(b, "/api/updates", body)
				// The stream ends with the job.
				c.API(b, http.MethodGet, "/api/jobs/"+id+"/events", "", http.StatusOK)
				ours += time.Since(began)
				core, plugins = core+cpuTime(c.Cmd.Process.Pid)-coreBefore, plugins+cpuTime(c.Plugins()...)-pluginsBefore
				if j := c.Job(b, id); j.Status != "success" {
					b.Fatalf("the update ended %s: %+v", j.Status, j.ResultReason)
				}
				b.StopTimer()
				publish()
				b.StartTimer()
				began = time.Now()
				dockertest.Up(b, bin, dir, "pull")
				if bin.PullPolicy {
					dockertest.Up(b, bin, dir, "up", "-d", "--wait")
				} else {
					dockertest.Up(b, bin, dir, "up", "-d")
					kit.Eventually(b, time.Minute, "all are healthy", func() bool {
						out := dockertest.Docker(b, "ps", "-q", "--filter", "label=com.docker.compose.project="+filepath.Base(dir), "--filter",
							"health=healthy")
						return len(strings.Fields(out)) == services
					})
				}
				theirs += time.Since(began)
			}
			each := func(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 / float64(b.N) }
			b.ReportMetric(each(ours), "ms/update")
			b.ReportMetric(each(theirs), "ms/compose")
			b.ReportMetric(each(ours)/each(theirs), "ratio")
			b.ReportMetric(each(core), "core-cpu-ms")
			b.ReportMetric(each(plugins), "plugins-cpu-ms")
		})
	}
}
