package search

import (
	"sync"
	"testing"
)

// newIdleAudit is an audit whose writer does not run.
func newIdleAudit() *audit {
	a := &audit{kick: make(chan struct{}, 1)}
	a.room = sync.NewCond(&a.mu)
	return a
}

// TestAnEndIsCountedOnce: a write that comes while a request ends takes its credits along once, with this write or with
// the next one.
func TestAnEndIsCountedOnce(t *testing.T) {
	a := newIdleAudit()
	take := func() (credits int64) {
		b := a.batch()
		a.mu.Lock()
		a.pending = a.pending[len(b.records):]
		a.mu.Unlock()
		for _, u := range b.usage {
			credits += u.Credits
		}
		return credits
	}
	for range 5000 {
		r := &record{entry: entry{TokenID: "abcd"}}
		a.begin(r)
		first := make(chan int64, 1)
		a.end(r, func(r *record) {
			r.Credits = 1
			go func() { first <- take() }()
		})
		if got := <-first + take(); got != 1 {
			t.Fatalf("1 credit was counted as %d", got)
		}
	}
}
