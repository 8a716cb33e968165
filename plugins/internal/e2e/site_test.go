package e2e

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// site is a small web site whose robots.txt forbids a part of it.
func site(t testing.TB) (url string) {
	t.Helper()
	pages := map[string]string{
		"/robots.txt":    "User-agent: *\nDisallow: /private",
		"/":              `<title>Harbour</title><h1>Harbour</h1><p>Start of the harbour's pages.</p><a href="/cranes">Cranes</a> <a href="/private/plans">Plans</a>`,
		"/cranes":        `<title>Cranes</title><h1>Cranes</h1><p>The crane lifts forty tons of freight.</p><a href="/">back</a>`,
		"/private/plans": `<p>confidential</p>`,
	}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		page, ok := pages[r.URL.Path]
		if !ok {
			w.WriteHeader(http.StatusNotFound)
			return
		}
		if strings.HasPrefix(r.URL.Path, "/private") {
			t.Errorf("%s was asked for although robots.txt forbids it", r.URL.Path)
		}
		if r.URL.Path != "/robots.txt" {
			w.Header().Set("Content-Type", "text/html; charset=utf-8")
		}
		_, _ = io.WriteString(w, page)
	}))
	t.Cleanup(srv.Close)
	return srv.URL
}

// siteHCL is localHCL with a site that its guard lets pass, and more settings.
func siteHCL(url, settings string) string {
	return fmt.Sprintf(`
search "local" "docs" {
  config {
    folders     = ["docs"]
    allow_hosts = [%q]
    %s
  }
}
service "search" {
  backend = search.docs
}
`, strings.TrimPrefix(url, "http://"), settings)
}

// A research of the backend that needs no account belongs to its token, and ends in a report.
func TestResearchOfTheLocalBackend(t *testing.T) {
	t.Parallel()
	eachStorage(t, func(t *testing.T, s storage) {
		url := site(t)
		c := localCore(t, s.hcl+siteHCL(url, ""))
		c.start()
		t.Cleanup(c.stop)
		token, other := c.token(), c.token()
		a := c.post(t, token, "research", `{"input":"Who starts a crashed plugin again?","model":"mini"}`)
		if a.status != http.StatusOK {
			t.Fatalf("status %d: %s", a.status, a.body)
		}
		id := decode[researchAnswer](t, a.body).RequestID
		get := func(token string) answer {
			return c.send(t, request{method: http.MethodGet, path: "research/" + id, token: token})
		}
		var report struct {
			Status, Content string
			Sources         []struct{ URL, Title string }
		}
		eventually(t, startWithin, "the research ends", func() bool {
			a := get(token)
			if a.status != http.StatusOK && a.status != http.StatusAccepted {
				t.Fatalf("status %d: %s", a.status, a.body)
			}
			report = decode[struct {
				Status, Content string
				Sources         []struct{ URL, Title string }
			}](t, a.body)
			return a.status == http.StatusOK
		})
		if report.Status != "completed" || len(report.Sources) != 1 || report.Sources[0].URL != "file:docs/guide.md" {
			t.Errorf("report %+v", report)
		}
		contains(t, report.Content, "A plugin that crashes is started again by its host")
		get(other).refused(t, http.StatusNotFound, "research_request_not_found")
		get("").refused(t, http.StatusUnauthorized, "unauthorized")
		if used := c.usage(t, other); used.HourlyRequests != 0 {
			t.Errorf("a foreign id was counted: %+v", used)
		}
		c.records(t, s).balanced(c, token)
		// The backend keeps reports in memory: after a restart it says itself that there is none.
		c.restart()
		if a := get(token); a.status != http.StatusNotFound {
			t.Errorf("after a restart: status %d: %s", a.status, a.body)
		}
	})
}
