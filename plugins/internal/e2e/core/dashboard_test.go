package core

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/patchbay-dev/patchbay/plugins/internal/e2e/kit"
)

// dashboard is what the test reads of a dashboard of Grafana.
type dashboard struct {
	raw    json.RawMessage
	Panels []struct {
		Type, Title string
		Targets     []struct {
			Expr    string
			Instant bool
		}
	}
}

// readDashboard returns the example's dashboard.
func readDashboard(t testing.TB) (out dashboard) {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(kit.Root(), "examples/observe/grafana-dashboard.json"))
	kit.Must(t, err)
	kit.Must(t, json.Unmarshal(raw, &out))
	out.raw = raw
	return out
}

// titles returns those of the panels that show something, in their order.
func (d dashboard) titles() (out []string) {
	for _, p := range d.Panels {
		if p.Type != "row" {
			out = append(out, p.Title)
		}
	}
	return out
}

// withVariables returns a query with what Grafana would put in for its variables.
func withVariables(expr, interval string) string {
	return strings.NewReplacer("$job", "patchbay", "$__rate_interval", interval).Replace(expr)
}

// queryPrometheus returns the series that a query has at a time, or in a range if there is a step.
func queryPrometheus(t testing.TB, base, expr string, from, to time.Time, step time.Duration) (found []json.RawMessage) {
	t.Helper()
	seconds := func(at time.Time) string { return strconv.FormatInt(at.Unix(), 10) }
	path, values := "query", url.Values{"query": {expr}, "time": {seconds(to)}}
	if step > 0 {
		path, values = "query_range", url.Values{"query": {expr}, "start": {seconds(from)}, "end": {seconds(to)}, "step": {step.String()}}
	}
	resp, err := http.Get(base + "/api/v1/" + path + "?" + values.Encode())
	if err != nil {
		return nil
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	kit.Must(t, err)
	var out struct {
		Status, Error string
		Data          struct{ Result []json.RawMessage }
	}
	if json.Unmarshal(body, &out) == nil && out.Status == "error" {
		t.Fatalf("%s: %s", expr, out.Error)
	}
	return out.Data.Result
}

// TestDashboard asks a real Prometheus every question of the example's dashboard, of a core that has worked: each has an answer, and
// each panel can be drawn.
func TestDashboard(t *testing.T) {
	t.Parallel()
	board := readDashboard(t)
	s := startBusy(t)
	prometheus := startPrometheus(t, strings.TrimPrefix(s.Admin, "http://"))
	questions := map[string]string{}
	for _, p := range board.Panels {
		for _, target := range p.Targets {
			questions[target.Expr] = p.Title
		}
	}
	if len(questions) < 25 {
		t.Fatalf("the dashboard has %d questions", len(questions))
	}
	from, asked := time.Now(), slices.Collect(maps.Keys(questions))
	defer func() {
		for expr, title := range questions {
			t.Errorf("%s has no data: %s", title, expr)
		}
	}()
	// A rate needs two scrapes of a counter.
	kit.Eventually(t, time.Minute, "every panel has data", func() bool {
		s.work()
		for expr := range questions {
			if len(queryPrometheus(t, prometheus, withVariables(expr, "1m"), from, time.Now(), 0)) > 0 {
				delete(questions, expr)
			}
		}
		return len(questions) == 0
	})
	if down := queryPrometheus(t, prometheus, fmt.Sprintf("up{job=%q} == 0", "patchbay"), from, time.Now(), 0); len(down) > 0 {
		t.Errorf("Prometheus cannot scrape the core: %s", down)
	}
	if os.Getenv(kit.PicturesEnv) != "" {
		from = time.Now()
		for time.Since(from) < pictureSpan {
			s.work()
		}
	}
	to := time.Now()
	results := map[string][]json.RawMessage{}
	for _, p := range board.Panels {
		for _, target := range p.Targets {
			step := time.Second
			if target.Instant {
				step = 0
			}
			results[target.Expr] = queryPrometheus(t, prometheus, withVariables(target.Expr, "10s"), from, to, step)
		}
	}
	if len(results) != len(asked) {
		t.Errorf("%d of %d questions were asked for the panels", len(results), len(asked))
	}
	b := openDrawing(t, "dashboard", map[string]any{"board": board.raw, "results": results, "from": from.Unix(), "to": to.Unix()})
	drawn, err := kit.Evaluate[[]drawnPanel](b, `[...document.querySelectorAll(".panel")].map((p) => ({title: p.querySelector("h3").textContent, legend: [...p.querySelectorAll(".name")].map((n) => n.textContent), drawn: p.querySelectorAll("canvas, .value").length}))`)
	kit.Must(t, err)
	var titles []string
	for _, p := range drawn {
		titles = append(titles, p.Title)
		if p.Drawn == 0 || len(p.Legend) == 0 || slices.ContainsFunc(p.Legend, func(n string) bool {
			return strings.Trim(n, " :") == "" || strings.HasSuffix(strings.TrimSpace(n), ":")
		}) {
			t.Errorf("the panel %s is drawn %d times, with the series %q", p.Title, p.Drawn, p.Legend)
		}
	}
	if want := board.titles(); !slices.Equal(titles, want) {
		t.Errorf("the panels %q are drawn, want %q", titles, want)
	}
	b.InspectCut("the dashboard")
	smallPicture(b, "dashboard")
}

// drawnPanel is what the test reads of a panel on the page.
type drawnPanel struct {
	Title  string
	Legend []string
	Drawn  int
}
