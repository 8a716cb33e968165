package containers

import (
	"bufio"
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"gorm.io/gorm"

	"github.com/patchbay-dev/patchbay/core/internal/testing/fake"
	"github.com/patchbay-dev/patchbay/core/internal/testing/testkit"
	"github.com/patchbay-dev/patchbay/core/plugin/client"
	"github.com/patchbay-dev/patchbay/core/queue"
	"github.com/patchbay-dev/patchbay/core/services/containers/work"
	"github.com/patchbay-dev/patchbay/core/store"
	"github.com/patchbay-dev/patchbay/sdk/engine"
)

func quantile(d []time.Duration, p float64) time.Duration {
	sorted := slices.Sorted(slices.Values(d))
	return sorted[min(len(sorted)-1, int(p*float64(len(sorted))))]
}

// reportTimes reports the median of two measurements in milliseconds, and how many times longer the second takes.
func reportTimes(b *testing.B, base string, bases []time.Duration, name string, times []time.Duration) {
	ms := func(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
	b.ReportMetric(ms(quantile(bases, 0.5)), base+"-p50-ms")
	b.ReportMetric(ms(quantile(times, 0.5)), name+"-p50-ms")
	b.ReportMetric(ms(quantile(times, 0.95)), name+"-p95-ms")
	b.ReportMetric(ms(quantile(times, 0.5))/ms(quantile(bases, 0.5)), name+"/"+base)
}

// remote is an engine whose list of containers costs what it does with a real one: an answer of HTTP with JSON.
type remote struct {
	*fake.Engine
	url string
}

var _ client.Engine = (*remote)(nil)

// Containers implements client.Engine.
func (r *remote) Containers(ctx context.Context, _ engine.Filter) (out []engine.Container, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, r.url, nil)
	if err != nil {
		return nil, err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, err
	}
	defer func() { _ = resp.Body.Close() }()
	return out, json.NewDecoder(resp.Body).Decode(&out)
}

// BenchmarkDiscovery compares a discovery of 1,000 services in 100 projects, in which nothing has changed, with the engine's own list
// of their containers.
func BenchmarkDiscovery(b *testing.B) {
	configs := map[string]func(testing.TB) store.Config{"sqlite": testkit.SQLiteConfig, "postgres": testkit.PostgresConfig}
	for _, name := range []string{"sqlite", "postgres"} {
		b.Run(name, func(b *testing.B) {
			var r *remote
			e := newEnvOn(b, testkit.OpenStore(b, configs[name](b), allMigrations()...), func(e *env) {
				r = &remote{Engine: e.engine}
				e.asEngine = r
			})
			r.url = e.thousand()
			e.discovered()
			e.discovered()
			var listed, discovered []time.Duration
			for b.Loop() {
				begun := time.Now()
				if list, err := r.Containers(b.Context(), engine.Filter{}); err != nil || len(list) != 1000 {
					b.Fatal(len(list), err)
				}
				half := time.Now()
				if res := e.discovered(); res.Summary.StacksSkipped != 100 {
					b.Fatalf("%+v", res.Summary)
				}
				listed, discovered = append(listed, half.Sub(begun)), append(discovered, time.Since(half))
			}
			reportTimes(b, "list", listed, "discovery", discovered)
		})
	}
}

// thousand makes 100 projects with ten services each, and serves their containers as JSON.
func (e *env) thousand() string {
	e.Helper()
	long, images := time.Now().Add(-time.Hour), map[string]string{}
	for s := range 10 {
		ref := fmt.Sprintf("%s/acme/i%d:1", imageHost, s)
		images[fmt.Sprint("s", s)] = ref
		e.engine.AddImage(engine.Image{ID: imageID(s), RepoTags: []string{ref},
			RepoDigests: []string{strings.TrimSuffix(ref, ":1") + "@" + digest(s)}})
	}
	for p := range 100 {
		name := fmt.Sprintf("p%03d", p)
		for s, ref := range images {
			e.container(name, s, ref)
		}
		e.must(os.Chtimes(e.file(name+"/compose.yaml", composeText(images)), long, long))
	}
	list, err := e.engine.Containers(context.Background(), engine.Filter{})
	e.must(err)
	for i := range list {
		for _, l := range []string{"config-hash", "container-number", "depends_on", "image", "oneoff", "project.environment_file.path",
			"replace", "version"} {
			list[i].Labels["com.docker.compose."+l] = strings.Repeat("f", 32)
		}
		list[i].Labels["com.docker.compose.oneoff"] = "False"
	}
	raw, err := json.Marshal(list)
	e.must(err)
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(raw) }))
	e.Cleanup(func() { http.DefaultClient.CloseIdleConnections(); srv.Close() })
	return srv.URL
}

