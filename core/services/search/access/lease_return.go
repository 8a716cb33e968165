package access

import (
	"context"
	"time"
)

// rest is what the database has of a minute beyond what is used; negative where more is used.
type rest struct {
	minute            int64
	requests, credits int64
	wasOpen           bool
}

// returnAll gives back what is left of all minutes, when no request asks for the token.
func (l *lease) returnAll(ctx context.Context) error {
	l.taking.Lock()
	defer l.taking.Unlock()
	_, err := l.returnRest(ctx)
	return err
}

// returnRest gives back what is left of all minutes, and reports whether there was anything. The caller holds taking.
func (l *lease) returnRest(ctx context.Context) (returned bool, err error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), takeTimeout)
	defer cancel()
	for _, r := range l.cutRests() {
		err := l.pool.store.store.Tx(ctx, "return quota", func(ctx context.Context) error {
			return l.pool.store.addToRows(ctx, l.token, l.pool.node, time.Unix(r.minute*60, 0), false, -r.requests, -r.credits, false)
		})
		if err != nil {
			l.restoreRest(r)
			return returned, err
		}
		returned = returned || r.requests > 0 || r.credits > 0
	}
	return returned, nil
}

// cutRests takes what is left out of the grants, so that nobody uses it any more.
func (l *lease) cutRests() (rests []rest) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for minute, g := range l.grants {
		if g.isSettled() {
			continue
		}
		rests = append(rests, rest{minute, g.requests - g.usedRequests, g.credits - g.usedCredits, g.open})
		g.requests, g.credits, g.open = g.usedRequests, g.usedCredits, false
	}
	return rests
}

// restoreRest puts back what could not be given back.
func (l *lease) restoreRest(r rest) {
	l.mu.Lock()
	defer l.mu.Unlock()
	g := l.findGrant(r.minute)
	g.requests += r.requests
	g.credits += r.credits
	g.open = g.open || r.wasOpen
	l.pool.watch(l)
}

// isDue reports whether the database has to be told: of a minute that is over, of credits that turned out otherwise, or of what nobody has
// used for a while.
func (l *lease) isDue() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	idle := time.Since(l.used) >= idleFor
	for minute, g := range l.grants {
		if !g.isSettled() && (idle || minute < l.minute || g.credits < g.usedCredits || g.hasRest() && !g.open) {
			return true
		}
	}
	return false
}

// forgetSettled drops the grants of former minutes that are settled, and reports whether nothing has to be given back.
func (l *lease) forgetSettled() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	clean := true
	for minute, g := range l.grants {
		switch {
		case !g.isSettled() || g.running > 0:
			clean = false
		case minute < l.minute || time.Since(l.used) >= idleFor:
			delete(l.grants, minute)
		}
	}
	return clean
}

// expire gives what is left back soon: the limits of the token have changed.
func (l *lease) expire() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.used, l.refusal = time.Time{}, nil
	l.pool.wake()
}
