package brief

import (
	"testing"
	"time"
)

func loadZone(t testing.TB, name string) *time.Location {
	t.Helper()
	zone, err := time.LoadLocation(name)
	if err != nil {
		t.Fatal(err)
	}
	return zone
}

func TestWindows(t *testing.T) {
	for _, tc := range []struct {
		zone, date string
		hour       int
		start, end string
		boundary   string
	}{
		{"UTC", "2026-03-29", 8, "2026-03-28T08:00:00Z", "2026-03-29T08:00:00Z", "08:00"},
		// Clocks go from 02:00 to 03:00.
		{"Europe/Berlin", "2026-03-29", 8, "2026-03-28T07:00:00Z", "2026-03-29T06:00:00Z", "08:00"},
		{"Europe/Berlin", "2026-03-29", 2, "2026-03-28T01:00:00Z", "2026-03-29T01:00:00Z", "03:00"},
		{"Europe/Berlin", "2026-03-30", 2, "2026-03-29T01:00:00Z", "2026-03-30T00:00:00Z", "02:00"},
		// Clocks show 02:00 twice.
		{"Europe/Berlin", "2026-10-25", 2, "2026-10-24T00:00:00Z", "2026-10-25T00:00:00Z", "02:00"},
		{"Europe/Berlin", "2026-10-26", 2, "2026-10-25T00:00:00Z", "2026-10-26T01:00:00Z", "02:00"},
		{"America/New_York", "2026-03-08", 2, "2026-03-07T07:00:00Z", "2026-03-08T07:00:00Z", "03:00"},
		{"America/New_York", "2026-11-01", 1, "2026-10-31T05:00:00Z", "2026-11-01T05:00:00Z", "01:00"},
		// Half an hour.
		{"Australia/Lord_Howe", "2026-10-04", 2, "2026-10-02T15:30:00Z", "2026-10-03T15:30:00Z", "02:30"},
		{"Australia/Lord_Howe", "2026-04-05", 1, "2026-04-03T14:00:00Z", "2026-04-04T14:00:00Z", "01:00"},
		// At midnight.
		{"America/Santiago", "2026-09-06", 0, "2026-09-05T04:00:00Z", "2026-09-06T04:00:00Z", "01:00"},
		// A day that there was not.
		{"Pacific/Apia", "2011-12-30", 8, "2011-12-29T18:00:00Z", "2011-12-30T10:00:00Z", "00:00"},
		{"Pacific/Apia", "2011-12-31", 8, "2011-12-30T10:00:00Z", "2011-12-30T18:00:00Z", "08:00"},
		{"Asia/Kathmandu", "2026-01-01", 8, "2025-12-31T02:15:00Z", "2026-01-01T02:15:00Z", "08:00"},
	} {
		w, err := WindowOn(tc.date, time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC), tc.hour, loadZone(t, tc.zone))
		if err != nil || w.Start.UTC().Format(time.RFC3339) != tc.start || w.End.UTC().Format(time.RFC3339) != tc.end ||
			w.Boundary != tc.boundary || w.Date != tc.date {
			t.Errorf("%s %s %d: got %s to %s, %s (%v)", tc.zone, tc.date, tc.hour, w.Start.UTC().Format(time.RFC3339),
				w.End.UTC().Format(time.RFC3339), w.Boundary, err)
		}
	}
}

// TestWindowsFollowEachOther walks through two years hour by hour: the latest window is over, and begins where the one before ended.
func TestWindowsFollowEachOther(t *testing.T) {
	for _, name := range []string{"UTC", "Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "America/Santiago", "Asia/Shanghai",
		"Africa/Casablanca"} {
		zone := loadZone(t, name)
		for _, hour := range []int{0, 2, 8, 23} {
			former := Window{}
			for at := time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC); at.Year() < 2027; at = at.Add(time.Hour) {
				w := LatestWindow(at, hour, zone)
				if w.End.After(at) || !w.Start.Before(w.End) {
					t.Fatalf("%s %d at %s: %s to %s", name, hour, at, w.Start, w.End)
				}
				if former.Date != "" && w != former && (!w.Start.Equal(former.End) || w.Date != nextDate(former.Date)) {
					t.Fatalf("%s %d at %s: %s to %s follows %s to %s", name, hour, at, w.Start, w.End, former.Start, former.End)
				}
				former = w
			}
		}
	}
}

func TestWindowOnRefuses(t *testing.T) {
	now := time.Date(2026, 3, 29, 7, 59, 0, 0, time.UTC)
	for _, date := range []string{"2026-03-29", "2027-01-01", "2026-3-1", "2026-02-30", "x", "0001-01-01"} {
		if w, err := WindowOn(date, now, 8, time.UTC); err == nil {
			t.Errorf("%s: got %v", date, w)
		}
	}
	if _, err := WindowOn("2026-03-28", now, 8, time.UTC); err != nil {
		t.Error(err)
	}
}
