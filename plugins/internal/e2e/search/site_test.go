package search

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/patchbay-dev/patchbay/plugins/internal/e2e/kit"
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

// siteHCL is kit.LocalHCL with a site that its guard lets pass, and more settings.
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
	kit.EachStorage(t, func(t *testing.T, s kit.Storage) {
		url := site(t)
		c := kit.LocalCore(t, s.HCL+siteHCL(url, ""))
		c.Start()
		t.Cleanup(c.Stop)
		token, other := c.Token(), c.Token()
		a := c.Post(t, token, "research", `{"input":"Who starts a crashed plugin again?","model":"mini"}`)
		if a.Status != http.StatusOK {
			t.Fatalf("status %d: %s", a.Status, a.Body)
		}
		id := kit.Decode[researchAnswer](t, a.Body).RequestID
		get := func(token string) kit.Answer {
			return c.Send(t, kit.Request{Method: http.MethodGet, Path: "research/" + id, Token: token})
		}
		var report struct {
			Status, Content string
			Sources         []struct{ URL, Title string }
		}
		kit.Eventually(t, kit.StartWithin, "the research ends", func() bool {
			a := get(token)
			if a.Status != http.StatusOK && a.Status != http.StatusAccepted {
				t.Fatalf("status %d: %s", a.Status, a.Body)
			}
			report = kit.Decode[struct {
				Status, Content string
				Sources         []struct{ URL, Title string }
			}](t, a.Body)
			return a.Status == http.StatusOK
		})
		if report.Status != "completed" || len(report.Sources) != 1 || report.Sources[0].URL != "file:docs/guide.md" {
			t.Errorf("report %+v", report)
		}
		kit.Contains(t, report.Content, "A plugin that crashes is started again by its host")
		get(other).Refused(t, http.StatusNotFound, "research_request_not_found")
		get("").Refused(t, http.StatusUnauthorized, "unauthorized")
		if used := c.Usage(t, other); used.HourlyRequests != 0 {
			t.Errorf("a foreign id was counted: %+v", used)
		}
		c.Records(t, s).Balanced(c, token)
		// The backend keeps reports in memory: after a restart it says itself that there is none.
		c.Restart()
		if a := get(token); a.Status != http.StatusNotFound {
			t.Errorf("after a restart: status %d: %s", a.Status, a.Body)
		}
	})
}
