package audit

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/patchbay-dev/patchbay/core/event"
	"github.com/patchbay-dev/patchbay/core/store"
)

const (
	// flushEvery is how long a row waits for others to share its transaction; that of a request that has not ended waits
	// once more. A crash loses what waits and what is being written then: on a slow database that is as much as comes during
	// one commit, or, of requests that have not ended, during two.
	flushEvery = 5 * time.Millisecond
	// flushBusy takes its place after a group of at least busyGroup rows: under load fewer, larger commits cost less.
	flushBusy = 10 * time.Millisecond
	busyGroup = 32
	// maxPending bounds the rows in memory. At the bound requests wait: nothing is dropped, nothing grows.
	maxPending = 16 << 10
)

// Writer writes the begin and the end of each request, and what it used of the quota, in group commits. A request whose
// begin and end fall into one write is one row written once; so that most do, the beginning alone is held back for a round.
type Writer struct {
	store  *store.Store
	sql    *statements
	log    hclog.Logger
	nextID atomic.Int64
	// node is nil for a core alone.
	node   *nodeWriter
	failed atomic.Bool
	// stored hears of the rows of each write as they went in; nil if nobody listens.
	stored func(inserts, updates []Entry)

	// lastGroup is the number of rows of the last write; the writer's alone.
	lastGroup int

	mu      sync.Mutex
	room    *sync.Cond
	pending []*Record
	kick    chan struct{}
	done    chan struct{}
	closed  bool
	// writing is how many records are being written.
	writing int
	// queued counts records since the start; all up to written have been written.
	queued, written uint64
}

// Record is an entry on its way to the database. Its fields are guarded by the audit's mutex once it has begun.
type Record struct {
	Entry
	// seq is its place in the queue.
	seq      uint64
	queued   bool
	held     bool
	written  bool
	Finished bool
	Research string
}

// newWriter makes a writer that has not started. stored hears of the rows of each write. node is nil for a core alone.
func newWriter(st *store.Store, log hclog.Logger, node *nodeWriter, stored func(inserts, updates []Entry)) *Writer {
	a := &Writer{stored: stored, store: st, sql: newStatements(st.Dialect(), node != nil), log: log, node: node, kick: make(chan struct{}, 1),
		done: make(chan struct{})}
	a.room = sync.NewCond(&a.mu)
	return a
}

// start writes what is queued from now on. lastID is the id of the latest request that is stored.
func (a *Writer) start(lastID int64) {
	a.nextID.Store(lastID)
	go a.run()
}

// Begin queues the beginning of a request. A core alone gives it its id.
func (a *Writer) Begin(r *Record) {
	r.ID = a.nextID.Add(1)
	a.mu.Lock()
	defer a.mu.Unlock()
	a.enqueueRecord(r)
}

// Annotate changes a record that has not ended. One that has been written is written again.
func (a *Writer) Annotate(r *Record, set func(*Record)) {
	a.mu.Lock()
	defer a.mu.Unlock()
	set(r)
	if r.written {
		a.enqueueRecord(r)
	}
}

// End queues what became of a request. r must not be used afterwards.
func (a *Writer) End(r *Record, set func(*Record)) {
	a.mu.Lock()
	defer a.mu.Unlock()
	set(r)
	r.Finished = true
	// In one piece with the above: a write in between would take the end along and leave it to be counted once more.
	a.enqueueRecord(r)
}

// enqueueRecord puts a record into the queue unless it is there. The caller holds the mutex.
func (a *Writer) enqueueRecord(r *Record) {
	if r.queued {
		return
	}
	for len(a.pending)+a.writing >= maxPending && !a.closed {
		a.room.Wait()
	}
	r.queued = true
	a.queued++
	r.seq = a.queued
	a.pending = append(a.pending, r)
	if len(a.pending) == 1 {
		a.wakeWriter()
	}
}

