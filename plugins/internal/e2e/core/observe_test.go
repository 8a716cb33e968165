package core

import (
	"bytes"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/patchbay-dev/patchbay/plugins/internal/e2e/kit"
	"github.com/patchbay-dev/patchbay/plugins/internal/testkit"
)

// startPrometheus runs Prometheus with the example's configuration, which scrapes the address once in a second, and returns its base
// URL.
func startPrometheus(t *testing.T, address string) string {
	t.Helper()
	binary, err := exec.LookPath("prometheus")
	testkit.Require(t, "Prometheus", err == nil, "install prometheus")
	dir := t.TempDir()
	example, err := os.ReadFile(filepath.Join(kit.Root(), "examples/observe/prometheus.yml"))
	kit.Must(t, err)
	text := strings.NewReplacer("127.0.0.1:50885", address, "scrape_interval: 15s", "scrape_interval: 1s").Replace(string(example))
	alerts, err := os.ReadFile(filepath.Join(kit.Root(), "examples/observe/alerts.yml"))
	kit.Must(t, err)
	kit.Must(t, os.WriteFile(filepath.Join(dir, "prometheus.yml"), []byte(text), 0o600))
	kit.Must(t, os.WriteFile(filepath.Join(dir, "alerts.yml"), alerts, 0o600))
	listen := testkit.FreeAddress(t)
	cmd := exec.Command(binary, "--config.file="+filepath.Join(dir, "prometheus.yml"), "--storage.tsdb.path="+filepath.Join(dir, "data"),
		"--web.listen-address="+listen)
	log := &bytes.Buffer{}
	cmd.Stdout, cmd.Stderr = log, log
	kit.Must(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		if t.Failed() {
			t.Logf("log of Prometheus:\n%s", log.String())
		}
	})
	return "http://" + listen
}

// TestObservedMetricsExist: the core has every metric that the dashboard and the alerts name, also those that only some activity shows.
func TestObservedMetricsExist(t *testing.T) {
	t.Parallel()
	var source strings.Builder
	kit.Must(t, filepath.WalkDir(filepath.Join(kit.Root(), "core"), func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.HasSuffix(path, ".go") {
			return err
		}
		text, err := os.ReadFile(path)
		source.Write(text)
		return err
	}))
	found := 0
	for _, name := range []string{"grafana-dashboard.json", "alerts.yml"} {
		text, err := os.ReadFile(filepath.Join(kit.Root(), "examples/observe", name))
		kit.Must(t, err)
		for _, metric := range regexp.MustCompile(`patchbay_[a-z_]+`).FindAllString(string(text), -1) {
			found++
			if !strings.Contains(source.String(), `"`+regexp.MustCompile(`_(bucket|count|sum)$`).ReplaceAllString(metric, "")+`"`) {
				t.Errorf("%s: the core has no metric %s", name, metric)
			}
		}
	}
	if found < 30 {
		t.Errorf("%d metrics were found", found)
	}
}
