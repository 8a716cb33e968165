package queue

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"sync/atomic"
	"time"

	"gorm.io/gorm"

	"github.com/patchbay-dev/patchbay/core/queue/tickets"
	"github.com/patchbay-dev/patchbay/core/store"
)

// snoozeTicket is how long a ticket waits when the database has refused to begin its job.
const snoozeTicket = time.Second

// ticketDispatcher has jobs of a PostgreSQL database begin by tickets, which all cores of the database take from one table. A ticket that
// is late, doubled or of another time does nothing; a job without one gets another.
type ticketDispatcher struct {
	queue  *Queue
	client *tickets.Client
	// void counts the tickets here whose job had begun by another one, or was no more to begin.
	void atomic.Int64
}

func newTicketDispatcher(q *Queue) *ticketDispatcher {
	d := &ticketDispatcher{queue: q}
	d.client = tickets.New(tickets.Config{Pool: store.Pool(q.store), Logger: q.log, ID: q.processOwner, Workers: q.cfg.Workers, Poll: q.cfg.Poll,
		Kinds: d.openKinds, Run: d.runTicket})
	return d
}

func (d *ticketDispatcher) wake() { d.client.Wake() }

// ticket implements dispatcher. A job of a type that does not run here gets its ticket from a core where it does.
func (d *ticketDispatcher) ticket(ctx context.Context, r *row) error {
	h := d.queue.handlers[r.Type]
	if err := d.queue.store.Writer(ctx).Exec(sqlTicket, h != nil, r.ID, ticketQueue(h)).Error; err != nil {
		return fmt.Errorf("write the ticket of %s: %w", r.ID, err)
	}
	d.queue.store.AfterCommit(ctx, d.wake)
	return nil
}

// ticketQueue returns the queue of River for the tickets of a handler's jobs.
func ticketQueue(h *Handler) string {
	if h != nil && h.Limit > 0 {
		return tickets.Limited
	}
	return tickets.Open
}

func (d *ticketDispatcher) start(ctx context.Context) error {
	if err := d.dropPlaces(ctx); err != nil {
		return err
	}
	if err := d.replaceLost(ctx); err != nil {
		return err
	}
	if err := d.client.Start(ctx); err != nil {
		return err
	}
	d.queue.keepers.Go(d.watchTickets)
	return nil
}

func (d *ticketDispatcher) stop(ctx context.Context) {
	if err := d.client.Stop(ctx); err != nil {
		d.queue.log.Warn("jobs still run", "error", err)
	}
}

// watchTickets gives tickets to jobs that have none, until the queue stops.
func (d *ticketDispatcher) watchTickets() {
	q := d.queue
	tick := time.NewTicker(q.cfg.Poll)
	defer tick.Stop()
	failing, checked := q.newOutage(), time.Now()
	for {
		select {
		case <-q.claiming.Done():
			return
		case <-tick.C:
		}
		err := d.replaceTickets(q.claiming, sqlTicketMissing)
		if err == nil && time.Since(checked) > deadAfter*q.cfg.Heartbeat {
			checked = time.Now()
			err = d.replaceLost(q.claiming)
			if err == nil && sharesDatabase(q) {
				err = tellWaiting(q.claiming, q, ticketAge*1000)
			}
		}
		if err != nil && q.claiming.Err() == nil {
			failing.fail("give tickets to jobs", err)
			continue
		}
		failing.end()
	}
}

// dropPlaces has all jobs begin here if this core is alone.
func (d *ticketDispatcher) dropPlaces(ctx context.Context) error {
	if sharesDatabase(d.queue) || !d.queue.store.Exclusive() {
		return nil
	}
	return d.queue.store.QueueTx(store.Essential(ctx), "drop places", func(ctx context.Context) error {
		return d.queue.store.Writer(ctx).Exec(sqlDropPlaces).Error
	})
}

func (d *ticketDispatcher) replaceLost(ctx context.Context) error {
	return d.replaceTickets(ctx, sqlTicketLost)
}

