package queue

import (
	"context"
	"time"

	"gorm.io/gorm/clause"

	"github.com/patchbay-dev/patchbay/core/store"
)

// newDispatcher returns the dispatcher for the queue's database.
func newDispatcher(q *Queue) dispatcher {
	if q.store.Dialect() == store.Postgres {
		return newTicketDispatcher(q)
	}
	return &localDispatcher{queue: q, woken: make(chan struct{}, 1), slots: make(chan struct{}, q.cfg.Workers)}
}

// localDispatcher claims jobs of a SQLite database, one after the other. There is one core, and its table is looked at now and then for jobs
// of other processes.
type localDispatcher struct {
	queue *Queue
	woken chan struct{}
	slots chan struct{}
}

const (
	sqlNext  = `SELECT run_at FROM jobs WHERE state = 'queued' AND type IN ? ORDER BY run_at, id LIMIT 1`
	sqlClaim = `UPDATE jobs SET state = 'running', owner = ?, heartbeat_at = ` + sqliteNow + `, attempt = attempt + 1, claims = claims + 1,
		last_seq = last_seq + 1, step = '', percent = 0, started_at = CASE WHEN started_at = 0 THEN ? ELSE started_at END
		WHERE id = (SELECT id FROM jobs WHERE state = 'queued' AND run_at <= ? AND type IN ? ORDER BY run_at, id LIMIT 1) RETURNING ` + rowColumns
)

func (d *localDispatcher) ticket(ctx context.Context, _ *row) error {
	d.queue.store.AfterCommit(ctx, d.wake)
	return nil
}

func (d *localDispatcher) insert(ctx context.Context, r *row) (bool, error) {
	created := d.queue.store.Writer(ctx).Clauses(clause.OnConflict{DoNothing: true}).Create(r)
	if created.Error != nil || created.RowsAffected == 0 {
		return false, created.Error
	}
	if err := d.queue.addEvent(ctx, r, EventQueued, map[string]any{"state": Queued}); err != nil {
		return false, err
	}
	return true, d.ticket(ctx, r)
}

func (d *localDispatcher) endSucceeded(ctx context.Context, r *run, result string) error {
	return d.queue.store.QueueTx(ctx, "finish job", func(ctx context.Context) error {
		return d.queue.endJob(ctx, r.row, outcome{state: Success, result: result})
	})
}

func (d *localDispatcher) wake() {
	select {
	case d.woken <- struct{}{}:
	default:
	}
}

func (d *localDispatcher) start(context.Context) error {
	d.queue.loops.Go(d.dispatchJobs)
	return nil
}

func (d *localDispatcher) stop(context.Context) {}

// dispatchJobs claims a job whenever a worker is free, until the queue stops.
func (d *localDispatcher) dispatchJobs() {
	q := d.queue
	for {
		select {
		case <-q.claiming.Done():
			return
		case d.slots <- struct{}{}:
		}
		r := d.claimNext()
		if r == nil {
			<-d.slots
			return
		}
		ctx := q.startRun(r)
		go func() {
			defer func() { <-d.slots }()
			if job, err := q.Get(ctx, r.row.ID); err == nil && job.CancelRequested {
				r.cancel(ErrCanceled) // asked between the claim and startRun
			}
			q.executeRun(ctx, r)
		}()
	}
}

// claimNext waits for a due job and claims it. It returns nil when the queue stops.
func (d *localDispatcher) claimNext() *run {
	q, failing := d.queue, d.queue.newOutage()
	for q.claiming.Err() == nil {
		r, wait, err := d.claimDue()
		if err != nil {
			failing.fail("claim a job", err)
			wait = failing.pause(wait)
		} else {
			failing.end()
		}
		if r != nil {
			return &run{row: r, handler: q.handlers[r.Type]}
		}
		timer := time.NewTimer(wait)
		select {
		case <-q.claiming.Done():
		case <-d.woken:
		case <-timer.C:
		}
		timer.Stop()
	}
	return nil
}

// claimDue claims the job that has been due longest, or returns how long to wait before the next try.
func (d *localDispatcher) claimDue() (*row, time.Duration, error) {
	q := d.queue
	ctx, cancel := context.WithTimeout(store.Essential(context.Background()), writeTimeout)
	defer cancel()
	types := q.openTypes()
	if len(types) == 0 || q.isHeld() {
		return nil, q.cfg.Poll, nil
	}
	var due []int64
	if err := q.store.DB(ctx).Raw(sqlNext, types).Scan(&due).Error; err != nil {
		return nil, q.cfg.Poll, err
	}
	if len(due) == 0 || due[0] > q.nowMillis() {
		return nil, d.waitFor(due), nil
	}
	var claimed *row
	err := q.store.QueueTx(ctx, "claim job", func(ctx context.Context) error {
		r, err := q.updateOne(ctx, sqlClaim, q.processOwner, q.nowMillis(), q.nowMillis(), types)
		if err != nil || r == nil {
			return err
		}
		if r.Claims > 1 {
			if err := q.readCheckpoint(ctx, r); err != nil {
				return err
			}
		}
		claimed = r
		return q.addEvent(ctx, r, EventRunning, map[string]any{"state": Running, "attempt": r.Attempt})
	})
	if err != nil {
		return nil, q.cfg.Poll, err
	}
	if claimed == nil { // another process was faster
		return nil, min(lockedPause, q.cfg.Poll), nil
	}
	return claimed, 0, nil
}

// waitFor returns how long to wait for the first of the due times, at most Config.Poll.
func (d *localDispatcher) waitFor(due []int64) time.Duration {
	if len(due) == 0 {
		return d.queue.cfg.Poll
	}
	wait := time.Duration(due[0]-d.queue.nowMillis()) * time.Millisecond
	return min(max(wait, time.Millisecond), d.queue.cfg.Poll)
}
