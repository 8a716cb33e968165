package supervisor

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"time"

	"github.com/patchbay-dev/patchbay/plugins/internal/e2e/kit"
)

// busyCore is a core with the data of a supervised one. A job of it runs until release.
type busyCore struct {
	*kit.Core
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
func startBusyCore(s *kit.Supervised) *busyCore {
	s.T.Helper()
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
	s.T.Cleanup(host.Close)
	b.Core = kit.StartCore(s.T, fmt.Sprintf(busyCoreHCL, host.URL),
		append(s.Env[:len(s.Env):len(s.Env)], "SVC_DATA_DIR="+filepath.Join(s.Core.Dir, "data"))...)
	if a := b.ReleasesAPI(s.T, b.User("ops@example.org", "admin"), http.MethodPost, "sync/releases?return_mode=task_id",
		""); a.Status != http.StatusOK {
		s.T.Fatalf("begin a job: %d %s", a.Status, a.Body)
	}
	select {
	case <-asked:
	case <-time.After(kit.Patience * kit.StartWithin):
		s.T.Fatal("the job does not ask the code host")
	}
	return b
}

// release has the code host answer, so that the job ends.
func (b *busyCore) release() { close(b.answer) }

// waitsForJob waits until an upgrade waits for the job of a busy core. The former core must still run then.
func waitsForJob(s *kit.Supervised, former string) {
	s.T.Helper()
	waitForUpgradeStep(s, "wait_jobs")
	kit.Eventually(s.T, time.Minute, "the upgrade waits for the job", func() bool {
		return strings.Contains(readState(s).Progress.Message, "1 × "+busyJob)
	})
	requireOneCore(s, "while a job runs", former)
}

// withstandsWhileItWaits has a fault happen while an upgrade waits for a job of the core. The fault ends the job. The upgrade must end
// with the new core and no other, and its log must have a line.
func withstandsWhileItWaits(s *kit.Supervised, fault func(b *busyCore, former string), line string) {
	s.T.Helper()
	const version = "2.8.0"
	b, former := startBusyCore(s), readImage(s)
	pushImage(s.T, s, "latest", answering(version))
	beginUpgrade(s, "latest", "apply")
	waitsForJob(s, former)
	fault(b, former)
	st := waitForState(s, "succeeded")
	if logs := fmt.Sprint(st.Operations[0].Logs); st.Target.Version != version || !strings.Contains(logs, line) {
		s.T.Errorf("at wait_jobs: the core has the version %s, want %s; the log does not say %q: %s", st.Target.Version, version, line, logs)
	}
	requireOneCore(s, "at wait_jobs", readImage(s))
	if readImage(s) == former {
		s.T.Error("at wait_jobs: the former image runs")
	}
	b.Stop()
}
