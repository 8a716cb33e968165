package audit

import (
	"sync"
	"sync/atomic"
	"testing"
)

// newIdleAudit is an audit whose writer does not run.
func newIdleAudit() *Writer {
	a := &Writer{kick: make(chan struct{}, 1)}
	a.room = sync.NewCond(&a.mu)
	return a
}

// take is what a write does with the queue: it returns the credits that it would store.
func (a *Writer) take() (credits int64) {
	b := a.takeBatch()
	a.mu.Lock()
	a.finishWrite()
	a.mu.Unlock()
	for _, u := range b.usage {
		credits += u.Credits
	}
	return credits
}

// TestAnEndIsCountedOnce: writes go on all the time while requests begin and end, and each credit is stored once.
func TestAnEndIsCountedOnce(t *testing.T) {
	const requests = 200_000
	a := newIdleAudit()
	var stored int64
	var over atomic.Bool
	var writer, clients sync.WaitGroup
	writer.Go(func() {
		for !over.Load() {
			stored += a.take()
		}
	})
	for range 4 {
		clients.Go(func() {
			for range requests / 4 {
				r := &Record{Entry: Entry{TokenID: "abcd"}}
				a.Begin(r)
				a.End(r, func(r *Record) { r.Credits = 1 })
			}
		})
	}
	clients.Wait()
	over.Store(true)
	writer.Wait()
	if stored += a.take(); stored != requests {
		t.Fatalf("%d credits were stored as %d", requests, stored)
	}
}