// BenchmarkJobPage compares a page of 100 jobs out of 100,000, as the API gives it, with the statement that fetches its rows.
func BenchmarkJobPage(b *testing.B) {
	e := newEnv(b)
	const insert = `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100000)
		INSERT INTO jobs (id, type, state, payload, result, run_at, created_at, started_at, finished_at)
		SELECT 'job_' || substr('00000000' || i, -8), CASE i % 10 WHEN 0 THEN 'containers.update' WHEN 1 THEN 'other.work' ELSE 'containers.check' END, 'success',
			'{"scope":"all","reason":"schedule"}', '{"servicesChecked":12}', t.at + i, t.at + i, t.at + i, t.at + i FROM n, (SELECT ? AS at) t`
	e.must(e.store.Tx(b.Context(), "fill", func(ctx context.Context) error {
		return e.store.Writer(ctx).Exec(insert, time.Now().Add(-time.Hour).UnixMilli()).Error
	}))
	dry := e.store.DB(b.Context()).Session(&gorm.Session{DryRun: true}).Raw("SELECT * FROM jobs WHERE type IN ? ORDER BY created_at DESC, id DESC LIMIT 101", work.QualifiedTypes(work.JobTypes())).Scan(&[]map[string]any{})
	var raw, page []time.Duration
	for b.Loop() {
		begun := time.Now()
		n := e.rows(dry.Statement.SQL.String(), dry.Statement.Vars)
		half := time.Now()
		list, next, err := e.svc.ListJobs(b.Context(), JobFilter{})
		if err != nil || n != 101 || len(list) != 100 || next == "" {
			b.Fatal(n, len(list), next, err)
		}
		raw, page = append(raw, half.Sub(begun)), append(page, time.Since(half))
	}
	reportTimes(b, "raw", raw, "page", page)
}

// rows reads what a statement gives, without keeping it.
func (e *env) rows(statement string, args []any) (n int) {
	e.Helper()
	rows, err := e.store.DB(context.Background()).Statement.ConnPool.QueryContext(context.Background(), statement, args...)
	e.must(err)
	defer func() { _ = rows.Close() }()
	columns, err := rows.Columns()
	e.must(err)
	values := make([]any, len(columns))
	for i := range values {
		values[i] = new(sql.RawBytes)
	}
	for ; rows.Next(); n++ {
		e.must(rows.Scan(values...))
	}
	e.must(rows.Err())
	return n
}

// watchers are clients that follow the events of all jobs over HTTP, and tell when each arrives.
func (e *env) watchers(n int, arrived chan<- time.Time) {
	e.Helper()
	e.listen()
	ctx, cancel := context.WithCancel(context.Background())
	var all sync.WaitGroup
	e.Cleanup(func() { cancel(); all.Wait() })
	for range n {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, e.base+"/api/jobs/events", nil)
		e.must(err)
		req.Header.Set("X-Test-User", "ann")
		resp, err := http.DefaultClient.Do(req)
		e.must(err)
		lines := bufio.NewReader(resp.Body)
		_, err = lines.ReadString('\n')
		e.must(err)
		all.Go(func() {
			defer func() { _ = resp.Body.Close() }()
			for {
				line, err := lines.ReadString('\n')
				if err != nil {
					return
				}
				if strings.HasPrefix(line, "id: ") {
					arrived <- time.Now()
				}
			}
		})
	}
}

// BenchmarkStreams is the time from the end of a submission until its event is at each of 100 clients, and what these cost while
// nothing happens.
func BenchmarkStreams(b *testing.B) {
	const clients = 100
	b.Run("event", func(b *testing.B) {
		e := newEnv(b)
		arrived := make(chan time.Time, clients)
		e.watchers(clients, arrived)
		var times []time.Duration
		for b.Loop() {
			begun := time.Now()
			_, _, err := e.queue.Submit(b.Context(), queue.Submission{Type: work.Prefix + work.JobCheck, RunAt: time.Now().Add(time.Hour)})
			e.must(err)
			for range clients {
				times = append(times, (<-arrived).Sub(begun))
			}
		}
		ms := func(p float64) float64 { return float64(quantile(times, p)) / float64(time.Millisecond) }
		b.ReportMetric(ms(0.5), "event-p50-ms")
		b.ReportMetric(ms(0.95), "event-p95-ms")
	})
	b.Run("idle", func(b *testing.B) {
		e := newEnv(b, func(e *env) { e.idle = true })
		e.watchers(clients, make(chan time.Time, clients))
		var spent, passed time.Duration
		for b.Loop() {
			if passed > 5*time.Second {
				continue
			}
			before, begun := cpuTime(b), time.Now()
			time.Sleep(time.Second)
			spent, passed = spent+cpuTime(b)-before, passed+time.Since(begun)
		}
		b.ReportMetric(100*float64(spent)/float64(passed), "%core")
	})
}

// cpuTime is what the process has used of processors so far.
func cpuTime(b *testing.B) time.Duration {
	b.Helper()
	var use syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &use); err != nil {
		b.Fatal(err)
	}
	return time.Duration(use.Utime.Nano() + use.Stime.Nano())
}
