package access

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/patchbay-dev/patchbay/core/services/search/audit"
	"github.com/patchbay-dev/patchbay/core/services/search/internal/searchtest"
)

// model counts naively: it keeps every request and adds up what a window holds.
type model struct {
	now      time.Time
	limits   Limits
	requests []modelRequest
	open     []modelRequest
}

type modelRequest struct {
	at      time.Time
	price   int64
	credits int64
}

func minuteOf(t time.Time) int64 { return t.Unix() / 60 }

func (m *model) requestsHour() (n int64) {
	for _, r := range append(append([]modelRequest{}, m.requests...), m.open...) {
		if minuteOf(r.at) > minuteOf(m.now)-60 {
			n++
		}
	}
	return n
}

func (m *model) credits(in func(at time.Time) bool) (n int64) {
	for _, r := range m.requests {
		if in(r.at) {
			n += r.credits
		}
	}
	return n
}

func (m *model) hour() int64 {
	return m.credits(func(at time.Time) bool { return minuteOf(at) > minuteOf(m.now)-60 })
}

func (m *model) day() int64 {
	return m.credits(func(at time.Time) bool { return at.Format("20060102") == m.now.Format("20060102") })
}

func (m *model) month() int64 {
	return m.credits(func(at time.Time) bool { return at.Format("200601") == m.now.Format("200601") })
}

func (m *model) requestsMinute() (n int64) {
	for _, r := range append(append([]modelRequest{}, m.requests...), m.open...) {
		if r.at.Unix() > m.now.Unix()-60 {
			n++
		}
	}
	return n
}

func (m *model) reserved() (n int64) {
	for _, r := range m.open {
		n += r.price
	}
	return n
}

// refusal is "" for a request that is to be admitted, else scope and window.
func (m *model) refusal(price int64) string {
	over := func(used, limit int64) bool { return used >= limit || used+m.reserved()+price > limit }
	switch {
	case m.requestsHour() >= m.limits.RequestsHour:
		return "requests hour"
	case m.limits.RequestsMinute > 0 && m.requestsMinute() >= m.limits.RequestsMinute:
		return "requests minute"
	case price == 0:
		return ""
	case over(m.month(), m.limits.CreditsMonth):
		return "credits month"
	case over(m.day(), m.limits.CreditsDay):
		return "credits day"
	case over(m.hour(), m.limits.CreditsHour):
		return "credits hour"
	}
	return ""
}

func drawLimits(t *rapid.T) Limits {
	n := rapid.Int64Range(0, 30)
	return Limits{RequestsHour: n.Draw(t, "requests"), CreditsHour: n.Draw(t, "hour"), CreditsDay: n.Draw(t, "day"),
		CreditsMonth: n.Draw(t, "month"), RequestsMinute: rapid.Int64Range(0, 4).Draw(t, "minute")}
}

func TestCounterAgainstAModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := &model{now: searchtest.DrawStart(t), limits: drawLimits(t)}
		c := &counter{}
		t.Repeat(map[string]func(*rapid.T){
			"reserve": func(t *rapid.T) {
				price := rapid.Int64Range(0, 8).Draw(t, "price")
				want := m.refusal(price)
				x := c.reserve(m.now, price, m.limits)
				got := ""
				if x != nil {
					got = x.Scope + " " + x.Window
					checkReset(t, m, c, x, price)
				}
				if got != want {
					t.Fatalf("price %d: refused %q, want %q", price, got, want)
				}
				if x == nil {
					m.open = append(m.open, modelRequest{at: m.now, price: price})
				}
			},
			"settle": func(t *rapid.T) {
				if len(m.open) == 0 {
					t.Skip("nothing is open")
				}
				i := rapid.IntRange(0, len(m.open)-1).Draw(t, "which")
				r := m.open[i]
				r.credits = rapid.Int64Range(0, 8).Draw(t, "credits")
				c.settleReservation(m.now, r.at, r.price, r.credits, audit.Success)
				m.open = append(m.open[:i:i], m.open[i+1:]...)
				m.requests = append(m.requests, r)
			},
			"wait": func(t *rapid.T) { m.now = m.now.Add(searchtest.DrawStep(t)) },
			"": func(t *rapid.T) {
				u := c.snapshot(m.now)
				want := [5]int64{m.requestsHour(), m.hour(), m.day(), m.month(), m.reserved()}
				if got := [5]int64{u.HourlyRequests, u.HourlyCredits, u.DailyCredits, u.MonthlyCredits, u.Reserved}; got != want {
					t.Fatalf("counts %v, want %v", got, want)
				}
			},
		})
	})
}

// checkReset has the refused request tried again when the answer says so: with all reservations given back, the limit
// that refused it must not refuse it any more, and one minute before a rolling reset it still must.
func checkReset(t *rapid.T, m *model, c *counter, x *Exceeded, price int64) {
	if !x.ResetAt.After(m.now) {
		t.Fatalf("reset at %s is not after %s", x.ResetAt, m.now)
	}
	if x.Window == "hour" && x.ResetAt.After(m.now.Add(time.Hour+time.Minute)) {
		t.Fatalf("reset at %s is more than an hour after %s", x.ResetAt, m.now)
	}
	if x.Limit < max(price, 1) || len(m.open) > 0 {
		return
	}
	later := *m
	later.now = x.ResetAt
	if again := later.refusal(price); again == x.Scope+" "+x.Window {
		t.Fatalf("at its reset %s the limit %q refuses again", x.ResetAt, again)
	}
	if x.Window == "hour" && minuteOf(x.ResetAt)-1 >= minuteOf(m.now) {
		later.now = x.ResetAt.Add(-time.Minute)
		if earlier := later.refusal(price); earlier == "" {
			t.Fatalf("a minute before its reset %s nothing refuses", x.ResetAt)
		}
	}
}

