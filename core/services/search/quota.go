package search

import (
	"sync"
	"time"
)

// Limits bound what one token may use. 0 lets nothing through.
type Limits struct {
	RequestsHour int64
	CreditsHour  int64
	CreditsDay   int64
	CreditsMonth int64
}

// Exceeded tells which limit a request ran into.
type Exceeded struct {
	// Scope is "requests" or "credits", Window "hour", "day" or "month".
	Scope   string
	Window  string
	Limit   int64
	Used    int64
	ResetAt time.Time
}

const (
	ringMinutes = 60
	minutesDay  = 24 * 60
)

// counter counts the requests and credits of one token: a rolling hour of 60 one-minute buckets, the UTC day and the
// UTC month. Credits are reserved before the upstream is called and settled afterwards; a reservation counts as used.
// It holds the limits exactly under any concurrency.
type counter struct {
	mu       sync.Mutex
	minute   int64 // the newest bucket of the ring
	requests [ringMinutes]int64
	credits  [ringMinutes]int64
	reqSum   int64
	credSum  int64
	reserved int64
	day      period
	month    period
}

// period sums one calendar day or month.
type period struct {
	start     int64 // its first minute
	credits   int64
	successes int64
	errors    int64
	refused   int64
}

func dayStart(t time.Time) int64 { return t.Unix() / 60 / minutesDay * minutesDay }

func monthStart(t time.Time) int64 {
	t = t.UTC()
	return time.Date(t.Year(), t.Month(), 1, 0, 0, 0, 0, time.UTC).Unix() / 60
}

// advance moves the windows to now.
func (c *counter) advance(now time.Time) {
	m := now.Unix() / 60
	if gap := m - c.minute; gap > 0 {
		for i := range min(gap, ringMinutes) {
			slot := (m - i) % ringMinutes
			c.reqSum -= c.requests[slot]
			c.credSum -= c.credits[slot]
			c.requests[slot], c.credits[slot] = 0, 0
		}
		c.minute = m
	}
	if d := dayStart(now); d > c.day.start {
		c.day = period{start: d}
		if s := monthStart(now); s > c.month.start {
			c.month = period{start: s}
		}
	}
}

// reserve admits a request at the price, or tells which limit it would exceed; then nothing has changed.
func (c *counter) reserve(now time.Time, price int64, l Limits) *Exceeded {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.advance(now)
	if x := c.check(now, price, l); x != nil {
		return x
	}
	c.requests[c.slot(now)]++
	c.reqSum++
	c.reserved += price
	return nil
}

// slot is the bucket of a moment. Requests that overtake each other meet a window that has moved on; each is counted in
// its own minute, as it is stored. After a clock that was set back the newest bucket takes what lies before them all.
func (c *counter) slot(at time.Time) int64 {
	m := at.Unix() / 60
	if m > c.minute || m <= c.minute-ringMinutes {
		m = c.minute
	}
	return m % ringMinutes
}

func (c *counter) check(now time.Time, price int64, l Limits) *Exceeded {
	if c.reqSum >= l.RequestsHour {
		return &Exceeded{"requests", "hour", l.RequestsHour, c.reqSum, c.freed(now, &c.requests, c.reqSum-l.RequestsHour+1)}
	}
	return c.checkCredits(now, price, l)
}

func (c *counter) checkCredits(now time.Time, price int64, l Limits) *Exceeded {
	if price == 0 {
		return nil
	}
	over := func(used, limit int64) bool { return used >= limit || used+c.reserved+price > limit }
	switch {
	case over(c.month.credits, l.CreditsMonth):
		return &Exceeded{"credits", "month", l.CreditsMonth, c.month.credits + c.reserved, nextMonth(now)}
	case over(c.day.credits, l.CreditsDay):
		return &Exceeded{"credits", "day", l.CreditsDay, c.day.credits + c.reserved, nextDay(now)}
	case over(c.credSum, l.CreditsHour):
		return &Exceeded{"credits", "hour", l.CreditsHour, c.credSum + c.reserved, c.freed(now, &c.credits, c.credSum+price-l.CreditsHour)}
	}
	return nil
}

