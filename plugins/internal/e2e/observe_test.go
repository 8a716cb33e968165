package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/smtp"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/patchbay-dev/patchbay/plugins/internal/testkit"
)

// dashboard is what the test reads of a dashboard of Grafana.
type dashboard struct {
	Panels []struct {
		Title   string
		Targets []struct{ Expr string }
	}
}

// startPrometheus runs Prometheus with the example's configuration, which scrapes the address once in a second, and returns its base
// URL.
func startPrometheus(t *testing.T, address string) string {
	t.Helper()
	binary, err := exec.LookPath("prometheus")
	testkit.Require(t, "Prometheus", err == nil, "install prometheus")
	dir := t.TempDir()
	example, err := os.ReadFile("../../../examples/observe/prometheus.yml")
	must(t, err)
	text := strings.NewReplacer("127.0.0.1:50885", address, "scrape_interval: 15s", "scrape_interval: 1s").Replace(string(example))
	alerts, err := os.ReadFile("../../../examples/observe/alerts.yml")
	must(t, err)
	must(t, os.WriteFile(filepath.Join(dir, "prometheus.yml"), []byte(text), 0o600))
	must(t, os.WriteFile(filepath.Join(dir, "alerts.yml"), alerts, 0o600))
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	listen := listener.Addr().String()
	must(t, listener.Close())
	cmd := exec.Command(binary, "--config.file="+filepath.Join(dir, "prometheus.yml"), "--storage.tsdb.path="+filepath.Join(dir, "data"), "--web.listen-address="+listen)
	log := &bytes.Buffer{}
	cmd.Stdout, cmd.Stderr = log, log
	must(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		if t.Failed() {
			t.Logf("log of Prometheus:\n%s", log.String())
		}
	})
	return "http://" + listen
}

// queryPrometheus returns the series that an expression has now.
func queryPrometheus(t *testing.T, base, expr string) (found []map[string]any) {
	t.Helper()
	resp, err := http.Get(base + "/api/v1/query?" + url.Values{"query": {expr}}.Encode())
	if err != nil {
		return nil
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	must(t, err)
	var out struct {
		Status, Error string
		Data          struct{ Result []map[string]any }
	}
	if json.Unmarshal(body, &out) == nil && out.Status == "error" {
		t.Fatalf("%s: %s", expr, out.Error)
	}
	return out.Data.Result
}

const observedHCL = `
search "local" "docs" {
  config { folders = [%q] }
}
service "search" {
  backend = search.docs
}
`

// TestDashboard asks a real Prometheus every question of the example's dashboard, of a core that has worked: each has an answer.
func TestDashboard(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile("../../../examples/observe/grafana-dashboard.json")
	must(t, err)
	var board dashboard
	must(t, json.Unmarshal(raw, &board))
	hub := fillHub(t)
	folder := t.TempDir()
	must(t, os.WriteFile(filepath.Join(folder, "restart.md"), []byte("# Restart\n\nWhat happens when a plugin crashes.\n"), 0o600))
	c := startCore(t, mailHCL+releasesHCL(hub, `"acme/engine"`)+fmt.Sprintf(observedHCL, folder))
	prometheus := startPrometheus(t, strings.TrimPrefix(c.admin, "http://"))
	token := c.token()
	questions := map[string]string{}
	for _, p := range board.Panels {
		for _, target := range p.Targets {
			questions[strings.NewReplacer("$job", "patchbay", "$__rate_interval", "1m").Replace(target.Expr)] = p.Title
		}
	}
	if len(questions) < 25 {
		t.Fatalf("the dashboard has %d questions", len(questions))
	}
	key := c.user("ada@example.com", "member")
	c.releaseIDs(t, key, 2)
	address := strings.TrimSpace(c.cli("mailbox", "create", "-owner", "ada@example.com"))
	defer func() {
		for expr, title := range questions {
			t.Errorf("%s has no data: %s", title, expr)
		}
	}()
	eventually(t, time.Minute, "every panel has data", func() bool {
		// A rate needs two scrapes of a counter.
		c.search(t, token, http.StatusOK)
		c.sendMail(address, "Subject: news", "Hello.")
		if smtp.SendMail(c.smtpAddress(), nil, "ada@example.com", []string{"nobody@mail.localhost"}, []byte("Subject: news\r\n\r\nHello.\r\n")) == nil {
			t.Error("mail to an unknown address is accepted")
		}
		c.send(t, request{method: http.MethodGet, path: "/nothing/is/here"})
		for expr := range questions {
			if len(queryPrometheus(t, prometheus, expr)) > 0 {
				delete(questions, expr)
			}
		}
		time.Sleep(500 * time.Millisecond)
		return len(questions) == 0
	})
	if down := queryPrometheus(t, prometheus, fmt.Sprintf("up{job=%q} == 0", "patchbay")); len(down) > 0 {
		t.Errorf("Prometheus cannot scrape the core: %v", down)
	}
}

// TestObservedMetricsExist: the core has every metric that the dashboard and the alerts name, also those that only some activity shows.
func TestObservedMetricsExist(t *testing.T) {
	t.Parallel()
	var source strings.Builder
	must(t, filepath.WalkDir("../../../core", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.HasSuffix(path, ".go") {
			return err
		}
		text, err := os.ReadFile(path)
		source.Write(text)
		return err
	}))
	found := 0
	for _, name := range []string{"grafana-dashboard.json", "alerts.yml"} {
		text, err := os.ReadFile("../../../examples/observe/" + name)
		must(t, err)
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
