package audit

import "testing"

// TestBeginningsAreHeldBackOnce: a request that ends within a round is one row written once, and one that does not is
// written open a round later.
func TestBeginningsAreHeldBackOnce(t *testing.T) {
	a := newIdleAudit()
	write := func(inserts, updates int, upTo uint64) {
		t.Helper()
		b := a.takeBatch()
		a.mu.Lock()
		defer a.mu.Unlock()
		a.finishWrite()
		if len(b.inserts) != inserts || len(b.updates) != updates || a.written != upTo {
			t.Errorf("%d inserts, %d updates, written up to %d; want %d, %d, %d", len(b.inserts), len(b.updates), a.written, inserts, updates, upTo)
		}
	}
	end := func(r *Record) { a.End(r, func(*Record) {}) }
	quick, slow, refused := &Record{}, &Record{}, &Record{Finished: true}
	a.Begin(quick)
	write(0, 0, 0)
	a.Begin(slow)
	a.Begin(refused)
	end(quick)
	// The slow one began before the one that was refused: not all up to that one is written.
	write(2, 0, 1)
	write(1, 0, 3)
	write(0, 0, 3)
	end(slow)
	write(0, 1, 4)
	last := &Record{}
	a.Begin(last)
	a.closed = true
	write(1, 0, 5)
	if last.held {
		t.Error("at the end nothing is held back")
	}
}
