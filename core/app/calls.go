package app

import (
	"sync"
	"time"

	"github.com/patchbay-dev/patchbay/core/timering"
)

// callMinutes is for how many minutes the latency of calls is kept.
const callMinutes = 30

// callStats counts the calls to instances and keeps their latency by the minute, for the console.
type callStats struct {
	now func() time.Time

	mu     sync.Mutex
	series map[string]*callHistory
}

type callHistory struct {
	calls, failures int64
	minutes         *timering.Ring[callMinute]
}

// callMinute is one minute of the history.
type callMinute struct {
	calls int64
	took  time.Duration
}

func newCallStats() *callStats { return &callStats{now: time.Now, series: map[string]*callHistory{}} }

func (s *callStats) addCall(ref string, took time.Duration, failed bool) {
	at := s.now().Unix() / 60
	s.mu.Lock()
	defer s.mu.Unlock()
	h := s.series[ref]
	if h == nil {
		h = &callHistory{minutes: timering.New[callMinute](callMinutes)}
		s.series[ref] = h
	}
	h.calls++
	if failed {
		h.failures++
	}
	m := h.minutes.At(at)
	m.calls++
	m.took += took
}

// countCalls returns the calls of an instance, and the mean latency of each of its minutes with calls in milliseconds, the newest last.
func (s *callStats) countCalls(ref string) (calls, failures int64, latency []float64) {
	now := s.now().Unix() / 60
	s.mu.Lock()
	defer s.mu.Unlock()
	h := s.series[ref]
	if h == nil {
		return 0, 0, nil
	}
	for m := range h.minutes.Latest(now) {
		if m.calls > 0 {
			latency = append(latency, float64(m.took.Microseconds())/1000/float64(m.calls))
		}
	}
	return h.calls, h.failures, latency
}
