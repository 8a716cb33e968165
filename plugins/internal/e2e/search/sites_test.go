package search

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/patchbay-dev/patchbay/plugins/internal/e2e/kit"
)

// A site is an index source like files: its pages are found, stay through a restart and while the site is down, and
// /readyz tells what is wrong.
func TestSiteAsIndexSource(t *testing.T) {
	t.Parallel()
	var down atomic.Bool
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if down.Load() {
			w.WriteHeader(http.StatusBadGateway)
			return
		}
		w.Header().Set("Content-Type", "text/html")
		_, _ = io.WriteString(w, `<title>Tides</title><h1>Tides</h1><p>High water comes twice a day.</p>`)
	}))
	t.Cleanup(srv.Close)
	c := kit.LocalCore(t, siteHCL(srv.URL, fmt.Sprintf("sites = [%q]\n    refresh = \"1s\"", srv.URL)))
	c.Start()
	t.Cleanup(c.Stop)
	token := c.Token()
	found := func() bool {
		return strings.Contains(c.Post(t, token, "search", `{"query":"high water"}`).Body, `"url":"`+srv.URL+`/"`)
	}
	kit.Eventually(t, kit.StartWithin, "the site is indexed", found)
	down.Store(true)
	kit.Eventually(t, kit.StartWithin, "the state of the instance tells", func() bool {
		return strings.Contains(readReadiness(t, c), "degraded: site "+srv.URL+"/: robots.txt of the host cannot be had")
	})
	c.Restart()
	if !found() {
		t.Error("the pages are gone after a restart while the site is down")
	}
	down.Store(false)
	kit.Eventually(t, kit.StartWithin, "the state is good again", func() bool { return !strings.Contains(readReadiness(t, c), "degraded") })
}

// readReadiness returns what the core says of the state of its parts.
func readReadiness(t *testing.T, c *kit.Core) string {
	t.Helper()
	resp, err := kit.HTTPClient.Get(c.Admin + "/readyz")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(body)
}
