package core

import (
	"net/http"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/patchbay-dev/patchbay/plugins/internal/e2e/kit"
	"github.com/patchbay-dev/patchbay/plugins/internal/testkit"
)

// TestBackupOfPostgres backs a core up that runs, with all of its tables, and brings it back over a database that has changed since: what
// the archive has is in use again, and what was there is kept. A core in another database begins with the same archive.
func TestBackupOfPostgres(t *testing.T) {
	t.Parallel()
	_, err := exec.LookPath("pg_dump")
	testkit.Require(t, "postgresql-client", err == nil, "install postgresql-client")
	block := func() string { return "storage \"postgres\" {\n  url = \"" + kit.NewDatabase(t) + "\"\n}\n" }
	c := kit.LocalCore(t, block()+kit.LocalHCL)
	c.Start()
	t.Cleanup(c.Stop)
	token := c.Token()
	c.Search(t, token, http.StatusOK)
	archive := filepath.Join(t.TempDir(), "backup.tar.gz")
	c.CLI("backup", archive)
	later := c.Token()
	c.Search(t, later, http.StatusOK)
	if out := c.Run("", "restore", "-force", archive); out.Status == 0 || !strings.Contains(out.Stderr, "stop the other core first") {
		t.Errorf("while the core runs: %d %s", out.Status, out.Stderr)
	}
	c.Stop()
	if out := c.Run("", "restore", archive); out.Status != 2 || !strings.Contains(out.Stderr, "-force replaces it") {
		t.Errorf("over a database: %d %s", out.Status, out.Stderr)
	}
	kit.Contains(t, c.CLI("restore", "-force", archive), "Kept the old one as the schema before_restore_")
	c.Start()
	c.Search(t, token, http.StatusOK)
	c.Search(t, later, http.StatusUnauthorized)

	other := kit.LocalCore(t, block()+kit.LocalHCL)
	other.CLI("restore", archive)
	other.Start()
	t.Cleanup(other.Stop)
	other.Search(t, token, http.StatusOK)
}
