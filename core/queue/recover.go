package queue

import (
	"context"
	"fmt"
	"time"
)

const (
	// deadAfter is how many heartbeats an owner may miss.
	deadAfter = 4
	// maxRecoveries is how often a job may be found without its owner before it counts as what kills the process.
	maxRecoveries = 3
	// slice bounds how many jobs one transaction of the housekeeping reads or deletes.
	slice = 200
	// eventSlice bounds how many events of old jobs one transaction deletes.
	eventSlice = 5000
	// cleanEvery is the pause between two rounds of retention.
	cleanEvery = time.Hour
)

const (
	sqlBeat = `UPDATE jobs SET heartbeat_at = ? WHERE owner = ? AND state = 'running' AND id IN ? RETURNING id, claims, cancel_requested`
	// A dead owner is known by its heartbeat. Where only one process may run, whoever is not this one is dead.
	sqlStale  = `SELECT * FROM jobs WHERE state = 'running' AND heartbeat_at < ? ORDER BY heartbeat_at LIMIT ?`
	sqlOthers = `SELECT * FROM jobs WHERE state = 'running' AND heartbeat_at <= ? AND owner <> ? ORDER BY heartbeat_at LIMIT ?`
	sqlForget = `DELETE FROM job_events WHERE id IN (SELECT e.id FROM jobs j JOIN job_events e ON e.job_id = j.id
		WHERE j.finished_at > 0 AND j.finished_at < ? LIMIT ?)`
	sqlClean = `DELETE FROM jobs WHERE id IN (SELECT id FROM jobs WHERE finished_at > 0 AND finished_at < ? ORDER BY finished_at LIMIT ?)`
)

// keepAlive confirms the running jobs, learns of cancellations by other processes, and looks for jobs of dead owners.
func (q *Queue) keepAlive() {
	tick := time.NewTicker(q.cfg.Heartbeat)
	defer tick.Stop()
	for beat := 1; ; beat++ {
		select {
		case <-q.keeping.Done():
			return
		case <-tick.C:
		}
		if err := q.beat(q.keeping); err != nil && q.keeping.Err() == nil {
			q.log.Error("confirm the running jobs", "error", err)
			continue
		}
		if beat%deadAfter != 0 {
			continue
		}
		if err := q.recover(q.keeping, false); err != nil && q.keeping.Err() == nil {
			q.log.Error("recover jobs", "error", err)
		}
	}
}

func (q *Queue) beat(ctx context.Context) error {
	mine := q.snapshot()
	if len(mine) == 0 {
		return nil
	}
	ids := make([]string, 0, len(mine))
	for id := range mine {
		ids = append(ids, id)
	}
	var rows []row
	err := q.store.QueueTx(ctx, "confirm jobs", func(ctx context.Context) error {
		return q.store.Writer(ctx).Raw(sqlBeat, q.now(), q.owner, ids).Scan(&rows).Error
	})
	if err != nil {
		return err
	}
	for i := range rows {
		r := mine[rows[i].ID]
		if r == nil || rows[i].Claims != r.row.Claims {
			continue
		}
		delete(mine, rows[i].ID)
		if rows[i].CancelRequested != 0 {
			r.cancel(ErrCanceled)
		}
	}
	for _, lost := range mine {
		lost.cancel(ErrLost)
	}
	return nil
}

func (q *Queue) snapshot() map[string]*run {
	q.mu.Lock()
	defer q.mu.Unlock()
	out := make(map[string]*run, len(q.running))
	for id, r := range q.running {
		out[id] = r
	}
	return out
}

// recover finds running jobs without an owner: those of all other owners if sole, else those whose heartbeat is old.
func (q *Queue) recover(ctx context.Context, sole bool) error {
	for {
		rows, err := q.orphans(ctx, sole)
		if err != nil {
			return fmt.Errorf("find interrupted jobs: %w", err)
		}
		mine := q.snapshot()
		moved := 0
		for i := range rows {
			if mine[rows[i].ID] != nil {
				continue
			}
			if err := q.adopt(ctx, &rows[i]); err != nil {
				return fmt.Errorf("recover the job %s: %w", rows[i].ID, err)
			}
			moved++
		}
		if moved == 0 || len(rows) < slice {
			return nil
		}
	}
}

func (q *Queue) orphans(ctx context.Context, sole bool) (rows []row, err error) {
	db := q.store.DB(ctx)
	if sole {
		db = db.Raw(sqlOthers, int64(1)<<62, q.owner, slice)
	} else {
		db = db.Raw(sqlStale, q.now()-deadAfter*q.cfg.Heartbeat.Milliseconds(), slice)
	}
	err = db.Scan(&rows).Error
	return rows, err
}

// adopt decides about one job of a dead owner.
func (q *Queue) adopt(ctx context.Context, found *row) error {
	return q.store.QueueTx(ctx, "recover job", func(ctx context.Context) error {
		r, err := q.one(ctx, `SELECT * FROM jobs WHERE id = ? AND state = 'running' AND claims = ? AND heartbeat_at = ?`+q.forUpdate(),
			found.ID, found.Claims, found.HeartbeatAt)
		if err != nil || r == nil {
			return err
		}
		h := q.handlers[r.Type]
		r.Recoveries++
		q.log.Warn("found a job without its owner", "job", r.ID, "type", r.Type, "owner", r.Owner, "time", r.Recoveries)
		switch {
		case r.CancelRequested != 0 && (h == nil || !h.Settles || r.Recoveries > maxRecoveries):
			return q.end(ctx, r, canceled())
		case h == nil || !h.Safe || r.Recoveries > maxRecoveries:
			return q.end(ctx, r, interrupted())
		}
		return q.requeue(ctx, r, q.now(), max(0, r.Attempt-1), EventRequeued, map[string]any{"state": Queued, "reason": ReasonInterrupted})
	})
}

// keepClean deletes what is older than the retention, now and every hour.
func (q *Queue) keepClean() {
	tick := time.NewTicker(cleanEvery)
	defer tick.Stop()
	for {
		if err := q.clean(q.keeping); err != nil && q.keeping.Err() == nil {
			q.log.Error("delete old jobs", "error", err)
		}
		select {
		case <-q.keeping.Done():
			return
		case <-tick.C:
		}
	}
}

// clean deletes old jobs in slices, so that no transaction is long: their many events first.
func (q *Queue) clean(ctx context.Context) error {
	before := q.now() - q.cfg.Retention.Milliseconds()
	if err := q.cleanWith(ctx, sqlForget, before, eventSlice); err != nil {
		return err
	}
	return q.cleanWith(ctx, sqlClean, before, slice)
}

func (q *Queue) cleanWith(ctx context.Context, sql string, before int64, limit int64) error {
	for ctx.Err() == nil {
		var gone int64
		err := q.store.QueueTx(ctx, "delete old jobs", func(ctx context.Context) error {
			done := q.store.Writer(ctx).Exec(sql, before, limit)
			gone = done.RowsAffected
			return done.Error
		})
		if err != nil || gone < limit {
			return err
		}
	}
	return ctx.Err()
}
