package e2e

import (
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/patchbay-dev/patchbay/plugins/internal/testkit"
)

// TestBackupOfPostgres backs a core up that runs, with all of its tables, and brings it back over a database that has changed since: what
// the archive has is in use again, and what was there is kept. A core in another database begins with the same archive.
func TestBackupOfPostgres(t *testing.T) {
	t.Parallel()
	admin := os.Getenv(envPostgres)
	testkit.Require(t, "postgres", admin != "", "set "+envPostgres+" to the URL of a server on which databases may be created")
	_, err := exec.LookPath("pg_dump")
	testkit.Require(t, "postgresql-client", err == nil, "install postgresql-client")
	block := func() string { return "storage \"postgres\" {\n  url = \"" + newDatabase(t, admin) + "\"\n}\n" }
	c := localCore(t, block()+localHCL)
	c.start()
	t.Cleanup(c.stop)
	token := c.token()
	c.search(t, token, http.StatusOK)
	archive := filepath.Join(t.TempDir(), "backup.tar.gz")
	c.cli("backup", archive)
	later := c.token()
	c.search(t, later, http.StatusOK)
	if out := c.run("", "restore", "-force", archive); out.status == 0 || !strings.Contains(out.stderr, "stop the other core first") {
		t.Errorf("while the core runs: %d %s", out.status, out.stderr)
	}
	c.stop()
	if out := c.run("", "restore", archive); out.status != 2 || !strings.Contains(out.stderr, "-force replaces it") {
		t.Errorf("over a database: %d %s", out.status, out.stderr)
	}
	contains(t, c.cli("restore", "-force", archive), "Kept the old one as the schema before_restore_")
	c.start()
	c.search(t, token, http.StatusOK)
	c.search(t, later, http.StatusUnauthorized)

	other := localCore(t, block()+localHCL)
	other.cli("restore", archive)
	other.start()
	t.Cleanup(other.stop)
	other.search(t, token, http.StatusOK)
}
