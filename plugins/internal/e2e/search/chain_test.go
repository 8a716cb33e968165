package search

import (
	"net/http"
	"syscall"
	"testing"
	"time"

	"github.com/patchbay-dev/patchbay/plugins/internal/e2e/kit"
)

func TestSecondBackendAnswersWhileTheFirstIsKilled(t *testing.T) {
	t.Parallel()
	kit.EachStorage(t, func(t *testing.T, s kit.Storage) {
		up := kit.StartUpstream(t, "-no-history")
		c := kit.LocalCore(t, s.HCL+kit.ChainHCL(up.URL, ""))
		c.Start()
		t.Cleanup(c.Stop)
		c.AddKeys("key-one")
		token := c.Token()
		l := kit.StartLoad(c, token, 16)
		l.After(t, 200)
		for range 3 {
			if err := syscall.Kill(c.PluginOf("search/tavily"), syscall.SIGKILL); err != nil {
				t.Fatal(err)
			}
			l.After(t, 300)
		}
		l.Stop()
		if failures := l.Failures(); len(failures) > 0 {
			t.Errorf("%d requests failed: %s", len(failures), failures[0])
		}
		db := c.Records(t, s)
		db.Balanced(c, token)
		first, second := db.Number("SELECT COUNT(*) FROM search_requests WHERE backend = 'search.web'"),
			db.Number("SELECT COUNT(*) FROM search_requests WHERE backend = 'search.docs'")
		if first == 0 || second == 0 {
			t.Errorf("the first answered %d requests, the second %d", first, second)
		}
		t.Logf("three kills of the first backend: it answered %d requests, the second %d, none failed", first, second)
	})
}

func TestSecondBackendAnswersWithoutKeys(t *testing.T) {
	t.Parallel()
	up := kit.StartUpstream(t)
	c := kit.LocalCore(t, kit.ChainHCL(up.URL, ""))
	c.Start()
	t.Cleanup(c.Stop)
	token := c.Token()
	kit.Contains(t, c.Search(t, token, http.StatusOK).Body, "guide.md")
	c.AddKeys("key-one")
	kit.Eventually(t, 5*time.Second, "the first backend is asked once there is a key", func() bool {
		c.Search(t, token, http.StatusOK)
		return len(up.Requests()) > 0
	})
	up.Script(kit.Scripted{Status: 432, Times: -1})
	kit.Contains(t, c.Search(t, token, http.StatusOK).Body, "guide.md")
}