// replaceTickets gives tickets to the jobs that a statement chooses.
func (d *ticketDispatcher) replaceTickets(ctx context.Context, sql string) error {
	sql = batchTicketSQL(d.queue.handlers, sql)
	types := append(d.queue.Types(), "")
	for made := int64(ticketBatch); made == ticketBatch; {
		err := d.queue.store.QueueTx(store.Essential(ctx), "write tickets", func(ctx context.Context) error {
			done := d.queue.store.Writer(ctx).Exec(sql, types, ticketBatch)
			made = done.RowsAffected
			return done.Error
		})
		if err != nil {
			return fmt.Errorf("give tickets to jobs: %w", err)
		}
		if made > 0 {
			d.wake()
		}
	}
	return nil
}

// openKinds returns the kinds of tickets of which one more job may begin here: those without a limit and those with one, and of how many jobs
// of each of the latter there is room. taken counts those of the latter that are about to begin.
func (d *ticketDispatcher) openKinds(taken map[string]int) (open, limited []string, room int) {
	q := d.queue
	if alive, _ := currentOwner(q); q.isHeld() || alive.Err() != nil || q.claiming.Err() != nil {
		return nil, nil, 0
	}
	busy := map[string]int{}
	for kind, n := range taken {
		busy[typeOfKind(kind)] += n
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, r := range q.running {
		busy[r.row.Type]++
	}
	for kind, h := range q.handlers {
		left := h.Limit - busy[kind]
		switch here := kindsHere(h); {
		case len(here) == 0:
		case h.Limit <= 0:
			open = append(open, here...)
		case left > 0:
			limited = append(limited, here...)
			if room == 0 || left < room {
				room = left
			}
		}
	}
	return open, limited, room
}

// noRetry is the pause before a ticket is tried again that has done its work.
const noRetry = -1

// runTicket begins the job of a ticket and runs it to its end. It does nothing if the job has begun by another ticket. It returns when the
// ticket may be tried again.
func (d *ticketDispatcher) runTicket(t tickets.Ticket, begun func()) (again time.Duration) {
	q := d.queue
	h, b := q.handlers[t.Type], &beginning{id: t.Job}
	alive, owner := currentOwner(q)
	if h == nil || alive.Err() != nil || !d.enterBeginning(b) {
		return 0 // this core stops, or must not work: another process may begin it
	}
	r, locked, err := d.beginRow(t, owner)
	ctx, running := d.leaveBeginning(b, h, r)
	switch {
	case running != nil:
		begun()
		defer context.AfterFunc(alive, func() { running.cancel(ErrLost) })()
		q.executeRun(ctx, running)
	case err != nil:
		q.log.Error("cannot begin a job, trying again", "job", t.Job, "type", t.Type, "error", err)
		return snoozeTicket
	case locked:
		time.AfterFunc(lockedPause, d.wake)
		return lockedPause
	default:
		d.void.Add(1)
	}
	return noRetry
}

// enterBeginning registers a job that is about to begin. It returns false if the queue stops. The caller calls leaveBeginning.
func (d *ticketDispatcher) enterBeginning(b *beginning) bool {
	q := d.queue
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.claiming.Err() != nil {
		return false
	}
	q.loops.Add(1)
	q.beginnings[b] = struct{}{}
	return true
}

// leaveBeginning registers the run of a row that has begun, if there is one.
func (d *ticketDispatcher) leaveBeginning(b *beginning, h *Handler, r *row) (context.Context, *run) {
	q := d.queue
	defer q.loops.Done()
	q.mu.Lock()
	defer q.mu.Unlock()
	delete(q.beginnings, b)
	if r == nil {
		return nil, nil
	}
	begun := &run{row: r, handler: h}
	ctx := q.registerRun(begun)
	if b.canceled {
		begun.cancel(ErrCanceled)
	}
	return ctx, begun
}

// beginRow changes the row of a job that begins by a ticket. locked says that another transaction holds it.
func (d *ticketDispatcher) beginRow(t tickets.Ticket, owner string) (r *row, locked bool, err error) {
	q := d.queue
	ctx, cancel := context.WithTimeout(store.Essential(context.Background()), writeTimeout)
	defer cancel()
	now := q.nowMillis()
	begin := sqlBegin
	if sharesDatabase(q) {
		begin = sqlBeginOwned
	}
	r, err = d.changeRow(ctx, "begin job", begin, owner, now, t.Job, t.Claims)
	if err != nil {
		return nil, false, err
	}
	if r == nil {
		var n int
		err := store.Pool(q.store).QueryRow(ctx, sqlMayBegin, t.Job, t.Claims).Scan(&n)
		return nil, n > 0, err
	}
	q.publishEvent(eventRow{JobID: r.ID, JobType: r.Type, Seq: r.LastSeq, At: now, Type: EventRunning,
		Data: mustEncode(map[string]any{"state": Running, "attempt": r.Attempt})})
	return r, false, nil
}

// endSucceeded ends a job that has succeeded and has nothing else to write then. It returns ErrLost if the job is not this run's any more.
func (d *ticketDispatcher) endSucceeded(ctx context.Context, r *run, result string) error {
	q := d.queue
	now, data := q.nowMillis(), mustEncode(outcome{state: Success, result: result}.eventData())
	ended, err := d.changeRow(ctx, "finish job", sqlSucceed, result, now, r.row.ID, r.row.Owner, r.row.Claims, data)
	if err != nil {
		return err
	}
	if ended == nil {
		return ErrLost
	}
	if q.cfg.Ended != nil {
		q.cfg.Ended(ended.toJob())
	}
	q.publishEvent(eventRow{JobID: ended.ID, JobType: ended.Type, Seq: ended.LastSeq, At: now, Type: EventFinished, Data: data})
	return nil
}

// changeRow runs a statement that changes at most one job and returns its row, or nil.
func (d *ticketDispatcher) changeRow(ctx context.Context, name, statement string, args ...any) (changed *row, err error) {
	err = d.queue.store.RunStatement(ctx, name, func(conn gorm.ConnPool) error {
		changed = nil
		return readRows(ctx, conn, statement, args, func(rows *sql.Rows) error {
			changed = &row{}
			return rows.Scan(changed.columns()...)
		})
	})
	return changed, err
}

// insert implements dispatcher. A job of a type that does not run here gets its ticket from a core where it does.
func (d *ticketDispatcher) insert(ctx context.Context, r *row) (ok bool, err error) {
	q, h := d.queue, d.queue.handlers[r.Type]
	args := []any{r.ID, r.Type, r.DedupKey, r.Actor, r.Payload, r.RunAt, r.CreatedAt, h != nil, ticketQueue(h), placeOf(h)}
	write := func(conn gorm.ConnPool) error {
		ok = false
		return readRows(ctx, conn, sqlSubmitTicketed, args, func(rows *sql.Rows) error {
			ok = true
			return rows.Scan(&r.RunAt)
		})
	}
	if q.store.InTx(ctx) {
		err = write(q.store.Writer(ctx).Statement.ConnPool)
	} else {
		err = q.store.RunStatement(ctx, "submit job", write)
	}
	if err != nil || !ok {
		return false, err
	}
	q.store.AfterCommit(ctx, func() {
		q.publishEvent(eventRow{JobID: r.ID, JobType: r.Type, Seq: r.LastSeq, At: r.CreatedAt, Type: EventQueued, Data: `{"state":"queued"}`})
		d.wake()
	})
	return true, nil
}

// readRows calls read for each row that a statement returns.
func readRows(ctx context.Context, conn gorm.ConnPool, statement string, args []any, read func(*sql.Rows) error) error {
	rows, err := conn.QueryContext(ctx, statement, args...)
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		if err := read(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}

// mustEncode returns the JSON of a value that always has one.
func mustEncode(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(text)
}