func TestLimitsHoldExactlyUnderConcurrency(t *testing.T) {
	tests := []struct {
		name     string
		limits   Limits
		price    int64
		admitted int64
	}{
		{"requests", Limits{100, 1e6, 1e6, 1e6, 0}, 1, 100},
		{"credits hour", Limits{1e6, 99, 1e6, 1e6, 0}, 2, 49},
		{"credits day", Limits{1e6, 1e6, 70, 1e6, 0}, 7, 10},
		{"credits month", Limits{1e6, 1e6, 1e6, 31, 0}, 1, 31},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := &counter{}
			var admitted, top atomic.Int64
			var wg sync.WaitGroup
			for w := range 16 {
				wg.Go(func() {
					for i := range 200 {
						now := searchtest.Noon.Add(time.Duration(w*200+i) * time.Millisecond)
						if c.reserve(now, tt.price, tt.limits) != nil {
							continue
						}
						admitted.Add(1)
						if u := c.snapshot(now); u.HourlyCredits+u.Reserved > top.Load() {
							top.Store(u.HourlyCredits + u.Reserved)
						}
						c.settleReservation(now, now, tt.price, tt.price, audit.Success)
					}
				})
			}
			wg.Wait()
			if admitted.Load() != tt.admitted {
				t.Errorf("%d were admitted, want %d", admitted.Load(), tt.admitted)
			}
			if u := c.snapshot(searchtest.Noon); u.Reserved != 0 || u.HourlyCredits != tt.admitted*tt.price {
				t.Errorf("afterwards: %+v", u)
			}
			if top.Load() > tt.admitted*tt.price {
				t.Errorf("at one moment %d credits were taken", top.Load())
			}
		})
	}
}

func TestAFailureGivesTheReservationBack(t *testing.T) {
	c, l := &counter{}, Limits{10, 2, 10, 10, 0}
	if x := c.reserve(searchtest.Noon, 2, l); x != nil {
		t.Fatal(x)
	}
	if x := c.reserve(searchtest.Noon, 1, l); x == nil || x.Used != 2 {
		t.Fatalf("a reservation counts as used: %+v", x)
	}
	c.settleReservation(searchtest.Noon, searchtest.Noon, 2, 0, audit.Failure)
	if x := c.reserve(searchtest.Noon, 2, l); x != nil {
		t.Fatalf("after a failure: %+v", x)
	}
	if u := c.snapshot(searchtest.Noon); u.DailyError != 1 || u.DailySuccess != 0 {
		t.Fatalf("%+v", u)
	}
}

func TestSettlingInTheNextMonth(t *testing.T) {
	began := time.Date(2026, 1, 31, 23, 59, 59, 0, time.UTC)
	c := &counter{}
	if x := c.reserve(began, 5, DefaultLimits()); x != nil {
		t.Fatal(x)
	}
	now := began.Add(2 * time.Second)
	c.settleReservation(now, began, 5, 5, audit.Success)
	want := Used{HourlyRequests: 1, HourlyCredits: 5}
	u := c.snapshot(now)
	if got := (Used{HourlyRequests: u.HourlyRequests, HourlyCredits: u.HourlyCredits, DailyCredits: u.DailyCredits,
		MonthlyCredits: u.MonthlyCredits, MonthlySuccess: u.MonthlySuccess}); !cmp.Equal(got, want) {
		t.Errorf("what began last month belongs there: %s", cmp.Diff(want, got))
	}
}

func TestRequestsThatOvertakeEachOther(t *testing.T) {
	c := &counter{}
	late := searchtest.Noon.Add(time.Minute)
	for _, at := range []time.Time{late, searchtest.Noon} {
		if x := c.reserve(at, 1, DefaultLimits()); x != nil {
			t.Fatal(x)
		}
	}
	at := searchtest.Noon.Add(60 * time.Minute)
	if u := c.snapshot(at); u.HourlyRequests != 1 {
		t.Errorf("an hour after the first: %d requests, want only the later one", u.HourlyRequests)
	}
}

func TestAClockThatIsSetBack(t *testing.T) {
	c := &counter{}
	for i := range 5 {
		now := searchtest.Noon.Add(-time.Duration(i) * 24 * time.Hour)
		if x := c.reserve(now, 1, DefaultLimits()); x != nil {
			t.Fatal(x)
		}
		c.settleReservation(now, now, 1, 1, audit.Success)
	}
	if u := c.snapshot(searchtest.Noon); u.HourlyRequests != 5 || u.Reserved != 0 {
		t.Errorf("%+v", u)
	}
}

func TestFreed(t *testing.T) {
	c, l := &counter{}, Limits{RequestsHour: 3, CreditsHour: 10, CreditsDay: 100, CreditsMonth: 100}
	for _, m := range []int{0, 10, 20} {
		if x := c.reserve(searchtest.Noon.Add(time.Duration(m)*time.Minute), 0, l); x != nil {
			t.Fatal(x)
		}
	}
	x := c.reserve(searchtest.Noon.Add(30*time.Minute), 0, l)
	want := &Exceeded{Scope: "requests", Window: "hour", Limit: 3, Used: 3, ResetAt: time.Date(2026, 3, 15, 13, 0, 0, 0, time.UTC)}
	if diff := cmp.Diff(want, x); diff != "" {
		t.Error(diff)
	}
	if x := (&counter{}).reserve(searchtest.Noon, 11, l); x == nil || fmt.Sprint(x.ResetAt) != "2026-03-15 12:01:00 +0000 UTC" {
		t.Errorf("a price above the limit: %+v", x)
	}
}
