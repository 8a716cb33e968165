package access

import (
	"time"
)

// addReservation counts a request whose limits have been checked.
func (c *counter) addReservation(now time.Time, price int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.advance(now)
	c.seconds.add(now.Unix(), 1)
	c.requests.add(now.Unix()/60, 1)
	c.reserved += price
}

// moveReservation changes the reserved credits by as much as has been checked.
func (c *counter) moveReservation(by int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.reserved += by
}

// addCounter adds what o has counted. Nobody else has c.
func (c *counter) addCounter(now time.Time, o *counter) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.advance(now)
	c.seconds.addRing(&o.seconds, 1)
	c.requests.addRing(&o.requests, 1)
	c.credits.addRing(&o.credits, 1)
	c.reserved += o.reserved
	c.day.addPeriod(o.day, 1)
	c.month.addPeriod(o.month, 1)
}

// subtractCounter takes away what o has counted, as far as it is part of c. Nobody else has c.
func (c *counter) subtractCounter(now time.Time, o *counter) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.advance(now)
	c.seconds.addRing(&o.seconds, -1)
	c.requests.addRing(&o.requests, -1)
	c.credits.addRing(&o.credits, -1)
	c.day.addPeriod(o.day, -1)
	c.month.addPeriod(o.month, -1)
}

// addRing adds what the buckets of o hold, or takes it away as far as it is there.
func (r *ring) addRing(o *ring, sign int64) {
	for bucket := max(0, o.newest-ringSize+1); bucket <= o.newest; bucket++ {
		n := sign * o.buckets[bucket%ringSize]
		if n == 0 {
			continue
		}
		if sign > 0 {
			r.advance(bucket)
		} else if !r.containsBucket(bucket) {
			continue
		}
		r.add(bucket, max(n, -r.buckets[bucket%ringSize]))
	}
}

// addPeriod adds the sums of the same period, or takes them away as far as they are there.
func (p *period) addPeriod(o period, sign int64) {
	if o.start != p.start {
		return
	}
	for _, x := range []struct {
		to *int64
		n  int64
	}{{&p.credits, o.credits}, {&p.successes, o.successes}, {&p.errors, o.errors}, {&p.refused, o.refused}} {
		*x.to = max(0, *x.to+sign*x.n)
	}
}
