package e2e

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"time"
)

// busyCore is a core with the data of a supervised one. A job of it runs until release.
type busyCore struct {
	*core
	answer chan struct{}
}

// busyJob is the type of that job.
const busyJob = "releases.task_sync_releases"

const busyCoreHCL = `
codehost "feed" "hub" {
  config {
    url     = "%s/{repo}.atom"
    timeout = "60s"
  }
}
service "releases" {
  codehosts = [codehost.hub]
  repos     = ["acme/one"]
}
`

// startBusyCore starts a core that reads releases of a code host which does not answer.
func (s *supervised) startBusyCore() *busyCore {
	s.t.Helper()
	b := &busyCore{answer: make(chan struct{})}
	asked := make(chan struct{}, 1)
	host := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		select {
		case asked <- struct{}{}:
		default:
		}
		select {
		case <-b.answer:
		case <-r.Context().Done():
		}
		w.WriteHeader(http.StatusNotFound)
	}))
	s.t.Cleanup(host.Close)
	b.core = startCore(s.t, fmt.Sprintf(busyCoreHCL, host.URL),
		append(s.env[:len(s.env):len(s.env)], "SVC_DATA_DIR="+filepath.Join(s.core.dir, "data"))...)
	if a := b.releasesAPI(s.t, b.user("ops@example.org", "admin"), http.MethodPost, "sync/releases?return_mode=task_id",
		""); a.status != http.StatusOK {
		s.t.Fatalf("begin a job: %d %s", a.status, a.body)
	}
	select {
	case <-asked:
	case <-time.After(patience * startWithin):
		s.t.Fatal("the job does not ask the code host")
	}
	return b
}

// release has the code host answer, so that the job ends.
func (b *busyCore) release() { close(b.answer) }

// waitsForJob waits until an upgrade waits for the job of a busy core. The former core must still run then.
func (s *supervised) waitsForJob(former string) {
	s.t.Helper()
	s.comesTo("wait_jobs")
	eventually(s.t, time.Minute, "the upgrade waits for the job", func() bool {
		return strings.Contains(s.state().Progress.Message, "1 × "+busyJob)
	})
	s.runs("while a job runs", former)
}

// withstandsWhileItWaits has a fault happen while an upgrade waits for a job of the core. The fault ends the job. The upgrade must end
// with the new core and no other, and its log must have a line.
func (s *supervised) withstandsWhileItWaits(fault func(b *busyCore, former string), line string) {
	s.t.Helper()
	const version = "2.8.0"
	b, former := s.startBusyCore(), s.image()
	s.push(s.t, "latest", answering(version))
	s.upgrade("latest", "apply")
	s.waitsForJob(former)
	fault(b, former)
	st := s.ends("succeeded")
	if logs := fmt.Sprint(st.Operations[0].Logs); st.Target.Version != version || !strings.Contains(logs, line) {
		s.t.Errorf("at wait_jobs: the core has the version %s, want %s; the log does not say %q: %s", st.Target.Version, version, line, logs)
	}
	s.runs("at wait_jobs", s.image())
	if s.image() == former {
		s.t.Error("at wait_jobs: the former image runs")
	}
	b.stop()
}
