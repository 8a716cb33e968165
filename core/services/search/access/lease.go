package access

import (
	"context"
	"sync"
	"time"

	"github.com/patchbay-dev/patchbay/core/event"
)

const (
	// maxChunk bounds the requests that a core takes at once of a token's limits, to spend them without asking the database: what is left
	// of them when a core is killed counts as used. usualChunk is the bound for a token that does not need more than four chunks a second.
	maxChunk, usualChunk = 1000, 50
	// busyFor and calmFor are how long a chunk above usualChunk lasts at least, and at most.
	busyFor, calmFor = 250 * time.Millisecond, time.Second
)

// lease is what this core may spend of a token's limits, where several cores share them. Everything that it spends was taken before, in
// the database, where it counts as used from then on: the limits hold exactly over all cores. What is not spent is given back.
type lease struct {
	pool  *leasePool
	token string

	// taking is held while the database is asked.
	taking sync.Mutex

	mu sync.Mutex
	// grants are by the minute in whose window they count. Those of former minutes are kept until their requests have ended and the rest
	// was given back.
	grants map[int64]*grant
	// want is how many requests are taken next; took is when some were taken last.
	want int64
	took time.Time
	// minute is that of the last request; used is when it came, by this machine's clock.
	minute int64
	used   time.Time
	// refusal is the last answer of the database, good for requests at that price until refusedUntil.
	refusal      *Exceeded
	refusedPrice int64
	refusedUntil time.Time
	// others is what other cores, and this one before its last start, have used.
	others *counter
}

// grant is what was taken for a minute, and what of it is used. Credits of requests that have not ended count as used.
type grant struct {
	requests, credits         int64
	usedRequests, usedCredits int64
	// running are the requests that have not ended.
	running int64
	// open says that the database knows that some of it may be given back.
	open bool
}

// isSettled reports whether the database has exactly what is used.
func (g *grant) isSettled() bool {
	return g.requests == g.usedRequests && g.credits == g.usedCredits && !g.open
}

// hasRest reports whether something was taken that is not used.
func (g *grant) hasRest() bool { return g.requests > g.usedRequests || g.credits > g.usedCredits }

func newLease(pool *leasePool, token string) *lease {
	return &lease{pool: pool, token: token, grants: map[int64]*grant{}, want: 1, others: &counter{}}
}

// findGrant returns the grant of a minute. The caller holds the mutex.
func (l *lease) findGrant(minute int64) *grant {
	g := l.grants[minute]
	if g == nil {
		g = &grant{}
		l.grants[minute] = g
	}
	return g
}

// reserveRequest takes a request at the price from what this core may spend, else from the database. counted is in the windows in which the request
// counts, by the clock of the database.
func (l *lease) reserveRequest(ctx context.Context, price int64, limits Limits) (counted time.Time, refusal *Exceeded, err error) {
	at := l.pool.databaseTime()
	if l.spend(at, 1, price) {
		return at, nil, nil
	}
	return l.takeAndSpend(ctx, at, need{requests: 1, credits: price}, limits)
}

// changePrice changes the price of a request that counts in the windows of a time.
func (l *lease) changePrice(ctx context.Context, counted time.Time, price, next int64, limits Limits) (*Exceeded, error) {
	if l.spend(counted, 0, next-price) {
		return nil, nil
	}
	_, refusal, err := l.takeAndSpend(ctx, counted, need{credits: next - price}, limits)
	return refusal, err
}

// spend uses requests and credits of the grant of a minute up, and reports false if it has not enough.
func (l *lease) spend(at time.Time, requests, credits int64) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.spendLocked(at, requests, credits)
}

// spendLocked is spend for callers that hold the mutex.
func (l *lease) spendLocked(at time.Time, requests, credits int64) bool {
	minute := at.Unix() / 60
	g := l.grants[minute]
	if g == nil || g.requests-g.usedRequests < requests || credits > 0 && g.credits-g.usedCredits < credits {
		return false
	}
	g.usedRequests += requests
	g.usedCredits += credits
	g.running += requests
	l.minute, l.used = minute, time.Now()
	return true
}

// need is what a request lacks.
type need struct{ requests, credits int64 }