// freed is when the ring will have let go of at least n, or, if it holds less, of everything; of nothing it has let go at
// the next minute.
func (c *counter) freed(now time.Time, ring *[ringMinutes]int64, n int64) time.Time {
	last := now.Unix()/60 + 1
	for i := int64(ringMinutes - 1); i >= 0; i-- {
		held := ring[(c.minute-i+ringMinutes)%ringMinutes]
		if held != 0 {
			last = c.minute - i + ringMinutes
		}
		if n -= held; n <= 0 {
			return time.Unix((c.minute-i+ringMinutes)*60, 0).UTC()
		}
	}
	return time.Unix(last*60, 0).UTC()
}

func nextDay(now time.Time) time.Time {
	return now.UTC().Truncate(24 * time.Hour).Add(24 * time.Hour)
}

func nextMonth(now time.Time) time.Time {
	now = now.UTC()
	return time.Date(now.Year(), now.Month()+1, 1, 0, 0, 0, 0, time.UTC)
}

// settle replaces a reservation by what was really used. began is when the request was admitted: its credits belong to
// that minute, day and month.
func (c *counter) settle(now, began time.Time, price, credits int64, outcome Outcome) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.advance(now)
	c.reserved -= price
	c.add(began, credits, outcome)
}

// exchange replaces a reservation by one at another price, or tells which limit that would exceed; then nothing has changed.
func (c *counter) exchange(now time.Time, price, next int64, l Limits) *Exceeded {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.advance(now)
	c.reserved -= price
	if next > price {
		if x := c.checkCredits(now, next, l); x != nil {
			c.reserved += price
			return x
		}
	}
	c.reserved += next
	return nil
}

// refuse counts a request that was turned away.
func (c *counter) refuse(now, began time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.advance(now)
	c.add(began, 0, Refused)
}

func (c *counter) add(began time.Time, credits int64, outcome Outcome) {
	m := began.Unix() / 60
	if m > c.minute-ringMinutes && m <= c.minute {
		c.credits[m%ringMinutes] += credits
		c.credSum += credits
	}
	for _, p := range []*period{&c.day, &c.month} {
		if m < p.start {
			continue
		}
		p.credits += credits
		switch outcome {
		case Success:
			p.successes++
		case Failure:
			p.errors++
		case Refused:
			p.refused++
		}
	}
}

// restore adds what was stored for a minute, at start.
func (c *counter) restore(now time.Time, u usageRecord) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.advance(now)
	if u.Minute > c.minute-ringMinutes && u.Minute <= c.minute {
		slot := u.Minute % ringMinutes
		c.requests[slot] += u.Requests
		c.reqSum += u.Requests
		c.credits[slot] += u.Credits
		c.credSum += u.Credits
	}
	for _, p := range []*period{&c.day, &c.month} {
		if u.Minute >= p.start {
			p.credits += u.Credits
			p.successes += u.Successes
			p.errors += u.Errors
			p.refused += u.Refused
		}
	}
}

// period pictures the day, or the month.
func (c *counter) period(now time.Time, month bool) period {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.advance(now)
	if month {
		return c.month
	}
	return c.day
}

// Used is what a token has used, at one moment.
type Used struct {
	HourlyRequests, HourlyCredits, DailyCredits, MonthlyCredits int64
	// Reserved are credits of requests that have not ended; they are part of none of the others.
	Reserved                                  int64
	DailySuccess, DailyError                  int64
	MonthlySuccess, MonthlyRefused            int64
	HourlyRequestsResetAt, HourlyCreditsReset time.Time
	DailyResetAt, MonthlyResetAt              time.Time
}

// used pictures the counter. The hourly reset times tell when the oldest of what is counted leaves the window.
func (c *counter) used(now time.Time) Used {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.advance(now)
	return Used{
		HourlyRequests: c.reqSum, HourlyCredits: c.credSum, DailyCredits: c.day.credits, MonthlyCredits: c.month.credits,
		Reserved: c.reserved, DailySuccess: c.day.successes, DailyError: c.day.errors,
		MonthlySuccess: c.month.successes, MonthlyRefused: c.month.refused,
		HourlyRequestsResetAt: c.freed(now, &c.requests, 1), HourlyCreditsReset: c.freed(now, &c.credits, 1),
		DailyResetAt: nextDay(now), MonthlyResetAt: nextMonth(now),
	}
}

// window is what the rate-limit headers tell: the requests that are left and when the oldest leaves the window.
func (c *counter) window(now time.Time, limit int64) (remaining int64, reset time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.advance(now)
	return max(0, limit-c.reqSum), c.freed(now, &c.requests, 1)
}
