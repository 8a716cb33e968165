package access

import (
	"testing"
	"time"
)

// TestHourlyWindowOfCores: the headers of a token whose limits several cores share tell the use of all, and when the oldest request of any
// of them leaves the hour.
func TestHourlyWindowOfCores(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 30, 0, 0, time.UTC)
	for name, tt := range map[string]struct {
		own, others []time.Duration
		remaining   int64
	}{
		"nobody":            {nil, nil, 100},
		"this core":         {[]time.Duration{-10 * time.Minute}, nil, 99},
		"others":            {nil, []time.Duration{-20 * time.Minute, -5 * time.Minute}, 98},
		"others before all": {[]time.Duration{-10 * time.Minute}, []time.Duration{-20 * time.Minute}, 98},
		"this one before":   {[]time.Duration{-30 * time.Minute, 0}, []time.Duration{-20 * time.Minute}, 97},
	} {
		tok := &Token{counter: &counter{}, lease: newLease(nil, "t"), Limits: Limits{RequestsHour: 100}}
		for c, ages := range map[*counter][]time.Duration{tok.counter: tt.own, tok.lease.others: tt.others} {
			c.advance(now)
			for _, age := range ages {
				c.requests.add(now.Add(age).Unix()/60, 1)
			}
		}
		_, remaining, reset := tok.HourlyWindow(now)
		if _, want := tok.useOfAll(now).hourlyRequests(now); remaining != tt.remaining || !reset.Equal(want) {
			t.Errorf("%s: %d left until %s, want %d until %s", name, remaining, reset, tt.remaining, want)
		}
	}
}
