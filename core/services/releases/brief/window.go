// Package brief writes the daily briefs: what the repositories that a user sees have released in a day, as Markdown.
package brief

import (
	"time"
	// Time zones must be known on machines without their files as well.
	_ "time/tzdata"

	"github.com/patchbay-dev/patchbay/core/fault"
)

// Window is a day of a user. Its end belongs to the next one.
type Window struct {
	// Date is that of the end, in the user's time zone.
	Date       string
	Start, End time.Time
	// Boundary is the time of day of the end, HH:MM. It is later than the chosen hour where clocks skip that.
	Boundary string
}

// maxGap is the longest stretch of local time that clocks have skipped, in minutes: a day.
const maxGap = 26 * 60

// resolveLocal returns the moment at which clocks in a zone show a time of a day. Of two such moments it is the earlier; where
// clocks skip the time, it is the first moment after the gap.
func resolveLocal(year int, month time.Month, day, hour int, zone *time.Location) time.Time {
	wall := time.Date(year, month, day, hour, 0, 0, 0, time.UTC)
	for minute := range maxGap {
		if at, ok := findMoment(wall.Add(time.Duration(minute)*time.Minute), zone); ok {
			return at
		}
	}
	return wall
}

// findMoment returns the earliest moment at which clocks in a zone show wall, a time that is written as UTC. It reports false if
// they never do.
func findMoment(wall time.Time, zone *time.Location) (at time.Time, ok bool) {
	for _, around := range []time.Duration{-26 * time.Hour, 0, 26 * time.Hour} {
		_, offset := wall.Add(around).In(zone).Zone()
		candidate := wall.Add(-time.Duration(offset) * time.Second)
		_, there := candidate.In(zone).Zone()
		if there == offset && (!ok || candidate.Before(at)) {
			at, ok = candidate, true
		}
	}
	return at, ok
}

// newWindow returns the window whose end is on a day.
func newWindow(year int, month time.Month, day, hour int, zone *time.Location) Window {
	w := Window{
		Date:  time.Date(year, month, day, 0, 0, 0, 0, time.UTC).Format(time.DateOnly),
		Start: resolveLocal(year, month, day-1, hour, zone), End: resolveLocal(year, month, day, hour, zone),
	}
	w.Boundary = w.End.In(zone).Format("15:04")
	return w
}

// LatestWindow returns the last window that has ended.
func LatestWindow(now time.Time, hour int, zone *time.Location) Window {
	local := now.In(zone)
	w := newWindow(local.Year(), local.Month(), local.Day(), hour, zone)
	for back := 1; w.End.After(now); back++ {
		w = newWindow(local.Year(), local.Month(), local.Day()-back, hour, zone)
	}
	return w
}

// WindowOn returns the window whose end is on a date such as 2026-03-29. It fails for one that has not ended.
func WindowOn(date string, now time.Time, hour int, zone *time.Location) (Window, error) {
	day, err := time.Parse(time.DateOnly, date)
	if err != nil || day.Year() < 1970 {
		return Window{}, fault.New(fault.BadRequest, "date must be a day such as 2026-03-29.").With("field", "date")
	}
	w := newWindow(day.Year(), day.Month(), day.Day(), hour, zone)
	if w.End.After(now) {
		return Window{}, fault.New(fault.BadRequest, "The day of the brief has not ended yet: it ends at %s.",
			w.End.UTC().Format(time.RFC3339)).With("field", "date")
	}
	return w, nil
}

// nextDate returns the date after a date of a window.
func nextDate(date string) string {
	day, err := time.Parse(time.DateOnly, date)
	if err != nil {
		return date
	}
	return day.AddDate(0, 0, 1).Format(time.DateOnly)
}
