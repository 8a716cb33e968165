package notify

import (
	"sync"
	"time"
)

const (
	// atOnce is how many recipients of one channel are sent to at once: one whose receivers hang leaves workers to others.
	atOnce = 2
	// busyPause is how soon a delivery looks again whose channel is busy, and busyStep the least between two that wait for
	// one channel: however many there are, they do not keep the queue busy.
	busyPause = 500 * time.Millisecond
	busyStep  = 100 * time.Millisecond
	// forget is how long after its pause a recipient is remembered that nothing more is sent to.
	forget = 2 * maxPause
)

// gates let one delivery at a time through to each recipient, a few to each channel, and none where a pause was asked for:
// a dead channel holds up no other, and costs one attempt at a time.
type gates struct {
	mu        sync.Mutex
	byChannel map[string]*line
}

// line is a channel.
type line struct {
	byKey map[string]*gate
	// busy are the sends under way, since the time at which one began or ended.
	busy  int
	since time.Time
	// turns are when the last of those that wait looks again: of those that may be tried once, and of the others.
	turns [2]time.Time
}

// gate is a recipient.
type gate struct {
	busy  bool
	until time.Time
	// failures in a row.
	failures int
}

// enter takes the gate of a recipient, or tells how long to wait. A pause holds up only those that have time.
func (g *gates) enter(channel, key string, now time.Time, hasTime bool) (wait time.Duration) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.byChannel == nil {
		g.byChannel = map[string]*line{}
	}
	l := g.byChannel[channel]
	if l == nil {
		l = &line{byKey: map[string]*gate{}}
		g.byChannel[channel] = l
	}
	at := l.byKey[key]
	switch {
	case at != nil && hasTime && !at.busy && now.Before(at.until):
		return at.until.Sub(now)
	case at != nil && at.busy, l.busy >= atOnce:
		return l.turn(now, hasTime)
	case at == nil:
		at = &gate{}
		l.byKey[key] = at
	}
	at.busy, l.since = true, now
	l.busy++
	return 0
}

// turn is how long one waits that finds the channel busy: the longer, the longer nothing has happened, and each at a time
// of its own.
func (l *line) turn(now time.Time, hasTime bool) time.Duration {
	last := &l.turns[0]
	if hasTime {
		last = &l.turns[1]
	}
	next := now.Add(busyPause + now.Sub(l.since)/4)
	if after := last.Add(busyStep); after.After(next) {
		next = after
	}
	*last = next
	return next.Sub(now)
}

// leave gives the gate back. A recipient that failed for a passing reason is left alone for the pause that f tells from the
// failures in a row.
func (g *gates) leave(channel, key string, now time.Time, failed bool, f func(failures int) time.Duration) (pause time.Duration) {
	g.mu.Lock()
	defer g.mu.Unlock()
	l := g.byChannel[channel]
	l.busy--
	l.since = now
	if !failed {
		delete(l.byKey, key)
		return 0
	}
	at := l.byKey[key]
	at.busy = false
	at.failures++
	pause = f(at.failures)
	at.until = now.Add(pause)
	return pause
}

// sweep forgets recipients that nothing was sent to for long, and channels without any.
func (g *gates) sweep(now time.Time) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for channel, l := range g.byChannel {
		for key, at := range l.byKey {
			if !at.busy && now.Sub(at.until) > forget {
				delete(l.byKey, key)
			}
		}
		if len(l.byKey) == 0 && l.turns[0].Before(now) && l.turns[1].Before(now) {
			delete(g.byChannel, channel)
		}
	}
}
