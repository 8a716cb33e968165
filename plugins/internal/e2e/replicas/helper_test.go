package replicas

import (
	"crypto/rand"
	"encoding/base64"
	"fmt"
	"os"
	"testing"

	"github.com/patchbay-dev/patchbay/plugins/internal/e2e/kit"
	"github.com/patchbay-dev/patchbay/plugins/internal/testkit"
)

// newKey returns a master key.
func newKey() string {
	raw := make([]byte, 32)
	_, _ = rand.Read(raw)
	return base64.StdEncoding.EncodeToString(raw)
}

// newCluster returns what the cores of a new database have in common.
func newCluster(t *testing.T) (hcl string, env []string) {
	t.Helper()
	admin := os.Getenv(kit.EnvPostgres)
	testkit.Require(t, "postgres", admin != "", "set "+kit.EnvPostgres+" to the URL of a server on which databases may be created")
	hcl = "storage \"postgres\" {\n  url = \"" + kit.NewDatabase(t, admin) + "\"\n  replicas = true\n}\n" + kit.LocalHCL + kit.MailHCL
	return hcl, []string{"SVC_SECRET_KEY=" + newKey()}
}

// startCores runs cores on one database until the test ends. Their ids are core-1, core-2 and so on.
func startCores(t *testing.T, count int) (cores []*kit.Core) {
	t.Helper()
	hcl, env := newCluster(t)
	for i := range count {
		c := kit.LocalCore(t, hcl, append([]string{fmt.Sprintf("SVC_NODE_ID=core-%d", i+1)}, env...)...)
		c.Start()
		t.Cleanup(func() {
			c.Stop()
			if t.Failed() {
				t.Logf("log of core-%d:\n%s", i+1, kit.LastLines(c.Logs(), 40))
			}
		})
		cores = append(cores, c)
	}
	return cores
}
