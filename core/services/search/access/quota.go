package access

import (
	"sync"
	"time"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/httpd/api"
	"github.com/patchbay-dev/patchbay/core/services/search/audit"
)

// Limits bound what one token may use. 0 lets nothing through, save for RequestsMinute, where it is no limit.
type Limits struct {
	RequestsHour   int64
	CreditsHour    int64
	CreditsDay     int64
	CreditsMonth   int64
	RequestsMinute int64
}

// Exceeded says which limit a request would exceed.
type Exceeded struct {
	// Scope is "requests" or "credits", Window "minute", "hour", "day" or "month".
	Scope   string
	Window  string
	Limit   int64
	Used    int64
	ResetAt time.Time
	// Needed is how many credits the call would have reserved, where the limit is not used up and they do not fit; else 0.
	Needed int64
}

const (
	ringMinutes = ringSize
	minutesDay  = 24 * 60
)

// counter counts the requests and credits of one token: a rolling hour of 60 one-minute buckets, the UTC day and the
// UTC month, and the requests of a rolling minute of 60 one-second buckets. Credits are reserved before the upstream
// is called and settled afterwards; a reservation counts as used. The limits hold exactly under any concurrency.
type counter struct {
	mu       sync.Mutex
	seconds  ring
	requests ring
	credits  ring
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
	c.seconds.advance(now.Unix())
	c.requests.advance(now.Unix() / 60)
	c.credits.advance(now.Unix() / 60)
	if d := dayStart(now); d > c.day.start {
		c.day = period{start: d}
		if s := monthStart(now); s > c.month.start {
			c.month = period{start: s}
		}
	}
}

// reserve admits a request at the price, or returns the limit that it would exceed; then nothing has changed.
func (c *counter) reserve(now time.Time, price int64, l Limits) *Exceeded {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.advance(now)
	if x := c.checkLimits(now, price, l); x != nil {
		return x
	}
	c.seconds.add(now.Unix(), 1)
	c.requests.add(now.Unix()/60, 1)
	c.reserved += price
	return nil
}

// checkLimits returns the limit that a request at the price would exceed, or nil. The caller holds the mutex.
func (c *counter) checkLimits(now time.Time, price int64, l Limits) *Exceeded {
	if used := c.requests.sum; used >= l.RequestsHour {
		return &Exceeded{Scope: "requests", Window: "hour", Limit: l.RequestsHour, Used: used,
			ResetAt: c.requests.freedAt(now, time.Minute, used-l.RequestsHour+1)}
	}
	if used := c.seconds.sum; l.RequestsMinute > 0 && used >= l.RequestsMinute {
		return &Exceeded{Scope: "requests", Window: "minute", Limit: l.RequestsMinute, Used: used,
			ResetAt: c.seconds.freedAt(now, time.Second, used-l.RequestsMinute+1)}
	}
	return c.checkCredits(now, price, l)
}

func (c *counter) checkCredits(now time.Time, price int64, l Limits) *Exceeded {
	if price == 0 {
		return nil
	}
	for _, w := range [...]struct {
		window      string
		used, limit int64
	}{{"month", c.month.credits, l.CreditsMonth}, {"day", c.day.credits, l.CreditsDay}, {"hour", c.credits.sum, l.CreditsHour}} {
		x := Exceeded{Scope: "credits", Window: w.window, Limit: w.limit, Used: w.used + c.reserved}
		switch {
		case w.used >= w.limit:
		case x.Used+price > w.limit:
			x.Needed = price
		default:
			continue
		}
		switch w.window {
		case "month":
			x.ResetAt = nextMonth(now)
		case "day":
			x.ResetAt = nextDay(now)
		default:
			x.ResetAt = c.credits.freedAt(now, time.Minute, w.used+price-w.limit)
		}
		return &x
	}
	return nil
}

func nextDay(now time.Time) time.Time {
	return now.UTC().Truncate(24 * time.Hour).Add(24 * time.Hour)
}

func nextMonth(now time.Time) time.Time {
	now = now.UTC()
	return time.Date(now.Year(), now.Month()+1, 1, 0, 0, 0, 0, time.UTC)
}

// settleReservation replaces a reservation by the credits that were used. began is when the request was admitted: its credits
// count for that minute, day and month.
func (c *counter) settleReservation(now, began time.Time, price, credits int64, outcome audit.Outcome) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.advance(now)
	c.reserved -= price
	c.addUse(began, credits, outcome)
}

