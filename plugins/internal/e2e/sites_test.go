package e2e

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
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
	c := localCore(t, siteHCL(srv.URL, fmt.Sprintf("sites = [%q]\n    refresh = \"1s\"", srv.URL)))
	c.start()
	t.Cleanup(c.stop)
	token := c.token()
	found := func() bool {
		return strings.Contains(c.post(t, token, "search", `{"query":"high water"}`).body, `"url":"`+srv.URL+`/"`)
	}
	eventually(t, startWithin, "the site is indexed", found)
	down.Store(true)
	eventually(t, startWithin, "the state of the instance tells", func() bool {
		return strings.Contains(c.readyz(t), "degraded: site "+srv.URL+"/: robots.txt of the host cannot be had")
	})
	c.restart()
	if !found() {
		t.Error("the pages are gone after a restart while the site is down")
	}
	down.Store(false)
	eventually(t, startWithin, "the state is good again", func() bool { return !strings.Contains(c.readyz(t), "degraded") })
}

// readyz returns what the core says of the state of its parts.
func (c *core) readyz(t *testing.T) string {
	t.Helper()
	resp, err := http1.Get(c.admin + "/readyz")
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
