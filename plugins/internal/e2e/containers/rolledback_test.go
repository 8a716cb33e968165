package containers

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/patchbay-dev/patchbay/plugins/internal/dockertest"
	"github.com/patchbay-dev/patchbay/plugins/internal/e2e/kit"
)

// TestContainersRolledBackIsLeftOut: an update that crashes is rolled back, with the last lines of its container; the update of the whole
// stack then leaves that version out and says so, the page offers to ignore it, and after that nothing is left out.
func TestContainersRolledBackIsLeftOut(t *testing.T) {
	t.Parallel()
	bin := dockertest.NewestCompose(t)
	a := kit.StartApp(t, bin, dockertest.Behaviour{Version: "1.0.0", Healthcheck: true})
	c := kit.StartCore(t, kit.ContainersHCL(bin.Path, ""))
	st := c.StackNamed(t, a.Project)
	web, side := st.Service(t, "web"), st.Service(t, "side")
	crash := a.Push(t, dockertest.Behaviour{Version: "1.1.0", Crash: true})
	newSide := dockertest.App(t, a.Reg, a.Repo+"-side", "1", dockertest.Behaviour{Version: "side 2"})
	c.Finished(t, c.BeginJob(t, "/api/checks", fmt.Sprintf(`{"scope":"stack","stackId":%q}`, st.ID)), "success")
	bad := c.BeginJob(t, "/api/updates", kit.UpdateBody(c.Service(t, web.ID), ""))
	log := ""
	for _, l := range c.Finished(t, bad, "rolled_back").Logs {
		log += l.Msg + "\n"
	}
	for _, line := range []string{"version 1.1.0", "crashing as asked"} {
		if !strings.Contains(log, " | "+line+"\n") {
			t.Errorf("the line %q of the container that crashed is missing:\n%s", line, log)
		}
	}
	if web = c.Service(t, web.ID); web.Candidate == nil || web.Candidate.RolledBack == nil || web.Candidate.RolledBack.JobID != bad ||
		web.Candidate.RolledBack.Error == "" {
		t.Fatalf("the candidate is %+v", web.Candidate)
	}

	target := func(id, digest string) string {
		return fmt.Sprintf(`{"serviceId":%q,"targetTag":"1","targetDigest":%q,"pullTags":[]}`, id, digest)
	}
	all := func(targets ...string) string {
		return fmt.Sprintf(`{"scope":"stack","stackId":%q,"targets":[%s]}`, st.ID, strings.Join(targets, ","))
	}
	c.API(t, http.MethodPost, "/api/updates", all(target(web.ID, crash), target(side.ID, newSide)), http.StatusBadRequest)
	_, before, _ := kit.RunningImage(t, a.Dir, "web")
	done := c.Finished(t, c.BeginJob(t, "/api/updates", all(target(side.ID, newSide))), "success")
	var sum struct {
		LeftOut []struct{ ServiceID, Digest, Reason, JobID string }
	}
	if err := json.Unmarshal(done.Summary, &sum); err != nil || len(sum.LeftOut) != 1 || sum.LeftOut[0].ServiceID != web.ID ||
		sum.LeftOut[0].Digest != crash || sum.LeftOut[0].Reason != "rolled_back" || sum.LeftOut[0].JobID != bad {
		t.Errorf("the summary is %s", done.Summary)
	}
	if _, after, _ := kit.RunningImage(t, a.Dir, "web"); after != before {
		t.Error("the service that was left out runs another image")
	}
	if _, _, digests := kit.RunningImage(t, a.Dir, "side"); !kit.HasDigest(digests, newSide) {
		t.Errorf("the neighbour runs %v, want %s", digests, newSide)
	}
	c.API(t, http.MethodPost, "/api/ignores",
		fmt.Sprintf(`{"scope":{"type":"service","serviceId":%q},"match":{"kind":"digest","value":%q}}`, web.ID, crash), http.StatusOK)
	if web = c.Service(t, web.ID); web.Status != "blocked" {
		t.Errorf("the ignored version is %s", web.Status)
	}
}