// takeAndSpend takes what a request needs, and more if there is much left. One caller at a time asks for a token, and those that wait look
// at what it got. It returns the time in whose windows the request counts, or was refused.
func (l *lease) takeAndSpend(ctx context.Context, at time.Time, n need, limits Limits) (time.Time, *Exceeded, error) {
	l.taking.Lock()
	defer l.taking.Unlock()
	if n.requests > 0 {
		at = l.pool.databaseTime()
	}
	if done, refusal := l.spendOrRefuse(at, n); done {
		return at, refusal, nil
	}
	deadline := time.Now().Add(recallPatience)
	for recalled := false; ; {
		got, err := l.pool.take(ctx, l.token, l.makeWish(at, n, limits), limits)
		if err != nil {
			l.markOpen(at)
			return at, nil, err
		}
		at = got.at
		switch {
		case got.moved:
			continue
		case got.refusal == nil:
			l.addGrant(at, n, got)
			return at, nil, nil
		}
		// What this core has left does not suffice, and may suffice for another one.
		returned, err := l.returnRest(ctx)
		if err != nil {
			return at, nil, err
		}
		if !returned && !got.elsewhere || time.Now().After(deadline) {
			l.noteRefusal(n, got)
			return at, got.refusal, nil
		}
		if got.elsewhere && !recalled {
			l.pool.recall(ctx, l.token)
			recalled = true
		}
		if got.elsewhere {
			if err := event.Sleep(ctx, returnPoll); err != nil {
				return at, nil, err
			}
		}
	}
}

// returnPoll is how often it is looked whether other cores have given back what they had left.
const returnPoll = 5 * time.Millisecond

// markOpen notes that the database may have more of a minute than is known here.
func (l *lease) markOpen(at time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.findGrant(at.Unix() / 60).open = true
	l.pool.watch(l)
}

// spendOrRefuse answers a request that has waited for another one, if it can.
func (l *lease) spendOrRefuse(at time.Time, n need) (done bool, refusal *Exceeded) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.spendLocked(at, n.requests, n.credits) {
		return true, nil
	}
	if l.refusal != nil && n.requests > 0 && n.credits >= l.refusedPrice && time.Now().Before(l.refusedUntil) {
		return true, l.refusal
	}
	return false, nil
}

// makeWish returns what to take for a request: what it needs beyond what is there, and a chunk that grows while the token is busy. Windows
// of a second have no place in a grant, so a token with such a limit takes no more than it needs.
func (l *lease) makeWish(at time.Time, n need, limits Limits) wish {
	l.mu.Lock()
	defer l.mu.Unlock()
	minute := at.Unix() / 60
	if minute > l.minute {
		l.want = max(1, l.want/4)
	}
	g := l.findGrant(minute)
	restRequests, restCredits := g.requests-g.usedRequests, max(0, g.credits-g.usedCredits)
	w := wish{at: at, isNew: n.requests > 0, price: n.credits, rest: restRequests > n.requests || restCredits > n.credits}
	w.need.requests, w.need.credits = max(0, n.requests-restRequests), max(0, n.credits-restCredits)
	if n.requests > 0 && limits.RequestsMinute == 0 {
		w.more = l.want - 1
	}
	switch pause := time.Since(l.took); {
	case l.want < usualChunk || pause < busyFor:
		l.want = min(maxChunk, 2*l.want)
	case pause > calmFor:
		l.want = usualChunk
	}
	l.took = time.Now()
	return w
}

// addGrant takes in what the database has granted, and spends what the request needs.
func (l *lease) addGrant(at time.Time, n need, got taken) {
	l.mu.Lock()
	defer l.mu.Unlock()
	g := l.findGrant(at.Unix() / 60)
	g.requests += got.requests
	g.credits += got.credits
	g.open = got.open
	l.others = got.others
	l.refusal = nil
	l.spendLocked(at, n.requests, n.credits)
	l.pool.watch(l)
}

// refusalFor is how long an answer of the database that refuses serves requests which come meanwhile.
const refusalFor = 100 * time.Millisecond

// noteRefusal keeps the answer of the database.
func (l *lease) noteRefusal(n need, got taken) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.others = got.others
	if n.requests > 0 {
		l.refusal, l.refusedPrice, l.refusedUntil = got.refusal, 0, time.Now().Add(refusalFor)
		if got.refusal.Scope == "credits" {
			l.refusedPrice = n.credits
		}
	}
}

// settle replaces the credits that a request has reserved by those that it used. What it used beyond them was not in any limit's hands.
func (l *lease) settle(at time.Time, price, credits int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	g := l.findGrant(at.Unix() / 60)
	g.running--
	g.usedCredits += credits - price
	if credits != price {
		l.pool.watch(l)
		l.pool.wake()
	}
}

// usedByOthers returns what other cores have used, as far as that is known.
func (l *lease) usedByOthers() *counter {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.others
}

// setOthers sets what other cores have used.
func (l *lease) setOthers(used *counter) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.others = used
}
