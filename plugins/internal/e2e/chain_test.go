package e2e

import (
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// chainHCL is a chain of a web instance and a local one.
func chainHCL(url, service string) string {
	return strings.Replace(webHCL(url, "", endless+"\n"+service), "= search.web", "= [search.web, search.docs]", 1) + `
search "local" "docs" {
  config { folders = ["docs"] }
}
`
}

// pluginOf waits for the process of a plugin, such as search/local.
func (c *core) pluginOf(name string) (found int) {
	c.t.Helper()
	eventually(c.t, startWithin, "a process of "+name+" runs", func() bool {
		for _, pid := range c.plugins() {
			line, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "cmdline"))
			if err == nil && strings.Contains(string(line), name) {
				found = pid
			}
		}
		return found != 0
	})
	return found
}

func TestSecondBackendAnswersWhileTheFirstIsKilled(t *testing.T) {
	t.Parallel()
	eachStorage(t, func(t *testing.T, s storage) {
		up := startUpstream(t, "-no-history")
		c := localCore(t, s.hcl+chainHCL(up.url, ""))
		c.start()
		t.Cleanup(c.stop)
		c.addKeys("key-one")
		token := c.token()
		l := startLoad(c, token, 16)
		l.after(t, 200)
		for range 3 {
			if err := syscall.Kill(c.pluginOf("search/tavily"), syscall.SIGKILL); err != nil {
				t.Fatal(err)
			}
			l.after(t, 300)
		}
		l.stop()
		if failures := l.failures(); len(failures) > 0 {
			t.Errorf("%d requests failed: %s", len(failures), failures[0])
		}
		db := c.records(t, s)
		db.balanced(c, token)
		first, second := db.number("SELECT COUNT(*) FROM search_requests WHERE backend = 'search.web'"),
			db.number("SELECT COUNT(*) FROM search_requests WHERE backend = 'search.docs'")
		if first == 0 || second == 0 {
			t.Errorf("the first answered %d requests, the second %d", first, second)
		}
		t.Logf("three kills of the first backend: it answered %d requests, the second %d, none failed", first, second)
	})
}

func TestSecondBackendAnswersWithoutKeys(t *testing.T) {
	t.Parallel()
	up := startUpstream(t)
	c := localCore(t, chainHCL(up.url, ""))
	c.start()
	t.Cleanup(c.stop)
	token := c.token()
	contains(t, c.search(t, token, http.StatusOK).body, "guide.md")
	c.addKeys("key-one")
	eventually(t, 5*time.Second, "the first backend is asked once there is a key", func() bool {
		c.search(t, token, http.StatusOK)
		return len(up.requests()) > 0
	})
	up.script(scripted{Status: 432, Times: -1})
	contains(t, c.search(t, token, http.StatusOK).body, "guide.md")
}
