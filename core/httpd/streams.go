package httpd

import (
	"sync"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/patchbay-dev/patchbay/core/fault"
)

// StreamLimits bounds the streams of events that are open at once: each takes memory for as long as a client likes. It
// is safe for concurrent use and may be shared by several servers.
type StreamLimits struct {
	total, each int
	// name is what a refusal calls them.
	name string

	mu    sync.Mutex
	open  int
	byKey map[string]int
}

// NewStreamLimits returns limits of total streams, and each for one caller.
func NewStreamLimits(total, each int) *StreamLimits {
	return &StreamLimits{total: total, each: each, name: "streams", byKey: map[string]int{}}
}

// Naming has refusals call what is bounded by another name than streams, and returns l.
func (l *StreamLimits) Naming(name string) *StreamLimits {
	l.name = name
	return l
}

// streamRetry is when a client may ask again for a stream that was refused.
const streamRetry = 10 * time.Second

// Acquire takes a place for a caller. The returned function releases it and may be called more than once.
func (l *StreamLimits) Acquire(caller string) (release func(), err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.byKey[caller] >= l.each:
		return nil, fault.New(fault.RateLimited, "You have %d %s open, which is the limit: close some.", l.each,
			l.name).WithRetryAfter(streamRetry)
	case l.open >= l.total:
		return nil, fault.New(fault.RateLimited, "%d %s are open, which is the limit.", l.total, l.name).WithRetryAfter(streamRetry)
	}
	l.open++
	l.byKey[caller]++
	var once sync.Once
	return func() { once.Do(func() { l.release(caller) }) }, nil
}

func (l *StreamLimits) release(caller string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.open--
	if l.byKey[caller]--; l.byKey[caller] == 0 {
		delete(l.byKey, caller)
	}
}

// AcquireStream takes a place for a stream of unbounded length. caller is whom the guard has recognised, else the
// client's address. The error is a fault.RateLimited.
func AcquireStream(c *gin.Context, caller string) (release func(), err error) {
	limits, ok := c.Value(keyStreams).(*StreamLimits)
	if !ok || limits == nil {
		return func() {}, nil
	}
	if caller == "" {
		caller = ClientAddr(c)
	}
	return limits.Acquire(caller)
}
