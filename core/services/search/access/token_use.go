package access

import (
	"context"
	"time"

	"github.com/patchbay-dev/patchbay/core/services/search/audit"
)

// Reserve admits a request at the price, or returns the limit that it would exceed; then nothing has changed. counted is the time in whose
// windows the request counts, or was refused: now, or that of the database where several cores share the limits.
func (t *Token) Reserve(ctx context.Context, now time.Time, price int64) (counted time.Time, x *Exceeded, err error) {
	l := t.lease
	if l == nil {
		return now, t.counter.reserve(now, price, t.Limits), nil
	}
	counted, x, err = l.reserveRequest(ctx, price, t.Limits)
	if x == nil && err == nil {
		t.counter.addReservation(now, price)
	}
	return counted, x, err
}

// ReplaceReservation replaces a reservation by one at the price next, or returns the limit that it would exceed; then
// nothing has changed. counted is what Reserve has returned.
func (t *Token) ReplaceReservation(ctx context.Context, now, counted time.Time, price, next int64) (*Exceeded, error) {
	l := t.lease
	if l == nil {
		return t.counter.replaceReservation(now, price, next, t.Limits), nil
	}
	if x, err := l.changePrice(ctx, counted, price, next, t.Limits); x != nil || err != nil {
		return x, err
	}
	t.counter.moveReservation(next - price)
	return nil, nil
}

// Settle replaces a reservation by the credits that were used. began is when the request was admitted, counted what Reserve has returned.
func (t *Token) Settle(now, began, counted time.Time, price, credits int64, outcome audit.Outcome) {
	t.counter.settleReservation(now, began, price, credits, outcome)
	if l := t.lease; l != nil {
		l.settle(counted, price, credits)
	}
}

// CountRefused counts a request that was refused.
func (t *Token) CountRefused(now, began time.Time) { t.counter.countRefused(now, began) }

// Snapshot returns what the token has used.
func (t *Token) Snapshot(now time.Time) Used { return t.useOfAll(now).snapshot(now) }

// HourlyWindow returns the values of the rate-limit headers: the limit, the requests that are left, and when the oldest
// one leaves the window.
func (t *Token) HourlyWindow(now time.Time) (limit, remaining int64, reset time.Time) {
	used, reset := t.counter.hourlyRequests(now)
	if t.lease != nil {
		// Each request asks: useOfAll, which copies the windows, would take a fiftieth of its time.
		others, first := t.lease.usedByOthers().hourlyRequests(now)
		if others > 0 && (used == 0 || first.Before(reset)) {
			reset = first
		}
		used += others
	}
	return t.Limits.RequestsHour, max(0, t.Limits.RequestsHour-used), reset
}

// useOfAll returns what was used here and, where several cores share the limits, at the others, as far as that is known.
func (t *Token) useOfAll(now time.Time) *counter {
	if t.lease == nil {
		return t.counter
	}
	out := &counter{}
	out.advance(now)
	out.addCounter(now, t.counter)
	out.addCounter(now, t.lease.usedByOthers())
	return out
}

// setTotal sets what all cores have used, of which this one knows its own part.
func (t *Token) setTotal(now time.Time, total *counter) {
	total.subtractCounter(now, t.counter)
	t.lease.setOthers(total)
}
