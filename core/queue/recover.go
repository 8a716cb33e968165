package queue

import (
	"context"
	"fmt"
	"strings"
	"time"
)

const (
	// deadAfter is how many heartbeats an owner may miss.
	deadAfter = 4
	// maxRecoveries is how often a job is recovered before it is assumed to kill the process that runs it.
	maxRecoveries = 3
	// batchSize bounds the jobs that one transaction of the housekeeping reads or deletes.
	batchSize = 200
	// eventBatchSize bounds the events that one transaction deletes.
	eventBatchSize = 5000
	// retentionInterval is the pause between two deletions of old jobs.
	retentionInterval = time.Hour
)

const (
	sqlHeartbeat = `UPDATE jobs SET heartbeat_at = {now} WHERE owner = ? AND state = 'running' AND id IN ? RETURNING id, claims, cancel_requested`
	// sqlStaleOwners finds jobs of some types whose owner has missed its heartbeats. sqlOtherOwners finds those of all other
	// owners, which are dead if only one process may run.
	sqlStaleOwners = `SELECT ` + rowColumns + ` FROM jobs WHERE state = 'running' AND heartbeat_at < {now} - ? AND type IN ?
		ORDER BY heartbeat_at LIMIT ?`
	sqlOtherOwners = `SELECT ` + rowColumns + ` FROM jobs WHERE state = 'running' AND heartbeat_at <= ? AND owner <> ?
		ORDER BY heartbeat_at LIMIT ?`
	sqlDeleteEvents = `DELETE FROM job_events WHERE id IN (SELECT e.id FROM jobs j JOIN job_events e ON e.job_id = j.id
		WHERE j.finished_at > 0 AND j.finished_at < ? LIMIT ?)`
	sqlDeleteJobs = `DELETE FROM jobs WHERE id IN (SELECT id FROM jobs WHERE finished_at > 0 AND finished_at < ? ORDER BY finished_at LIMIT ?)`
)

// runHeartbeat confirms the running jobs, cancels those that other processes have canceled, numbers events that nobody has read, and
// recovers jobs of dead owners, until the queue stops.
func (q *Queue) runHeartbeat() {
	tick := time.NewTicker(q.cfg.Heartbeat)
	defer tick.Stop()
	failing := q.newOutage()
	for beat := 1; ; beat++ {
		select {
		case <-q.keeping.Done():
			return
		case <-tick.C:
		}
		if err := q.confirmRunning(q.keeping); err != nil && q.keeping.Err() == nil {
			failing.fail("confirm the running jobs", err)
			continue
		}
		if err := numberEvents(q.keeping, q.store); err != nil && q.keeping.Err() == nil {
			failing.fail("number the events of jobs", err)
			continue
		}
		if beat%deadAfter != 0 {
			continue
		}
		if err := q.recoverOrphans(q.keeping, false); err != nil && q.keeping.Err() == nil {
			failing.fail("recover jobs", err)
			continue
		}
		failing.end()
	}
}

