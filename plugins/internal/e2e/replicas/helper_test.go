package replicas

import (
	"database/sql"
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"

	_ "github.com/jackc/pgx/v5/stdlib" // the driver of the database

	"github.com/patchbay-dev/patchbay/plugins/internal/e2e/kit"
	"github.com/patchbay-dev/patchbay/plugins/internal/testkit"
)

// isWhole reports whether the tests run in their long form, for which make replicas asks.
var isWhole = os.Getenv("PATCHBAY_TEST_REPLICAS") == "all"

// choose returns how much of something a test does, in its long or its short form.
func choose(long, short int) int {
	if isWhole {
		return long
	}
	return short
}

// setup is what the cores of one database have in common.
type setup struct {
	// url is the database's.
	url string
	env []string
}

// newSetup makes a database.
func newSetup(t *testing.T) setup {
	t.Helper()
	return setup{kit.NewDatabase(t), []string{kit.NewMasterKey()}}
}

// storageBlock returns the block of a database that several cores use.
func storageBlock(settings ...string) string {
	return "storage \"postgres\" {\n  replicas = true\n  " + strings.Join(settings, "\n  ") + "\n}\n"
}

// newCore prepares a core; storage are the settings of the database.
func (s setup) newCore(t *testing.T, id string, storage ...string) *kit.Core {
	t.Helper()
	services := strings.Replace(kit.LocalHCL, "backend = search.docs\n", "backend = search.docs\n"+kit.EndlessLimits+"\n", 1) + kit.MailHCL
	return kit.LocalCore(t, storageBlock(storage...)+services, append([]string{"SVC_NODE_ID=" + id, "SVC_HTTP_ADDR=" + testkit.FreeAddress(t)},
		s.env...)...)
}

// start runs a core until the test ends.
func start(t *testing.T, c *kit.Core) *kit.Core {
	t.Helper()
	c.Start()
	t.Cleanup(func() {
		c.Stop()
		if t.Failed() {
			t.Logf("log of a core in %s:\n%s", c.Dir, kit.LastLines(c.Logs(), 40))
		}
	})
	return c
}

// startCores runs cores on one database until the test ends. Their ids are core-1, core-2 and so on.
func startCores(t *testing.T, s setup, count int) (cores []*kit.Core) {
	t.Helper()
	for i := range count {
		cores = append(cores, start(t, s.newCore(t, fmt.Sprintf("core-%d", i+1), fmt.Sprintf("url = %q", s.url))))
	}
	return cores
}

// openDatabase opens the database of the cores.
func openDatabase(t *testing.T, s setup) *sql.DB {
	t.Helper()
	db, err := sql.Open("pgx", s.url)
	kit.Must(t, err)
	t.Cleanup(func() { _ = db.Close() })
	return db
}

// knownToken makes a token and waits until all cores know it.
func knownToken(t *testing.T, cores []*kit.Core, args ...string) string {
	t.Helper()
	token := cores[0].CLI(append([]string{"token", "create", "-note", "test"}, args...)...)
	for _, c := range cores {
		kit.Eventually(t, kit.StartWithin, "the token is known", func() bool {
			a, err := c.Try(kit.Request{Method: http.MethodGet, Path: "usage", Token: token})
			return err == nil && a.Status == http.StatusOK
		})
	}
	return token
}

// startNginx runs nginx in front of cores and returns it as if it was a core.
func startNginx(t *testing.T, cores []*kit.Core) *kit.Core {
	t.Helper()
	address, upstream := testkit.FreeAddress(t), ""
	for _, c := range cores {
		upstream += "  server " + strings.TrimPrefix(c.Base, "http://") + " max_fails=1 fail_timeout=2s;\n"
	}
	conf := "upstream patchbay {\n" + upstream + "}\nserver {\n  listen " + address + `;
  location / {
    proxy_pass http://patchbay;
    proxy_http_version 1.1;
    proxy_set_header Host $http_host;
    proxy_buffering off;
    proxy_connect_timeout 2s;
    proxy_read_timeout 3600s;
  }
}
`
	kit.StartProxy(t, http.DefaultClient, "http://"+address+"/system/api/meta", kit.NginxCommand(t, t.TempDir(), conf))
	return &kit.Core{T: t, Base: "http://" + address, Key: cores[0].Key}
}
