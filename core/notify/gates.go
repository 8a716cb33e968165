package notify

import (
	"sync"
	"time"
)

const (
	// maxConcurrentSends is the number of concurrent sends to one channel. A channel whose receivers hang leaves
	// workers to others.
	maxConcurrentSends = 2
	// minBusyDelay is the shortest delay before a delivery to a busy channel is tried again. busySpacing is the least
	// time between two such retries of one channel: however many deliveries wait, they do not keep the queue busy.
	minBusyDelay = 500 * time.Millisecond
	busySpacing  = 100 * time.Millisecond
	// forgetAfter is how long after its pause an unused recipient is remembered.
	forgetAfter = 2 * maxPause
)

// gates limit concurrent sends: one to each recipient, maxConcurrentSends to each channel, and none to a recipient
// that is paused. A dead channel delays no other, and costs one attempt at a time.
type gates struct {
	mu        sync.Mutex
	byChannel map[string]*channelGate
}

// channelGate is the state of a channel.
type channelGate struct {
	byKey map[string]*recipientGate
	// busy is the number of sends under way; since is when a send last began or ended.
	busy  int
	since time.Time
	// nextRetry holds the time of the latest scheduled retry: first for deliveries that are attempted once, then for
	// the others.
	nextRetry [2]time.Time
}

// recipientGate is the state of a recipient of a channel.
type recipientGate struct {
	busy  bool
	until time.Time
	// failures counts the failed attempts in a row.
	failures int
}

// acquire takes the gate of a recipient, or returns how long to wait. A pause delays only deliveries that may be
// repeated.
func (g *gates) acquire(channel, key string, now time.Time, repeatable bool) (wait time.Duration) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.byChannel == nil {
		g.byChannel = map[string]*channelGate{}
	}
	l := g.byChannel[channel]
	if l == nil {
		l = &channelGate{byKey: map[string]*recipientGate{}}
		g.byChannel[channel] = l
	}
	r := l.byKey[key]
	switch {
	case r != nil && repeatable && !r.busy && now.Before(r.until):
		return r.until.Sub(now)
	case r != nil && r.busy, l.busy >= maxConcurrentSends:
		return l.busyDelay(now, repeatable)
	case r == nil:
		r = &recipientGate{}
		l.byKey[key] = r
	}
	r.busy, l.since = true, now
	l.busy++
	return 0
}

// busyDelay returns the delay before a busy channel is tried again. It grows with the channel's idle time and is
// different for each caller.
func (l *channelGate) busyDelay(now time.Time, repeatable bool) time.Duration {
	last := &l.nextRetry[0]
	if repeatable {
		last = &l.nextRetry[1]
	}
	next := now.Add(minBusyDelay + now.Sub(l.since)/4)
	if after := last.Add(busySpacing); after.After(next) {
		next = after
	}
	*last = next
	return next.Sub(now)
}

// release releases the gate of a recipient. After a temporary failure the recipient is paused for the time that
// pauseFor returns for the number of failures in a row.
func (g *gates) release(channel, key string, now time.Time, failed bool, pauseFor func(failures int) time.Duration) (pause time.Duration) {
	g.mu.Lock()
	defer g.mu.Unlock()
	l := g.byChannel[channel]
	l.busy--
	l.since = now
	if !failed {
		delete(l.byKey, key)
		return 0
	}
	r := l.byKey[key]
	r.busy = false
	r.failures++
	pause = pauseFor(r.failures)
	r.until = now.Add(pause)
	return pause
}

// sweep forgets recipients that were not used for long, and channels without recipients.
func (g *gates) sweep(now time.Time) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for channel, l := range g.byChannel {
		for key, r := range l.byKey {
			if !r.busy && now.Sub(r.until) > forgetAfter {
				delete(l.byKey, key)
			}
		}
		if len(l.byKey) == 0 && l.nextRetry[0].Before(now) && l.nextRetry[1].Before(now) {
			delete(g.byChannel, channel)
		}
	}
}
