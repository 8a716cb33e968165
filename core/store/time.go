package store

import "time"

// timeLayout is RFC 3339 with milliseconds, always as wide.
const timeLayout = "2006-01-02T15:04:05.000Z"

// FormatTime writes t as RFC 3339 in UTC with exactly three decimals.
func FormatTime(t time.Time) string { return t.UTC().Format(timeLayout) }

// Millis is how times are stored: Unix milliseconds. The zero time is 0.
func Millis(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMilli()
}

// FromMillis is the inverse of Millis, in UTC. 0 gives the zero time.
func FromMillis(n int64) time.Time {
	if n == 0 {
		return time.Time{}
	}
	return time.UnixMilli(n).UTC()
}

// clockSlack is how far a stored time may lie ahead of a clock that was read before: by somebody who waited for a lock, or elsewhere.
const clockSlack = time.Minute

// IsWithin reports whether a stored time lies less than d before now. One more than a minute after now, as a wrong clock leaves it, does
// not.
func IsWithin(now time.Time, stored int64, d time.Duration) bool {
	age := Millis(now) - stored
	return age >= -clockSlack.Milliseconds() && age < d.Milliseconds()
}
