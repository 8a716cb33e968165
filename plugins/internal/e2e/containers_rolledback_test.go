package e2e

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/patchbay-dev/patchbay/plugins/internal/dockertest"
)

// TestContainersRolledBackIsLeftOut: an update that crashes is rolled back, with the last lines of its container; the update of the whole
// stack then leaves that version out and says so, the page offers to ignore it, and after that nothing is left out.
func TestContainersRolledBackIsLeftOut(t *testing.T) {
	t.Parallel()
	bin := dockertest.NewestCompose(t)
	a := startApp(t, bin, dockertest.Behaviour{Version: "1.0.0", Healthcheck: true})
	c := startCore(t, containersHCL(bin.Path, ""))
	st := c.stackNamed(t, a.project)
	web, side := st.service(t, "web"), st.service(t, "side")
	crash := a.push(t, dockertest.Behaviour{Version: "1.1.0", Crash: true})
	newSide := dockertest.App(t, a.reg, a.repo+"-side", "1", dockertest.Behaviour{Version: "side 2"})
	c.finished(t, c.beginJob(t, "/api/checks", fmt.Sprintf(`{"scope":"stack","stackId":%q}`, st.ID)), "success")
	bad := c.beginJob(t, "/api/updates", updateBody(c.service(t, web.ID), ""))
	log := ""
	for _, l := range c.finished(t, bad, "rolled_back").Logs {
		log += l.Msg + "\n"
	}
	for _, line := range []string{"version 1.1.0", "crashing as asked"} {
		if !strings.Contains(log, " | "+line+"\n") {
			t.Errorf("the line %q of the container that crashed is missing:\n%s", line, log)
		}
	}
	if web = c.service(t, web.ID); web.Candidate == nil || web.Candidate.RolledBack == nil || web.Candidate.RolledBack.JobID != bad ||
		web.Candidate.RolledBack.Error == "" {
		t.Fatalf("the candidate is %+v", web.Candidate)
	}

	target := func(id, digest string) string {
		return fmt.Sprintf(`{"serviceId":%q,"targetTag":"1","targetDigest":%q,"pullTags":[]}`, id, digest)
	}
	all := func(targets ...string) string {
		return fmt.Sprintf(`{"scope":"stack","stackId":%q,"targets":[%s]}`, st.ID, strings.Join(targets, ","))
	}
	c.api(t, http.MethodPost, "/api/updates", all(target(web.ID, crash), target(side.ID, newSide)), http.StatusBadRequest)
	_, before, _ := running(t, a.dir, "web")
	done := c.finished(t, c.beginJob(t, "/api/updates", all(target(side.ID, newSide))), "success")
	var sum struct {
		LeftOut []struct{ ServiceID, Digest, Reason, JobID string }
	}
	if err := json.Unmarshal(done.Summary, &sum); err != nil || len(sum.LeftOut) != 1 || sum.LeftOut[0].ServiceID != web.ID ||
		sum.LeftOut[0].Digest != crash || sum.LeftOut[0].Reason != "rolled_back" || sum.LeftOut[0].JobID != bad {
		t.Errorf("the summary is %s", done.Summary)
	}
	if _, after, _ := running(t, a.dir, "web"); after != before {
		t.Error("the service that was left out runs another image")
	}
	if _, _, digests := running(t, a.dir, "side"); !hasDigest(digests, newSide) {
		t.Errorf("the neighbour runs %v, want %s", digests, newSide)
	}
	c.api(t, http.MethodPost, "/api/ignores",
		fmt.Sprintf(`{"scope":{"type":"service","serviceId":%q},"match":{"kind":"digest","value":%q}}`, web.ID, crash), http.StatusOK)
	if web = c.service(t, web.ID); web.Status != "blocked" {
		t.Errorf("the ignored version is %s", web.Status)
	}
}
