package kit

import (
	"fmt"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// Load sends searches with a number of clients until it is stopped. A client that was refused takes a breath.
type Load struct {
	Answered atomic.Int64
	done     chan struct{}
	clients  sync.WaitGroup

	mu     sync.Mutex
	failed []string
}

// StartLoad sends searches with a token from several clients at once, until Stop.
func StartLoad(c *Core, token string, clients int) *Load {
	l := &Load{done: make(chan struct{})}
	for i := range clients {
		l.clients.Go(func() {
			for n := 0; ; n++ {
				select {
				case <-l.done:
					return
				default:
				}
				l.noteResult(c.Try(Request{Path: "search", Token: token, Body: fmt.Sprintf(`{"query":"plugin %d of %d"}`, n, i)}))
			}
		})
	}
	return l
}

func (l *Load) noteResult(a Answer, err error) {
	l.Answered.Add(1)
	if err == nil && a.Status == http.StatusOK {
		return
	}
	outcome := fmt.Sprint(a.Status, " ", a.Body)
	if err != nil {
		outcome = "connection: " + err.Error()
	}
	l.mu.Lock()
	l.failed = append(l.failed, outcome)
	l.mu.Unlock()
	time.Sleep(PollEvery)
}

// Failures are the answers that were no success.
func (l *Load) Failures() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.failed)
}

// Stop ends the clients; the result is the number of answers.
func (l *Load) Stop() int {
	close(l.done)
	l.clients.Wait()
	return int(l.Answered.Load())
}

// After waits until n more requests have been answered.
func (l *Load) After(t *testing.T, n int64) {
	t.Helper()
	target := l.Answered.Load() + n
	Eventually(t, 10*time.Second, "requests are answered", func() bool { return l.Answered.Load() >= target })
}

// EndlessLimits lets a load test run without limits.
const EndlessLimits = `
  limits {
    requests_hour = 10000000
    credits_hour  = 10000000
    credits_day   = 10000000
    credits_month = 10000000
  }`

// RoomyLimits gives the service more credits than its default.
const RoomyLimits = `
  limits {
    credits_hour = 5000
  }`
