package app

import (
	"testing"
	"time"
)

// TestCheckClock: cores whose clocks differ by minutes work together, and others do not start.
func TestCheckClock(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for own, want := range map[time.Time]string{
		now:                       "",
		now.Add(time.Minute):      "",
		now.Add(-time.Minute):     "",
		now.Add(10 * time.Minute): "the clock of this machine is 10m0s ahead of the database's: set it, for example with NTP",
		now.Add(-time.Hour):       "the clock of this machine is 1h0m0s behind the database's: set it, for example with NTP",
	} {
		got := ""
		if err := checkClock(own, now); err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%s: %q, want %q", own, got, want)
		}
	}
}