// confirmRunning writes the heartbeat of the running jobs. It cancels runs whose job was canceled, with ErrCanceled,
// or is not theirs any more, with ErrLost.
func (q *Queue) confirmRunning(ctx context.Context) error {
	mine := q.runningJobs()
	if len(mine) == 0 {
		return nil
	}
	ids := make([]string, 0, len(mine))
	for id := range mine {
		ids = append(ids, id)
	}
	_, owner := currentOwner(q)
	var rows []row
	err := q.store.QueueTx(ctx, "confirm jobs", func(ctx context.Context) error {
		return q.store.Writer(ctx).Raw(withClock(q.store, sqlHeartbeat), owner, ids).Scan(&rows).Error
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

// runningJobs returns a copy of the map of running jobs.
func (q *Queue) runningJobs() map[string]*run {
	q.mu.Lock()
	defer q.mu.Unlock()
	out := make(map[string]*run, len(q.running))
	for id, r := range q.running {
		out[id] = r
	}
	return out
}

// recoverOrphans recovers running jobs without an owner: those of all other owners if sole, else those with a stale heartbeat. Beside
// other processes a job without a handler here is left to one that has it.
func (q *Queue) recoverOrphans(ctx context.Context, sole bool) error {
	for {
		rows, err := q.findOrphans(ctx, sole)
		if err != nil {
			return fmt.Errorf("find interrupted jobs: %w", err)
		}
		mine := q.runningJobs()
		moved := 0
		for i := range rows {
			if mine[rows[i].ID] != nil {
				continue
			}
			if err := q.recoverJob(ctx, &rows[i]); err != nil {
				return fmt.Errorf("recover the job %s: %w", rows[i].ID, err)
			}
			moved++
		}
		if moved == 0 || len(rows) < batchSize {
			return nil
		}
	}
}

// findOrphans returns some of the jobs that recoverOrphans is for.
func (q *Queue) findOrphans(ctx context.Context, sole bool) (rows []row, err error) {
	db := q.store.DB(ctx)
	if sole {
		db = db.Raw(sqlOtherOwners, int64(1)<<62, q.processOwner, batchSize)
	} else {
		sql := sqlStaleOwners
		if sharesDatabase(q) { // its lease says whether a node lives
			sql = strings.Replace(sql, "AND type", "AND NOT "+sqlOwnedByLive+" AND type", 1)
		}
		db = db.Raw(withClock(q.store, sql), deadAfter*q.cfg.Heartbeat.Milliseconds(), append(q.Types(), ""), batchSize)
	}
	err = db.Scan(&rows).Error
	return rows, err
}

// recoverJob ends or requeues one job of a dead owner.
func (q *Queue) recoverJob(ctx context.Context, found *row) error {
	return q.store.QueueTx(ctx, "recover job", func(ctx context.Context) error {
		r, err := q.queryOne(ctx, `SELECT `+rowColumns+` FROM jobs WHERE id = ? AND state = 'running' AND claims = ?
			AND heartbeat_at = ?`+q.forUpdate(), found.ID, found.Claims, found.HeartbeatAt)
		if err != nil || r == nil {
			return err
		}
		h := q.handlers[r.Type]
		r.Recoveries++
		q.log.Warn("recovered a job of a stopped core", "job", r.ID, "type", r.Type, "owner", r.Owner, "time", r.Recoveries)
		if r.Recoveries > maxRecoveries {
			if err := q.logGivenUp(ctx, r); err != nil {
				return err
			}
		}
		switch {
		case r.CancelRequested != 0 && (h == nil || !h.Settles || r.Recoveries > maxRecoveries):
			return q.endJob(ctx, r, canceledOutcome())
		case h == nil || !h.Safe || r.Recoveries > maxRecoveries:
			return q.endJob(ctx, r, interruptedOutcome())
		}
		return q.requeueJob(ctx, r, q.nowMillis(), max(0, r.Attempt-1), EventRequeued,
			map[string]any{"state": Queued, "reason": ReasonInterrupted})
	})
}

// logGivenUp adds a line to the log of a job that is not recovered once more.
func (q *Queue) logGivenUp(ctx context.Context, own *row) error {
	r, err := q.updateOne(ctx, `UPDATE jobs SET last_seq = last_seq + 1 WHERE id = ? RETURNING `+rowColumns, own.ID)
	if err != nil || r == nil {
		return err
	}
	text := fmt.Sprintf("The process that ran this job has ended %d times before the job did: it is not tried again.", own.Recoveries)
	return q.addEvent(ctx, r, EventLog, map[string]any{"text": text, "level": "error"})
}

// runRetention deletes jobs that are older than the retention, now and every retentionInterval, until the queue
// stops.
func (q *Queue) runRetention() {
	tick := time.NewTicker(retentionInterval)
	defer tick.Stop()
	for {
		if err := q.deleteOld(q.keeping); err != nil && q.keeping.Err() == nil {
			q.log.Error("cannot delete old jobs", "error", err)
		}
		select {
		case <-q.keeping.Done():
			return
		case <-tick.C:
		}
	}
}

// deleteOld deletes old jobs in batches, so that no transaction is long: their events first.
func (q *Queue) deleteOld(ctx context.Context) error {
	before := q.nowMillis() - q.cfg.Retention.Milliseconds()
	if err := q.deleteInBatches(ctx, sqlDeleteEvents, before, eventBatchSize); err != nil {
		return err
	}
	return q.deleteInBatches(ctx, sqlDeleteJobs, before, batchSize)
}

// deleteInBatches executes a statement that deletes at most limit rows until it deletes fewer.
func (q *Queue) deleteInBatches(ctx context.Context, sql string, before int64, limit int64) error {
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
