package store

import (
	"crypto/rand"
	"sync"
	"time"

	"github.com/oklog/ulid/v2"
)

// NewID returns prefix + "_" + a ULID of the present time, such as job_01JD…. Ids of one process ascend. They are not
// secrets.
func NewID(prefix string) string { return prefix + "_" + ulid.Make().String() }

// IDs makes ids with a clock of its own.
type IDs struct {
	mu      sync.Mutex
	now     func() time.Time
	entropy *ulid.MonotonicEntropy
	last    uint64
}

// NewIDs returns a generator; now nil means time.Now.
func NewIDs(now func() time.Time) *IDs {
	if now == nil {
		now = time.Now
	}
	return &IDs{now: now, entropy: ulid.Monotonic(rand.Reader, 0)}
}

// New returns the next id. Ids of one generator ascend, also when the clock goes back.
func (g *IDs) New(prefix string) string {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.last = max(g.last, uint64(max(0, g.now().UnixMilli())))
	id, err := ulid.New(g.last, g.entropy)
	for err != nil {
		g.last++ // the random part of this millisecond is used up
		id, err = ulid.New(g.last, g.entropy)
	}
	return prefix + "_" + id.String()
}
