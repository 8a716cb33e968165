package oci_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/patchbay-dev/patchbay/sdk/registry"
)

// Size of the benchmark: images, how many are asked for at once, and how long the registry takes for each answer.
const (
	benchImages  = 100
	benchAtOnce  = 16
	benchLatency = 20 * time.Millisecond
)

// each calls do for all images, so many at once.
func each(b *testing.B, do func(i int) error) time.Duration {
	b.Helper()
	began := time.Now()
	var next atomic.Int64
	var wg sync.WaitGroup
	for range benchAtOnce {
		wg.Go(func() {
			for i := int(next.Add(1)) - 1; i < benchImages; i = int(next.Add(1)) - 1 {
				if err := do(i); err != nil {
					b.Error(err)
				}
			}
		})
	}
	wg.Wait()
	return time.Since(began)
}

// BenchmarkResolve asks for 100 images of which the caller knows the digests, over the wire of the plugin, and compares
// with a bare client that sends the same HEAD requests: "ratio" is our time to its. "requests/image" are those of the
// rounds after the first.
func BenchmarkResolve(b *testing.B) {
	s := newServer(b, b.TempDir(), "")
	var digests [benchImages]string
	for i := range digests {
		digests[i] = s.push(b, fmt.Sprintf("app%d", i), "1", "linux/amd64")
	}
	var requests atomic.Int64
	p := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		requests.Add(1)
		time.Sleep(benchLatency)
		var i int
		if n, _ := fmt.Sscanf(r.URL.Path, "/v2/app%d/manifests/1", &i); n != 1 || r.Method != http.MethodHead || i >= benchImages {
			w.WriteHeader(http.StatusNotFound)
			return
		}
		w.Header().Set("Docker-Content-Digest", digests[i])
		w.Header().Set("Content-Type", mediaManifest)
	}))
	b.Cleanup(p.Close)
	host := strings.TrimPrefix(p.URL, "http://")
	c := client(b, "{}")
	ours := func(i int) error {
		got, err := c.Resolve(b.Context(), registry.ResolveRequest{Ref: fmt.Sprintf("%s/app%d:1", host, i), Known: []string{digests[i]}})
		if err == nil && got.Digest != digests[i] {
			err = fmt.Errorf("image %d: digest %s", i, got.Digest)
		}
		return err
	}
	bare := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: benchAtOnce}}
	theirs := func(i int) error {
		r, err := bare.Head(fmt.Sprintf("%s/v2/app%d/manifests/1", p.URL, i))
		if err == nil {
			err = r.Body.Close()
		}
		return err
	}
	each(b, ours)
	each(b, theirs)
	var took, base time.Duration
	var sent int64
	for b.Loop() {
		base += each(b, theirs)
		before := requests.Load()
		took += each(b, ours)
		sent += requests.Load() - before
	}
	b.ReportMetric(float64(took)/float64(base), "ratio")
	b.ReportMetric(float64(sent)/float64(b.N)/benchImages, "requests/image")
	b.ReportMetric(float64(took.Milliseconds())/float64(b.N), "ms/round")
}
