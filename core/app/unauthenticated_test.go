package app

import (
	"bytes"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/patchbay-dev/patchbay/core/httpd"
)

// TestRoutesThatCheckTheCallerThemselves walks the table of routes: with no budget left, no handler that checks its caller itself reads the
// body of somebody it does not know, keeps anything of it, or takes a large one whose sender has no token in the header.
func TestRoutesThatCheckTheCallerThemselves(t *testing.T) {
	a := startApp(t, nil)
	mounts, err := a.buildMounts(a.set)
	must(t, err)
	if reason := a.bodies.Reserve("127.0.0.1", httpd.DefaultBodyBudgetEach-100); reason != "" {
		t.Fatal(reason)
	}
	before := dataFiles(t, a.set.DataDir)
	walked := 0
	for _, m := range mounts {
		for _, r := range m.Routes {
			if r.Policy != httpd.AccessToken && r.Policy != httpd.Signature && r.Policy != httpd.Secret {
				continue
			}
			walked++
			sizes := []int{1000}
			if r.BodyLimit > httpd.DefaultBodyLimit {
				sizes = append(sizes, int(r.BodyLimit)-1)
			}
			for _, size := range sizes {
				path := strings.NewReplacer(":request_id", "x", ":token", "x").Replace(r.Path)
				req, err := http.NewRequestWithContext(t.Context(), r.Method, a.URL()+strings.TrimSuffix(m.BaseURL, "/")+path,
					bytes.NewReader(make([]byte, size)))
				must(t, err)
				req.Header.Set("Content-Type", "application/json")
				req.Header.Set("X-Host-Event", "package")
				req.Header.Set("X-Host-Delivery", "one")
				req.Header.Set("X-Hub-Signature-256", "sha256="+strings.Repeat("0", 64))
				resp, err := http.DefaultClient.Do(req)
				must(t, err)
				body, err := io.ReadAll(resp.Body)
				must(t, err)
				must(t, resp.Body.Close())
				what := r.Method + " " + m.BaseURL + r.Path
				switch resp.StatusCode {
				case http.StatusBadRequest, http.StatusUnauthorized, http.StatusNotFound:
				case http.StatusServiceUnavailable:
					if resp.Header.Get("Retry-After") == "" && !strings.Contains(string(body), "switched off") {
						t.Errorf("%s with %d bytes: no Retry-After: %s", what, size, body)
					}
				case http.StatusRequestEntityTooLarge:
					if r.Policy != httpd.AccessToken || size < httpd.DefaultBodyLimit || !strings.Contains(string(body), "Authorization") {
						t.Errorf("%s with %d bytes: %s", what, size, body)
					}
				default:
					t.Errorf("%s with %d bytes: %d %s", what, size, resp.StatusCode, body)
				}
				if large := size > httpd.DefaultBodyLimit &&
					r.Policy == httpd.AccessToken; large != (resp.StatusCode == http.StatusRequestEntityTooLarge) {
					t.Errorf("%s with %d bytes: %d %s", what, size, resp.StatusCode, body)
				}
			}
		}
	}
	if walked < 10 {
		t.Errorf("only %d routes were found", walked)
	}
	if after := dataFiles(t, a.set.DataDir); after != before {
		t.Errorf("files before:\n%s\nafter:\n%s", before, after)
	}
	var metrics strings.Builder
	families, err := a.registry.Gather()
	must(t, err)
	for _, f := range families {
		if f.GetName() == "patchbay_http_refused_total" {
			metrics.WriteString(f.String())
		}
	}
	for _, reason := range httpd.RefusalReasons() {
		if !strings.Contains(metrics.String(), reason) {
			t.Errorf("the metric has no reason %s: %s", reason, metrics.String())
		}
	}
}

// dataFiles lists the files below a directory, but those of the database.
func dataFiles(t *testing.T, dir string) string {
	t.Helper()
	var names []string
	must(t, filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() && !strings.Contains(path, "sqlite") {
			names = append(names, path)
		}
		return err
	}))
	return strings.Join(names, "\n")
}