// replaceReservation replaces a reservation by one at the price next, or returns the limit that it would exceed; then
// nothing has changed.
func (c *counter) replaceReservation(now time.Time, price, next int64, l Limits) *Exceeded {
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

// countRefused counts a request that was refused.
func (c *counter) countRefused(now, began time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.advance(now)
	c.addUse(began, 0, audit.Refused)
}

// addUse adds the credits and the outcome of a request that began at the given time. The caller holds the mutex.
func (c *counter) addUse(began time.Time, credits int64, outcome audit.Outcome) {
	m := began.Unix() / 60
	if c.credits.containsBucket(m) {
		c.credits.add(m, credits)
	}
	for _, p := range []*period{&c.day, &c.month} {
		if m < p.start {
			continue
		}
		p.credits += credits
		switch outcome {
		case audit.Success:
			p.successes++
		case audit.Failure:
			p.errors++
		case audit.Refused:
			p.refused++
		}
	}
}

// restoreMinute adds the stored use of one minute, at start. The rolling minute may count a request for up to a
// minute too long.
func (c *counter) restoreMinute(now time.Time, u audit.UsageRecord) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.advance(now)
	if c.requests.containsBucket(u.Minute) {
		c.requests.add(u.Minute, u.Requests)
		c.credits.add(u.Minute, u.Credits)
	}
	// In which second they came is not stored: they count as if they had come in the last one that is possible.
	if last := min(u.Minute*60+59, now.Unix()); c.seconds.containsBucket(last) {
		c.seconds.add(last, u.Requests)
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

// periodUse returns the use of the current day, or of the current month.
func (c *counter) periodUse(now time.Time, month bool) period {
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
	MinuteRequests                                              int64
	// Reserved are credits of requests that have not ended; they are part of none of the others.
	Reserved                                  int64
	DailySuccess, DailyError                  int64
	MonthlySuccess, MonthlyRefused            int64
	HourlyRequestsResetAt, HourlyCreditsReset time.Time
	DailyResetAt, MonthlyResetAt              time.Time
	MinuteRequestsResetAt                     time.Time
}

// readSums returns the use at now, without the times at which it is reset.
func (c *counter) readSums(now time.Time) Used {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.sumsLocked(now)
}

// sumsLocked is readSums for callers that hold the mutex.
func (c *counter) sumsLocked(now time.Time) Used {
	c.advance(now)
	return Used{
		MinuteRequests: c.seconds.sum, HourlyRequests: c.requests.sum, HourlyCredits: c.credits.sum, DailyCredits: c.day.credits,
		MonthlyCredits: c.month.credits,
		Reserved:       c.reserved, DailySuccess: c.day.successes, DailyError: c.day.errors,
		MonthlySuccess: c.month.successes, MonthlyRefused: c.month.refused,
	}
}

// snapshot returns the use at now. The hourly reset times are when the oldest request or credit leaves the window.
func (c *counter) snapshot(now time.Time) Used {
	c.mu.Lock()
	defer c.mu.Unlock()
	u := c.sumsLocked(now)
	u.HourlyRequestsResetAt, u.HourlyCreditsReset = c.requests.freedAt(now, time.Minute, 1), c.credits.freedAt(now, time.Minute, 1)
	u.DailyResetAt, u.MonthlyResetAt, u.MinuteRequestsResetAt = nextDay(now), nextMonth(now), c.seconds.freedAt(now, time.Second, 1)
	return u
}

// hourlyRequests returns the requests of the last hour, and when the oldest one leaves it.
func (c *counter) hourlyRequests(now time.Time) (used int64, reset time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.advance(now)
	return c.requests.sum, c.requests.freedAt(now, time.Minute, 1)
}

// ReachedLimit returns the limit as the audit keeps it.
func (x *Exceeded) ReachedLimit() *audit.ReachedLimit {
	return &audit.ReachedLimit{Scope: x.Scope, Window: x.Window, Limit: x.Limit, Used: x.Used, ResetAt: api.TimeOf(x.ResetAt),
		Needed: x.Needed}
}

// AsFault returns the fault that the client gets.
func (x *Exceeded) AsFault(now time.Time) error {
	out := fault.New(fault.QuotaExhausted, "%s", x.ReachedLimit().RefusalText()).
		WithRetryAfter(x.ResetAt.Sub(now)).
		With("scope", x.Scope).With("window", x.Window).With("limit", x.Limit).With("used", x.Used).
		With("reset_at", x.ResetAt.Format("2006-01-02T15:04:05.000Z"))
	if x.Needed > 0 {
		out = out.With("needed", x.Needed)
	}
	return out
}

// DefaultLimits are the limits of a token where nobody says otherwise.
func DefaultLimits() Limits {
	return Limits{RequestsHour: 500, CreditsHour: 1000, CreditsDay: 5000, CreditsMonth: 50000}
}
