package quality

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/pprof"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/patchbay-dev/patchbay/plugins/internal/testkit"
	"github.com/patchbay-dev/patchbay/plugins/search/local"
	"github.com/patchbay-dev/patchbay/sdk/search"
)

const (
	// envCost makes a process of the tests index the folder that it names; envProfile names a file for its profile.
	envCost    = "PATCHBAY_TEST_COST"
	envProfile = "PATCHBAY_TEST_PROFILE"
	// costFiles is how many files are indexed: the first of the Go distribution, of costEndings.
	costFiles = 10000
	// costLimit is how many times the CPU time of FTS5 indexing may take, slowness how many times as long searches may take meanwhile.
	costLimit, slowness = 5, 2
)

var costEndings = []string{".go", ".md", ".txt", ".html", ".js", ".c", ".s"}

func TestMain(m *testing.M) {
	if folder := os.Getenv(envCost); folder != "" {
		if err := measureIndexing(folder); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// BenchmarkIndexCost compares the CPU time that indexing takes with that of FTS5 on the same files, and the time of searches
// during a re-index with that of searches before.
func BenchmarkIndexCost(b *testing.B) {
	_, err := exec.LookPath("python3")
	testkit.Require(b, "python3", err == nil, "install Python 3 with sqlite3")
	folder := copyFiles(b)
	for b.Loop() {
		fts, _ := runMeasured(b, exec.Command("python3", filepath.Join("testdata", "fts5_index.py"), folder,
			filepath.Join(b.TempDir(), "fts5.db")))
		cmd := exec.Command(os.Args[0])
		// The collector of a plugin's process is set as sdk/framework does it.
		cmd.Env = append(os.Environ(), envCost+"="+folder, "GOGC=400")
		_, out := runMeasured(b, cmd)
		var m measured
		if err := json.Unmarshal(out, &m); err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(fts, "FTS5-CPU-s")
		b.ReportMetric(m.CPU, "CPU-s")
		b.ReportMetric(m.CPU/fts, "times-FTS5")
		b.ReportMetric(m.Idle, "idle-ms/query")
		b.ReportMetric(m.Busy, "busy-ms/query")
		b.ReportMetric(m.Peak, "peak-MB")
		if m.CPU > costLimit*fts {
			b.Logf("indexing takes %.1f s of CPU, more than %d times the %.1f s of FTS5", m.CPU, costLimit, fts)
		}
		if m.Busy > slowness*m.Idle {
			b.Logf("searches take %.1f ms while files are indexed, more than %d times the %.1f ms before", m.Busy, slowness, m.Idle)
		}
	}
	b.ReportMetric(0, "ns/op")
}

// runMeasured runs a command and returns the CPU time that it took, in seconds.
func runMeasured(b *testing.B, cmd *exec.Cmd) (cpu float64, out []byte) {
	b.Helper()
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		b.Fatalf("%s: %v", cmd.Path, err)
	}
	return (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Seconds(), out
}

// copyFiles copies the files to a folder.
func copyFiles(b *testing.B) string {
	b.Helper()
	out, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		b.Fatal(err)
	}
	from, to := strings.TrimSpace(string(out)), filepath.Join(b.TempDir(), "docs")
	left := costFiles
	err = filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || left == 0 || !slices.Contains(costEndings, filepath.Ext(path)) {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil || len(data) == 0 || len(data) > 1<<20 {
			return err
		}
		rel, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		left--
		full := filepath.Join(to, rel)
		if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
			return err
		}
		return os.WriteFile(full, data, 0o600)
	})
	if err != nil {
		b.Fatal(err)
	}
	return to
}

// measured is what a process has found out: the CPU time of indexing, medians of searches, and the peak of its memory.
type measured struct{ CPU, Idle, Busy, Peak float64 }

// costQueries are what is asked while files are indexed.
var costQueries = []string{"read file", "http server handler", "garbage collector", "parse url", "regexp match", "goroutine schedule",
	"unicode letters", "sort slice"}

// measureIndexing indexes a folder, searches, indexes it again and searches meanwhile.
func measureIndexing(folder string) error {
	data, err := os.MkdirTemp("", "index-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(data)
	if name := os.Getenv(envProfile); name != "" {
		f, err := os.Create(name)
		if err != nil {
			return err
		}
		defer f.Close()
		if err := pprof.StartCPUProfile(f); err != nil {
			return err
		}
		defer pprof.StopCPUProfile()
	}
	cfg := local.Config{
		Folders: []string{folder}, MaxFileSize: 1 << 20, Rescan: time.Hour, Timeout: 5 * time.Second, Parallel: 2, Pages: 100, SitePages: 100,
		Refresh: time.Hour,
	}
	open, diags := local.Definition().Build(search.Instance{Name: "docs", BaseDir: filepath.Dir(folder), DataDir: data,
		Log: hclog.NewNullLogger()}, cfg)
	if err := diags.Err(); err != nil {
		return err
	}
	backend, err := open(context.Background())
	if err != nil {
		return err
	}
	for isIndexing(backend) {
		time.Sleep(200 * time.Millisecond)
	}
	out := measured{CPU: readCPU(), Peak: readPeak()}
	pprof.StopCPUProfile()
	var idle []float64
	for range 30 {
		idle = append(idle, searchAll(backend)...)
	}
	if err := backend.(search.Indexer).Reindex(context.Background()); err != nil {
		return err
	}
	var busy []float64
	for len(busy) == 0 || isIndexing(backend) {
		busy = append(busy, searchAll(backend)...)
	}
	out.Idle, out.Busy = median(idle), median(busy)
	return json.NewEncoder(os.Stdout).Encode(out)
}

func isIndexing(b search.Backend) bool {
	st, err := b.(search.Indexer).IndexStatus(context.Background())
	return err != nil || st.Reindexing || slices.ContainsFunc(st.Sources,
		func(s search.IndexSource) bool { return s.State == search.SourceIndexing })
}

// searchAll asks all queries and returns how long each took, in milliseconds.
func searchAll(b search.Backend) (took []float64) {
	for _, q := range costQueries {
		body, _ := json.Marshal(map[string]any{"query": q})
		start := time.Now()
		if _, err := b.Invoke(context.Background(), &search.Request{Operation: search.OpSearch, Body: body}); err == nil {
			took = append(took, float64(time.Since(start).Microseconds())/1000)
		}
	}
	return took
}

func median(of []float64) float64 {
	slices.Sort(of)
	return of[len(of)/2]
}
