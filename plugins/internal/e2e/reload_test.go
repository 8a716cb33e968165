package e2e

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"
)

// bothHCL has a web instance and a local one; the service uses the one named.
func bothHCL(url, backend string) string {
	return strings.Replace(webHCL(url, "", endless), "search.web", backend, 1) + `
search "local" "docs" {
  config { folders = ["docs"] }
}
`
}

func TestBackendIsSwappedUnderLoadWithoutLosingARequest(t *testing.T) {
	up := startUpstream(t, "-no-history")
	c := localCore(t, bothHCL(up.url, "search.docs"))
	c.start()
	t.Cleanup(c.stop)
	c.addKeys("key-one")
	token := c.token()
	l := startLoad(c, token, 16)
	began, swaps := time.Now(), 0
	for time.Since(began) < 3*time.Second {
		for _, backend := range []string{"search.web", "search.docs"} {
			c.configure(bothHCL(up.url, backend))
			c.hup()
			swaps++
			l.after(t, 50)
		}
	}
	total := l.stop()
	l.lost(t)
	t.Logf("%d requests of 16 clients, %d swaps in %s, none lost", total, swaps, time.Since(began).Round(time.Millisecond))
	db := c.records(t, storage{})
	if n := db.balanced(c, token).HourlyRequests; int(n) != total {
		t.Errorf("%d requests were counted, %d were sent", n, total)
	}
	for _, backend := range []string{"search.web", "search.docs"} {
		if db.number("SELECT COUNT(*) FROM search_requests WHERE backend = '"+backend+"'") < 50 {
			t.Errorf("%s answered less than 50 requests", backend)
		}
	}
	if n := len(c.plugins()); n != 2 {
		t.Errorf("%d plugin processes run, want 2", n)
	}
}

func TestInstancesComeAndGoUnderLoadWithoutLosingARequest(t *testing.T) {
	first, second := startUpstream(t, "-no-history"), startUpstream(t, "-no-history")
	c := localCore(t, webHCL(first.url, "", endless))
	c.start()
	t.Cleanup(c.stop)
	c.addKeys("key-one")
	token := c.token()
	l := startLoad(c, token, 16)
	docs := "search \"local\" \"docs\" {\n  config { folders = [\"docs\"] }\n}\n"
	configurations := []string{
		webHCL(second.url, "", endless),                                              // the instance changes
		docs + "service \"search\" {\n  backend = search.docs\n" + endless + "\n}\n", // it goes, and its plugin with it
		docs + webHCL(first.url, `timeout = "30s"`, endless),
		strings.NewReplacer(`"web"`, `"other"`, "search.web", "search.other").Replace(webHCL(first.url, "", endless)),
	}
	began := time.Now()
	for time.Since(began) < 3*time.Second {
		for _, hcl := range configurations {
			c.configure(hcl)
			c.hup()
			l.after(t, 50)
		}
	}
	l.stop()
	l.lost(t)
	if strings.Contains(c.logs(), "reload failed") {
		t.Error("a reload was refused")
	}
	c.records(t, storage{}).balanced(c, token)
}

func TestBrokenConfigurationIsNotTakenIn(t *testing.T) {
	t.Parallel()
	up := startUpstream(t)
	c := localCore(t, bothHCL(up.url, "search.docs"))
	c.start()
	t.Cleanup(c.stop)
	token := c.token()
	pids := c.plugins()
	for name, hcl := range map[string]string{
		"syntax":            "service \"search\" {\n",
		"unknown backend":   strings.Replace(bothHCL(up.url, "search.docs"), "search.docs", "search.nowhere", 1),
		"unknown attribute": strings.Replace(bothHCL(up.url, "search.docs"), "base_url", "base_ulr", 1),
		"plugin's own":      bothHCL("ftp://example.org", "search.docs"),
		"service gone":      "search \"local\" \"docs\" {\n  config { folders = [\"docs\"] }\n}\n",
		"empty folders":     strings.Replace(bothHCL(up.url, "search.docs"), `["docs"]`, `[]`, 1),
	} {
		t.Run(name, func(t *testing.T) {
			before := len(c.logs())
			c.configure(hcl)
			c.hup()
			said := c.logs()[before:]
			contains(t, said, "keeping the running configuration")
			if name != "service gone" {
				contains(t, said, "Error: ", "plugin.hcl line ")
			}
			c.search(t, token, http.StatusOK)
			if now := c.plugins(); fmt.Sprint(now) != fmt.Sprint(pids) {
				t.Errorf("plugin processes %v, before %v", now, pids)
			}
		})
	}
	c.configure(bothHCL(up.url, "search.web"))
	c.hup()
	c.addKeys("key-one")
	c.search(t, token, http.StatusOK)
	if n := len(up.requests()); n != 1 {
		t.Errorf("%d requests went upstream, want 1", n)
	}
}

func TestChangedSettingsTakeEffect(t *testing.T) {
	t.Parallel()
	c, up, token := startWeb(t, "", "limits {\n requests_hour = 2\n }")
	c.search(t, token, http.StatusOK)
	c.search(t, token, http.StatusOK)
	c.search(t, token, http.StatusTooManyRequests)
	c.configure(webHCL(up.url, "", "limits {\n requests_hour = 4\n }"))
	c.hup()
	if used := c.usage(t, token); used.HourlyRequestsLimit != 4 || used.HourlyRequests != 2 {
		t.Errorf("usage %+v", used)
	}
	c.search(t, token, http.StatusOK)
	other := startUpstream(t)
	c.configure(webHCL(other.url, `project = "blue"`, "base_url = \"/find\"\n"))
	c.hup()
	c.search(t, token, http.StatusNotFound)
	a := c.send(t, request{path: "/find/api/proxy/search", token: token, body: `{"query":"q"}`})
	if a.status != http.StatusOK || len(other.requests()) != 1 || other.requests()[0].Header.Get("X-Project-Id") != "blue" {
		t.Errorf("status %d: %s; the other upstream got %d requests", a.status, a.body, len(other.requests()))
	}
	c.configure("core {\n  http_addr = \"127.0.0.1:1\"\n}\n" + webHCL(other.url, "", ""))
	c.hup()
	c.search(t, token, http.StatusOK)
}

func TestReloadDoesNotDisturbAStream(t *testing.T) {
	t.Parallel()
	c, s, resp, token := streamed(t, t.Context())
	up := startUpstream(t)
	s.send(t, "data: 1\n\n")
	c.configure(webHCL(up.url, "", roomy))
	c.hup()
	c.search(t, token, http.StatusOK)
	s.send(t, "data: 2\n\n")
	close(s.events)
	got, err := io.ReadAll(resp.Body)
	if err != nil || string(got) != "data: 1\n\ndata: 2\n\n" {
		t.Errorf("the stream: %v: %q", err, got)
	}
	c.records(t, storage{}).balanced(c, token)
}
