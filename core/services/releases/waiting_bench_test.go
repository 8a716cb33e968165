package releases_test

import (
	"context"
	"runtime"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/patchbay-dev/patchbay/core/internal/testing/testkit"
	"github.com/patchbay-dev/patchbay/sdk/translator"
)

// The clients of BenchmarkWaitingClients, and the releases whose translations they wait for.
const (
	waitingClients  = 1000
	waitedReleases  = 50
	waitingDeadline = time.Minute
)

// BenchmarkWaitingClients has a thousand clients wait over HTTP for translations of fifty releases while the model is held, and measures
// how long the last one waits once the model goes on, and what a waiting client takes. Client and server are one process.
func BenchmarkWaitingClients(b *testing.B) {
	s := startServer(b, testkit.SQLiteConfig(b), withTranslator)
	bodies := make([]string, waitedReleases)
	for i := range bodies {
		bodies[i] = "Words of the release " + strconv.Itoa(i)
	}
	ids := s.addReleases(bodies...)
	began, hold := make(chan struct{}, waitedReleases), make(chan struct{})
	s.model.Before(func(ctx context.Context, _ translator.Request) {
		began <- struct{}{}
		select {
		case <-hold:
		case <-ctx.Done():
		}
	})
	for b.Loop() {
		idle, goroutines := heapInUse(), runtime.NumGoroutine()
		var wait sync.WaitGroup
		for i := range waitingClients {
			wait.Go(func() {
				if got := s.translate(s.ada, "release_summary", ids[i%len(ids)]); got["status"] != "completed" {
					b.Errorf("%v", got)
				}
			})
		}
		<-began
		s.awaitRequests(waitingClients)
		b.ReportMetric(float64(heapInUse()-idle)/waitingClients/1024, "KB/client")
		b.ReportMetric(float64(runtime.NumGoroutine()-goroutines)/waitingClients, "goroutines/client")
		released := time.Now()
		close(hold)
		wait.Wait()
		b.ReportMetric(float64(time.Since(released).Microseconds())/1000, "last-ms")
	}
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(float64(len(s.model.Calls())), "model-calls")
}

// heapInUse returns the bytes of the heap that are in use after a collection.
func heapInUse() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapInuse
}

// awaitRequests waits until so many requests for translations are stored.
func (s *server) awaitRequests(n int64) {
	s.Helper()
	for deadline := time.Now().Add(waitingDeadline); ; time.Sleep(10 * time.Millisecond) {
		var stored int64
		must(s, s.store.DB(context.Background()).Table("release_translation_requests").Count(&stored).Error)
		if stored >= n {
			return
		}
		if time.Now().After(deadline) {
			s.Fatalf("%d of %d requests are stored", stored, n)
		}
	}
}