// wakeWriter has the writer look at the queue. The caller holds the mutex.
func (a *Writer) wakeWriter() {
	if a.closed {
		return
	}
	select {
	case a.kick <- struct{}{}:
	default:
	}
}

// isHealthy reports whether the last write went through.
func (a *Writer) isHealthy() bool { return !a.failed.Load() }

// flushRecords waits until everything that was queued before has been written, or ctx ends.
func (a *Writer) flushRecords(ctx context.Context) error {
	a.mu.Lock()
	upTo := a.queued
	a.mu.Unlock()
	for {
		a.mu.Lock()
		done := a.written >= upTo
		a.mu.Unlock()
		if done {
			return nil
		}
		if event.Sleep(ctx, flushEvery) != nil {
			return ctx.Err()
		}
	}
}

// close writes what is left and ends the writer. It may be called more than once.
func (a *Writer) close() {
	a.mu.Lock()
	if !a.closed {
		a.closed = true
		a.room.Broadcast()
		close(a.kick)
	}
	a.mu.Unlock()
	<-a.done
}

func (a *Writer) isClosed() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.closed
}

func (a *Writer) run() {
	defer close(a.done)
	for range a.kick {
		pause := flushEvery
		if a.lastGroup >= busyGroup {
			pause = flushBusy
		}
		time.Sleep(pause)
		a.writeAll()
	}
	a.writeAll()
}

// lastAttempts is how often a write is tried once the process is about to end.
const lastAttempts = 5

// writeAll writes what is pending. A write that fails is tried again, with pauses, for as long as it takes; at the end
// of the process it is given up after a few attempts.
func (a *Writer) writeAll() {
	batch := a.takeBatch()
	a.lastGroup = len(batch.records)
	if batch.empty() {
		a.mu.Lock()
		defer a.mu.Unlock()
		a.scheduleFlush()
		return
	}
	pause, left := 50*time.Millisecond, lastAttempts
	for attempt := 1; ; attempt++ {
		err := batch.write(context.Background(), a.store, a.sql, a.node, attempt > 1)
		if err == nil {
			break
		}
		if a.node != nil && mustRegister(err) {
			a.log.Warn("another core has ended the open requests of this one", "error", err)
			if err = a.node.registerWriter(context.Background()); err == nil {
				a.node.numberBatch(batch)
				continue
			}
		}
		a.failed.Store(true)
		a.log.Error("cannot write audit rows", "rows", len(batch.records), "attempt", attempt, "error", err)
		if a.isClosed() {
			if left--; left == 0 {
				return
			}
			pause = 50 * time.Millisecond
		}
		time.Sleep(pause)
		pause = min(2*pause, 5*time.Second)
	}
	a.failed.Store(false)
	if a.stored != nil {
		a.stored(batch.inserts, batch.keptUpdates())
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.finishWrite()
}

// finishWrite marks the batch that was taken as written. The caller holds the mutex.
func (a *Writer) finishWrite() {
	a.writing, a.written = 0, a.queued
	if len(a.pending) > 0 {
		a.written = a.pending[0].seq - 1
	}
	a.room.Broadcast()
	a.scheduleFlush()
}

// scheduleFlush has the writer come back for what is pending. The caller holds the mutex.
func (a *Writer) scheduleFlush() {
	if len(a.pending) > 0 {
		a.wakeWriter()
	}
}

// takeBatch takes the pending records from the queue. Requests that may end soon are held back once, in their order. A request
// that ends while its record is being written is queued again.
func (a *Writer) takeBatch() *batch {
	a.mu.Lock()
	defer a.mu.Unlock()
	b, held := newBatch(len(a.pending)), a.pending[:0]
	for _, r := range a.pending {
		if !r.Finished && !r.written && !r.held && !a.closed {
			r.held = true
			held = append(held, r)
			continue
		}
		b.addRecord(r)
		r.queued, r.written = false, true
	}
	clear(a.pending[len(held):])
	a.pending, a.writing = held, len(b.records)
	if a.node != nil {
		a.node.numberBatch(b)
	}
	return b
}
