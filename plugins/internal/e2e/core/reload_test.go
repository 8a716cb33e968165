package core

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/patchbay-dev/patchbay/plugins/internal/e2e/kit"
)

// bothHCL has a web instance and a local one; the service uses the one named.
func bothHCL(url, backend string) string {
	return strings.Replace(kit.WebHCL(url, "", kit.EndlessLimits), "search.web", backend, 1) + `
search "local" "docs" {
  config { folders = ["docs"] }
}
`
}

func TestBackendIsSwappedUnderLoadWithoutLosingARequest(t *testing.T) {
	up := kit.StartUpstream(t, "-no-history")
	c := kit.LocalCore(t, bothHCL(up.URL, "search.docs"))
	c.Start()
	t.Cleanup(c.Stop)
	c.AddKeys("key-one")
	token := c.Token()
	l := kit.StartLoad(c, token, 16)
	began, swaps := time.Now(), 0
	for time.Since(began) < 3*time.Second {
		for _, backend := range []string{"search.web", "search.docs"} {
			c.Configure(bothHCL(up.URL, backend))
			c.Reload()
			swaps++
			l.After(t, 50)
		}
	}
	total := l.Stop()
	requireNoFailure(t, l)
	t.Logf("%d requests of 16 clients, %d swaps in %s, none lost", total, swaps, time.Since(began).Round(time.Millisecond))
	db := c.Records(t, kit.Storage{})
	if n := db.Balanced(c, token).HourlyRequests; int(n) != total {
		t.Errorf("%d requests were counted, %d were sent", n, total)
	}
	for _, backend := range []string{"search.web", "search.docs"} {
		if db.Number("SELECT COUNT(*) FROM search_requests WHERE backend = '"+backend+"'") < 50 {
			t.Errorf("%s answered less than 50 requests", backend)
		}
	}
	if n := len(c.Plugins()); n != 2 {
		t.Errorf("%d plugin processes run, want 2", n)
	}
}

func TestInstancesComeAndGoUnderLoadWithoutLosingARequest(t *testing.T) {
	first, second := kit.StartUpstream(t, "-no-history"), kit.StartUpstream(t, "-no-history")
	c := kit.LocalCore(t, kit.WebHCL(first.URL, "", kit.EndlessLimits))
	c.Start()
	t.Cleanup(c.Stop)
	c.AddKeys("key-one")
	token := c.Token()
	l := kit.StartLoad(c, token, 16)
	docs := "search \"local\" \"docs\" {\n  config { folders = [\"docs\"] }\n}\n"
	configurations := []string{
		kit.WebHCL(second.URL, "", kit.EndlessLimits),                                          // the instance changes
		docs + "service \"search\" {\n  backend = search.docs\n" + kit.EndlessLimits + "\n}\n", // it goes, and its plugin with it
		docs + kit.WebHCL(first.URL, `timeout = "30s"`, kit.EndlessLimits),
		strings.NewReplacer(`"web"`, `"other"`, "search.web", "search.other").Replace(kit.WebHCL(first.URL, "", kit.EndlessLimits)),
	}
	began := time.Now()
	for time.Since(began) < 3*time.Second {
		for _, hcl := range configurations {
			c.Configure(hcl)
			c.Reload()
			l.After(t, 50)
		}
	}
	l.Stop()
	requireNoFailure(t, l)
	if strings.Contains(c.Logs(), "reload failed") {
		t.Error("a reload was refused")
	}
	c.Records(t, kit.Storage{}).Balanced(c, token)
}

func TestBrokenConfigurationIsNotTakenIn(t *testing.T) {
	t.Parallel()
	up := kit.StartUpstream(t)
	c := kit.LocalCore(t, bothHCL(up.URL, "search.docs"))
	c.Start()
	t.Cleanup(c.Stop)
	token := c.Token()
	pids := c.Plugins()
	for name, hcl := range map[string]string{
		"syntax":            "service \"search\" {\n",
		"unknown backend":   strings.Replace(bothHCL(up.URL, "search.docs"), "search.docs", "search.nowhere", 1),
		"unknown attribute": strings.Replace(bothHCL(up.URL, "search.docs"), "base_url", "base_ulr", 1),
		"plugin's own":      bothHCL("ftp://example.org", "search.docs"),
		"service gone":      "search \"local\" \"docs\" {\n  config { folders = [\"docs\"] }\n}\n",
		"empty folders":     strings.Replace(bothHCL(up.URL, "search.docs"), `["docs"]`, `[]`, 1),
	} {
		t.Run(name, func(t *testing.T) {
			before := len(c.Logs())
			c.Configure(hcl)
			c.Reload()
			said := c.Logs()[before:]
			kit.Contains(t, said, "keeping the running configuration")
			if name != "service gone" {
				kit.Contains(t, said, "Error: ", "plugin.hcl line ")
			}
			c.Search(t, token, http.StatusOK)
			if now := c.Plugins(); fmt.Sprint(now) != fmt.Sprint(pids) {
				t.Errorf("plugin processes %v, before %v", now, pids)
			}
		})
	}
	c.Configure(bothHCL(up.URL, "search.web"))
	c.Reload()
	c.AddKeys("key-one")
	c.Search(t, token, http.StatusOK)
	if n := len(up.Requests()); n != 1 {
		t.Errorf("%d requests went upstream, want 1", n)
	}
}

func TestChangedSettingsTakeEffect(t *testing.T) {
	t.Parallel()
	c, up, token := kit.StartWeb(t, "", "limits {\n requests_hour = 2\n }")
	c.Search(t, token, http.StatusOK)
	c.Search(t, token, http.StatusOK)
	c.Search(t, token, http.StatusTooManyRequests)
	c.Configure(kit.WebHCL(up.URL, "", "limits {\n requests_hour = 4\n }"))
	c.Reload()
	if used := c.Usage(t, token); used.HourlyRequestsLimit != 4 || used.HourlyRequests != 2 {
		t.Errorf("usage %+v", used)
	}
	c.Search(t, token, http.StatusOK)
	other := kit.StartUpstream(t)
	c.Configure(kit.WebHCL(other.URL, `project = "blue"`, "base_url = \"/find\"\n"))
	c.Reload()
	c.Search(t, token, http.StatusNotFound)
	a := c.Send(t, kit.Request{Path: "/find/api/proxy/search", Token: token, Body: `{"query":"q"}`})
	if a.Status != http.StatusOK || len(other.Requests()) != 1 || other.Requests()[0].Header.Get("X-Project-Id") != "blue" {
		t.Errorf("status %d: %s; the other upstream got %d requests", a.Status, a.Body, len(other.Requests()))
	}
	c.Configure("core {\n  http_addr = \"127.0.0.1:1\"\n}\n" + kit.WebHCL(other.URL, "", ""))
	c.Reload()
	c.Search(t, token, http.StatusOK)
}

func TestReloadDoesNotDisturbAStream(t *testing.T) {
	t.Parallel()
	c, s, resp, token := kit.OpenResearchStream(t, t.Context())
	up := kit.StartUpstream(t)
	s.Send(t, "data: 1\n\n")
	c.Configure(kit.WebHCL(up.URL, "", kit.RoomyLimits))
	c.Reload()
	c.Search(t, token, http.StatusOK)
	s.Send(t, "data: 2\n\n")
	close(s.Events)
	got, err := io.ReadAll(resp.Body)
	if err != nil || string(got) != "data: 1\n\ndata: 2\n\n" {
		t.Errorf("the stream: %v: %q", err, got)
	}
	c.Records(t, kit.Storage{}).Balanced(c, token)
}
