// Package searchtest holds what the tests of the search service's packages share.
package searchtest

import (
	"sync/atomic"
	"time"

	"pgregory.net/rapid"
)

// Noon is a moment in the middle of a minute, a day and a month.
var Noon = time.Date(2026, time.March, 15, 12, 0, 30, 0, time.UTC)

// Clock is a clock that tests move.
type Clock struct{ at atomic.Int64 }

// NewClock makes a clock that stands at a time.
func NewClock(at time.Time) *Clock {
	c := &Clock{}
	c.Set(at)
	return c
}

// Now returns the time of the clock.
func (c *Clock) Now() time.Time { return time.UnixMilli(c.at.Load()).UTC() }

// Set moves the clock to a time.
func (c *Clock) Set(at time.Time) { c.at.Store(at.UnixMilli()) }

// Advance moves the clock on.
func (c *Clock) Advance(d time.Duration) { c.at.Add(d.Milliseconds()) }

// DrawStep draws a duration that may end minutes, hours, days and months.
func DrawStep(t *rapid.T) time.Duration {
	return rapid.SampledFrom([]time.Duration{
		0, time.Second, 29 * time.Second, time.Minute, 7 * time.Minute, 59 * time.Minute, time.Hour, 61 * time.Minute, 5 * time.Hour,
		24 * time.Hour, 12 * 24 * time.Hour, 40 * 24 * time.Hour,
	}).Draw(t, "step")
}

// DrawStart draws a moment near the edges of days, months and years.
func DrawStart(t *rapid.T) time.Time {
	return rapid.SampledFrom([]time.Time{
		Noon, time.Date(2026, 1, 31, 23, 40, 0, 0, time.UTC), time.Date(2025, 12, 31, 23, 59, 59, 0, time.UTC),
		time.Date(2028, 2, 29, 23, 15, 0, 0, time.UTC), time.Date(2026, 6, 1, 0, 0, 0, 0, time.UTC),
	}).Draw(t, "start")
}

// SomeToken is an access token that no database knows.
const SomeToken = "th-aB3d-abcdefghijklmnopqrstuvwx"
