package documents

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/patchbay-dev/patchbay/plugins/internal/e2e/kit"
	"github.com/patchbay-dev/patchbay/plugins/internal/testkit"
)

// TestReplicasPageRuns goes from one core to three as replicas.md says, and runs its commands as they stand, but for addresses. What the
// core alone has stored is there at all three, and a restore is refused while they run.
func TestReplicasPageRuns(t *testing.T) {
	t.Parallel()
	database, adminAddr := kit.NewDatabase(t), testkit.FreeAddress(t)
	blocks := bashBlocks(t, "core/docs/replicas.md")
	if len(blocks) != 4 {
		t.Fatalf("replicas.md has %d blocks of commands, want 4: backup, look, drain, watch", len(blocks))
	}
	hcl := "storage \"postgres\" {}\n" + kit.LocalHCL
	c := kit.LocalCore(t, hcl, "SVC_DATABASE_URL="+database, "SVC_ADMIN_ADDR="+adminAddr)
	kit.Must(t, os.Mkdir(filepath.Join(c.Dir, "bin"), 0o700))
	kit.Must(t, os.Symlink(kit.Built.Core, filepath.Join(c.Dir, "bin", "patchbay")))
	r := &reader{Core: c, t: t}
	run := func(block string) string {
		t.Helper()
		return r.shell("PATH=$PWD/bin:$PATH\n" + strings.ReplaceAll(block, "127.0.0.1:50885", adminAddr))
	}
	c.Start()
	t.Cleanup(c.Stop)
	token := c.Token()
	lines := strings.Split(strings.TrimSpace(run(blocks[0])), "\n")
	c.Stop()

	settings := strings.NewReplacer("SVC_SECRET_KEY=…", "SVC_SECRET_KEY="+lines[len(lines)-1],
		"postgres://patchbay:…@db.internal:5432/patchbay", database).Replace(strings.TrimSpace(kit.CodeBlock(t, "replicas.md", "ini")))
	c.Env = append(c.Env, strings.Split(settings, "\n")...)
	c.Start()
	cores := []*kit.Core{c}
	for _, name := range []string{"core-2", "core-3"} {
		other := kit.LocalCore(t, hcl, strings.Split(strings.Replace(settings, "=core-1", "="+name, 1), "\n")...)
		other.Start()
		t.Cleanup(other.Stop)
		cores = append(cores, other)
	}
	for _, each := range cores {
		each.Search(t, token, 200)
	}
	list := run(blocks[1])
	for i := range cores {
		kit.Contains(t, list, fmt.Sprintf("core-%d ", i+1))
	}
	if strings.Count(list, " running ") != 3 || !strings.Contains(list, `"ready":true`) {
		t.Errorf("the three cores are not running and ready:\n%s", list)
	}
	kit.Contains(t, run(blocks[2]), "core-2 takes no new work", "JOBS", "draining", "core-2 takes work again")
	for _, command := range []string{"drain", "resume"} {
		kit.Contains(t, cores[2].CLI("node", command), "core-3 takes ")
	}
	kit.Contains(t, run(blocks[3]), `patchbay_nodes{state="running"} 3`, "patchbay_node_draining 0")

	if out := c.Run("", "restore", "-force", "before-replicas.tar.gz"); out.Status == 0 || !strings.Contains(out.Stderr, "stop the other core first") {
		t.Errorf("restore while three cores run: status %d: %s%s", out.Status, out.Stdout, out.Stderr)
	}
}
