package queue

import (
	"time"

	"github.com/hashicorp/go-hclog"
)

const (
	// outageLogEvery is how often a loop says that the database still refuses.
	outageLogEvery = time.Minute
	// outageMaxPause bounds the pause between two tries of a loop that the database refuses.
	outageMaxPause = time.Minute
)

// outage is the run of failures of one loop, such as while the disk is full: it is logged at its beginning and then once a minute, and the
// loop tries less and less often. It belongs to the loop's goroutine.
type outage struct {
	log      hclog.Logger
	now      func() time.Time
	failures int
	logged   time.Time
}

// fail counts a failure and logs it, unless one was logged less than a minute ago.
func (o *outage) fail(message string, err error, args ...any) {
	o.failures++
	now := o.now()
	if since := now.Sub(o.logged); o.failures > 1 && since >= 0 && since < outageLogEvery {
		return
	}
	o.logged = now
	o.log.Error(message, append(args, "error", err, "failures", o.failures)...)
}

// end forgets the failures.
func (o *outage) end() { o.failures = 0 }

// pause returns how long to wait after the failures so far: base, doubled for each after the first.
func (o *outage) pause(base time.Duration) time.Duration {
	for range min(o.failures-1, 16) {
		base *= 2
	}
	return max(min(base, outageMaxPause), time.Millisecond)
}

func (q *Queue) newOutage() *outage { return &outage{log: q.log, now: q.cfg.Now} }
