package local_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/patchbay-dev/patchbay/plugins/internal/testkit"
	"github.com/patchbay-dev/patchbay/plugins/search/local"
	"github.com/patchbay-dev/patchbay/sdk/search"
)

// judgement is a query with the documents that answer it: 3 answers it fully, 2 in part, 1 touches it.
type judgement struct {
	Language  string         `json:"language"`
	Query     string         `json:"query"`
	Documents map[string]int `json:"documents"`
}

func readJudgements(t testing.TB, corpus map[string][]byte) []judgement {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", "judgements.json"))
	if err != nil {
		t.Fatal(err)
	}
	var all []judgement
	if err := json.Unmarshal(data, &all); err != nil {
		t.Fatal(err)
	}
	for _, j := range all {
		for name := range j.Documents {
			if corpus[name] == nil {
				t.Fatalf("%s: the corpus has no %s", j.Query, name)
			}
		}
	}
	return all
}

const ndcgDepth = 5

// openCorpus opens a backend over the corpus.
func openCorpus(b *testing.B, corpus map[string][]byte) search.Backend {
	b.Helper()
	h := newHouse(b, nil)
	for name, data := range corpus {
		h.write(b, filepath.Join("docs", name), string(data))
	}
	h.cfg.Rescan = time.Hour
	backend, _ := h.open(b)
	find(b, backend, "warm")
	return backend
}

// leastQuality is the nDCG@5 below which BenchmarkRanking fails.
const leastQuality = 0.85

// BenchmarkRanking asks judged queries of real documentation. The figures are the quality of the first five results in
// each language, and the time of a query.
func BenchmarkRanking(b *testing.B) {
	corpus := readCorpus(b)
	judgements := readJudgements(b, corpus)
	backend := openCorpus(b, corpus)
	sums, counts := map[string]float64{}, map[string]float64{}
	for _, j := range judgements {
		var found []string
		for _, address := range find(b, backend, j.Query).urls() {
			found = append(found, strings.TrimPrefix(address, "file:docs/"))
		}
		sums[j.Language] += testkit.NDCG(j.Documents, found, ndcgDepth)
		counts[j.Language]++
		if testing.Verbose() {
			b.Logf("%.3f %s: %v", testkit.NDCG(j.Documents, found, ndcgDepth), j.Query, found)
		}
	}
	var took []time.Duration
	for b.Loop() {
		for _, j := range judgements {
			start := time.Now()
			find(b, backend, j.Query)
			took = append(took, time.Since(start))
		}
	}
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(medianMillis(took), "p50-ms/query")
	quality := (sums["en"] + sums["zh"]) / (counts["en"] + counts["zh"])
	if quality < leastQuality {
		b.Errorf("nDCG@5 is %.3f, at least %.2f is wanted", quality, leastQuality)
	}
	b.ReportMetric(quality, "nDCG@5")
	for language := range sums {
		b.ReportMetric(sums[language]/counts[language], "nDCG@5-"+language)
	}
}

// BenchmarkCostlyQueries asks what costs most: a word of every passage three hundred times, and three hundred words.
func BenchmarkCostlyQueries(b *testing.B) {
	backend := openCorpus(b, readCorpus(b))
	var letters []string
	for n := range 300 {
		letters = append(letters, string(rune('a'+n%26)))
	}
	for _, bm := range []struct{ name, query string }{
		{"one-word", strings.Repeat("a ", 300)},
		{"letters", strings.Join(letters, " ")},
		{"ideographs", strings.Repeat("的一是在不了有和人这", 60)},
	} {
		b.Run(bm.name, func(b *testing.B) {
			var took []time.Duration
			for b.Loop() {
				start := time.Now()
				find(b, backend, bm.query)
				took = append(took, time.Since(start))
			}
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(medianMillis(took), "p50-ms")
		})
	}
}

// medianMillis returns the median in milliseconds.
func medianMillis(took []time.Duration) float64 {
	slices.Sort(took)
	return float64(took[len(took)/2].Microseconds()) / 1000
}

// firstIndexBytes is how much text BenchmarkFirstIndex indexes.
const firstIndexBytes = 32 << 20

// BenchmarkFirstIndex measures a process of its own that indexes 32 MB of documents: the corpus as often as it takes.
func BenchmarkFirstIndex(b *testing.B) {
	corpus := readCorpus(b)
	h := newHouse(b, nil)
	for n, written := 0, 0; written < firstIndexBytes; n++ {
		for name, data := range corpus {
			text := fmt.Sprintf("%s\n\nCopy %d\n", data, n)
			h.write(b, filepath.Join("docs", strconv.Itoa(n), name), text)
			if written += len(text); written >= firstIndexBytes {
				break
			}
		}
	}
	var peak, took float64
	for b.Loop() {
		start := time.Now()
		cmd := exec.Command(os.Args[0])
		// The collector of a plugin's process is set as sdk/framework does it.
		cmd.Env = append(os.Environ(), envIndex+"="+h.base, "GOGC=400")
		out, err := cmd.Output()
		if err != nil {
			b.Fatalf("index: %v", err)
		}
		took = time.Since(start).Seconds()
		if peak, err = strconv.ParseFloat(strings.TrimSpace(string(out)), 64); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(peak, "peak-MB")
	b.ReportMetric(took, "s")
}

// envIndex makes a process of the tests index the directory that it names, and print how much memory that took.
const envIndex = "PATCHBAY_TEST_INDEX"

// indexAndMeasure indexes the folder docs of base and prints the peak of the process's resident memory in megabytes.
func indexAndMeasure(base string) error {
	data, err := os.MkdirTemp("", "index-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(data)
	h := &house{base: base, data: data, cfg: houseConfig()}
	open, diags := local.Definition().Build(h.instance(), h.cfg)
	if err := diags.Err(); err != nil {
		return err
	}
	backend, err := open(context.Background())
	if err != nil {
		return err
	}
	for {
		st, err := backend.(search.Indexer).IndexStatus(context.Background())
		if err != nil {
			return err
		}
		if !slices.ContainsFunc(st.Sources, func(s search.IndexSource) bool { return s.State == search.SourceIndexing }) {
			break
		}
		time.Sleep(100 * time.Millisecond)
	}
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return err
	}
	_, peak, _ := strings.Cut(string(status), "VmHWM:")
	peak, _, _ = strings.Cut(peak, "kB")
	n, err := strconv.ParseFloat(strings.TrimSpace(peak), 64)
	fmt.Printf("%.0f\n", n*1024/1e6)
	return err
}
