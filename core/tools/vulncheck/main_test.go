package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// database serves a database with one vulnerability of the standard library: url.Parse.
func database(t *testing.T) string {
	t.Helper()
	const id = "GO-2000-0001"
	entry := `{"schema_version":"1.3.1","id":"` + id + `","modified":"2026-01-01T00:00:00Z","published":"2026-01-01T00:00:00Z","summary":"parsing","details":"parsing",
		"affected":[{"package":{"name":"stdlib","ecosystem":"Go"},"ranges":[{"type":"SEMVER","events":[{"introduced":"0"}]}],
		"ecosystem_specific":{"imports":[{"path":"net/url","symbols":["Parse"]}]}}],"database_specific":{"url":"https://example.org/"}}`
	files := map[string]string{
		"/index/db.json":      `{"modified":"2026-01-01T00:00:00Z"}`,
		"/index/modules.json": `[{"path":"stdlib","vulns":[{"id":"` + id + `","modified":"2026-01-01T00:00:00Z"}]}]`,
		"/index/vulns.json":   `[{"id":"` + id + `","modified":"2026-01-01T00:00:00Z"}]`,
		"/ID/" + id + ".json": entry,
	}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name, packed := strings.CutSuffix(r.URL.Path, ".gz")
		body, ok := files[name]
		if !ok {
			http.NotFound(w, r)
			return
		}
		if !packed {
			_, _ = io.WriteString(w, body)
			return
		}
		z := gzip.NewWriter(w)
		_, _ = io.WriteString(z, body)
		_ = z.Close()
	}))
	t.Cleanup(srv.Close)
	return srv.URL
}

// module writes a module whose main function does what body says.
func module(t *testing.T, body string) string {
	t.Helper()
	dir := t.TempDir()
	for name, content := range map[string]string{
		"go.mod":  "module example.org/program\n\ngo 1.26.0\n",
		"main.go": "package main\n\nimport \"net/url\"\n\nfunc main() { " + body + " }\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestOnlyCalledVulnerabilitiesFail(t *testing.T) {
	db := database(t)
	var out bytes.Buffer
	if err := checkModules(t.Context(), &out, db, []string{module(t, `_ = url.QueryEscape("a")`)}); err != nil {
		t.Errorf("a program that does not call it: %v\n%s", err, &out)
	}
	out.Reset()
	if err := checkModules(t.Context(), &out, db, []string{module(t, `_, _ = url.Parse("a")`)}); err == nil ||
		!strings.Contains(out.String(), "GO-2000-0001") {
		t.Errorf("a program that calls it: %v\n%s", err, &out)
	}
}

// A database that nobody answers for is told within the bound, and is no failure.
func TestADatabaseOutOfReachIsSaid(t *testing.T) {
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = silent.Close() }()
	short, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	refusing := httptest.NewServer(http.NotFoundHandler())
	defer refusing.Close()
	for name, tc := range map[string]struct {
		ctx context.Context
		db  string
	}{
		"silent": {short, "http://" + silent.Addr().String()}, "status": {t.Context(), refusing.URL},
		"no address": {t.Context(), "http://127.0.0.1:1"},
	} {
		var out bytes.Buffer
		err := checkModules(tc.ctx, &out, tc.db, []string{"/nowhere"})
		if err != nil || !strings.HasPrefix(out.String(), "govulncheck was not run: ") || strings.Count(out.String(), "\n") != 1 {
			t.Errorf("%s: %v, %q", name, err, &out)
		}
	}
}
