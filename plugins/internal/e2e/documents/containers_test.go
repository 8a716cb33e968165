package documents

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/patchbay-dev/patchbay/plugins/internal/dockertest"
	"github.com/patchbay-dev/patchbay/plugins/internal/e2e/kit"
)

// waitingCurl makes curl fail for a call that is refused, and wait for the end of the job that a call has begun.
const waitingCurl = `curl() {
  out=$(command curl --fail-with-body "$@") || { echo "$out"; return 22; }
  echo "$out"
  job=$(grep -o '"jobId":"job_[A-Z0-9]*' <<<"$out" | head -1 | cut -d'"' -f4 || true)
  [ -n "$job" ] || return 0
  until end=$(command curl -s $B/api/jobs/$job -H "$A" | grep -oE '"status":"(success|failed|rolled_back|canceled)","reason"'); do
    sleep 0.1
  done
  [[ $end == *success* ]] || command curl -s $B/api/jobs/$job -H "$A"
}
`

var bashBlock = regexp.MustCompile("(?s)```bash\n(.*?)```")

// bashBlocks returns the commands of a document that name things of the reader's own.
func bashBlocks(t *testing.T, path string) (blocks []string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(kit.Root(), path))
	kit.Must(t, err)
	for _, m := range bashBlock.FindAllStringSubmatch(string(text), -1) {
		blocks = append(blocks, m[1])
	}
	return blocks
}

// TestContainersPageRuns runs the script of move-from-watchtower.md, which updates a stack, and the example calls of containers.md,
// which update a service and roll it back.
func TestContainersPageRuns(t *testing.T) {
	t.Parallel()
	bin := dockertest.NewestCompose(t)
	a := kit.StartApp(t, bin, dockertest.Behaviour{Version: "1.0.0", Healthcheck: true})
	c := kit.StartCore(t, kit.ContainersHCL(bin.Path, `webhook_secret = "a secret of the tests"`))
	st := c.StackNamed(t, a.Project)
	r := &reader{Core: c, t: t}
	run := func(script string) string {
		web := c.Check(t, st.Service(t, "web").ID)
		return r.shell(fmt.Sprintf("set -x\nKEY=%s\nSTACK=%s ID=%s TAG=1 DIGEST=%s SECRET='a secret of the tests'\n%s\n", c.Key, st.ID, web.ID,
			web.Candidate.Digest, waitingCurl) + script)
	}
	c.Key = strings.TrimSpace(c.User("scripts@example.com", "admin"))

	second := a.Push(t, dockertest.Behaviour{Version: "1.1.0", Healthcheck: true})
	out := run(strings.Join(bashBlocks(t, "core/docs/move-from-watchtower.md"), "\n"))
	if _, _, digests := kit.RunningImage(t, a.Dir, "web"); !kit.HasDigest(digests, second) {
		t.Errorf("the script did not update the service:\n%s", out)
	}

	a.Push(t, dockertest.Behaviour{Version: "1.2.0", Healthcheck: true})
	calls := slices.DeleteFunc(exampleCalls(t, "core/docs/containers.md"), func(call string) bool {
		return strings.Contains(call, `\"targets\"`) || strings.Contains(call, "$BACKUP")
	})
	if len(calls) < 14 {
		t.Errorf("containers.md has %d example calls", len(calls))
	}
	run(bashBlocks(t, "core/docs/containers.md")[0] + `JOB=$(command curl -s "$B/api/jobs?limit=1" -H "$A" | grep -o 'job_[A-Z0-9]*' | head -1)
` + strings.Join(calls, "\n"))
	if _, _, digests := kit.RunningImage(t, a.Dir, "web"); !kit.HasDigest(digests, second) {
		t.Errorf("the calls updated the service and rolled it back, and it runs %v, want %s", digests, second)
	}
}
