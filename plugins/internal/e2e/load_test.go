package e2e

import (
	"fmt"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// load sends searches with a number of clients until it is stopped. A client that was refused takes a breath.
type load struct {
	answered atomic.Int64
	done     chan struct{}
	clients  sync.WaitGroup

	mu     sync.Mutex
	failed []string
}

func startLoad(c *core, token string, clients int) *load {
	l := &load{done: make(chan struct{})}
	for i := range clients {
		l.clients.Go(func() {
			for n := 0; ; n++ {
				select {
				case <-l.done:
					return
				default:
				}
				l.note(c.try(request{path: "search", token: token, body: fmt.Sprintf(`{"query":"plugin %d of %d"}`, n, i)}))
			}
		})
	}
	return l
}

func (l *load) note(a answer, err error) {
	l.answered.Add(1)
	if err == nil && a.status == http.StatusOK {
		return
	}
	outcome := fmt.Sprint(a.status, " ", a.body)
	if err != nil {
		outcome = "connection: " + err.Error()
	}
	l.mu.Lock()
	l.failed = append(l.failed, outcome)
	l.mu.Unlock()
	time.Sleep(pollEvery)
}

// failures are the answers that were no success.
func (l *load) failures() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.failed)
}

// stop ends the clients; the result is the number of answers.
func (l *load) stop() int {
	close(l.done)
	l.clients.Wait()
	return int(l.answered.Load())
}

// lost fails the test when there was any answer but a success.
func (l *load) lost(t *testing.T) {
	t.Helper()
	if failed := l.failures(); len(failed) > 0 {
		t.Errorf("%d requests were lost, the first: %s", len(failed), failed[0])
	}
}

// after waits until n more requests have been answered.
func (l *load) after(t *testing.T, n int64) {
	t.Helper()
	target := l.answered.Load() + n
	eventually(t, 10*time.Second, "requests are answered", func() bool { return l.answered.Load() >= target })
}

// endless lets a load test run without limits.
const endless = `
  limits {
    requests_hour = 10000000
    credits_hour  = 10000000
    credits_day   = 10000000
    credits_month = 10000000
  }`
