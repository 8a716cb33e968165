package queue

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/robfig/cron/v3"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/store"
)

// Schedule submits a job by the clock. Runs that were missed while no process was there, or while the former job of the
// schedule was unfinished, become one.
type Schedule struct {
	// Name is unique and stays the same when Cron changes.
	Name string
	// Cron is five fields, six with leading seconds, "@every 1h30m", or a name such as "@daily". "CRON_TZ=Europe/Berlin "
	// may stand before the fields; without it they are in UTC.
	Cron string
	// Local says that fields without a time zone are in that of the server instead.
	Local   bool
	Type    string
	Payload any
	// Locks are the job's. While one is held, the run is left out.
	Locks []string
}

// schedule is a parsed Schedule. After it was added, only the goroutine that fires schedules uses next.
type schedule struct {
	Schedule
	times cron.Schedule
	next  int64
	// payload and locks are its members as they are stored.
	payload, locks string
	// shared says that it was set while a queue ran, and so is that of all nodes.
	shared bool
}

// SetSchedule adds a schedule, or replaces the one of that name, while the queue runs. It joins a transaction in ctx and
// counts when that commits, for all nodes of the database that have a handler for the type. A new schedule, and one whose Cron changed, is next due after now. What is wrong with it is a
// fault.InvalidArgument with the extension member field ("name", "type" or "cron": see ValidCron).
func (q *Queue) SetSchedule(ctx context.Context, s Schedule) error {
	made, err := q.parseSchedule(s)
	if err != nil {
		return err
	}
	made.shared = true
	return q.store.QueueTx(ctx, "set schedule", func(ctx context.Context) error {
		if err := q.storeSchedule(ctx, made); err != nil {
			return err
		}
		q.store.AfterCommit(ctx, func() { q.putSchedule(made) })
		return announceSchedules(ctx, q)
	})
}

// RemoveSchedule ends a schedule; an unknown one is none. Jobs that it submitted stay. It joins a transaction in ctx and
// counts when that commits.
func (q *Queue) RemoveSchedule(ctx context.Context, name string) error {
	return q.store.QueueTx(ctx, "remove schedule", func(ctx context.Context) error {
		if err := q.store.Writer(ctx).Exec(`DELETE FROM job_schedules WHERE name = ?`, name).Error; err != nil {
			return fmt.Errorf("remove the schedule %q: %w", name, err)
		}
		q.store.AfterCommit(ctx, func() { dropSchedule(q, name) })
		return announceSchedules(ctx, q)
	})
}

// dropSchedule removes a schedule from those that this process knows.
func dropSchedule(q *Queue, name string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.schedules = slices.DeleteFunc(slices.Clone(q.schedules), func(s *schedule) bool { return s.Name == name })
}

// putSchedule adds a schedule, or replaces the one with its name.
func (q *Queue) putSchedule(made *schedule) {
	q.mu.Lock()
	defer q.mu.Unlock()
	kept := slices.DeleteFunc(slices.Clone(q.schedules), func(s *schedule) bool { return s.Name == made.Name })
	q.schedules = append(kept, made)
}

// allSchedules returns the schedules. The slice must not be changed.
func (q *Queue) allSchedules() []*schedule {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.schedules
}

func (q *Queue) addSchedules(all []Schedule) error {
	seen := map[string]bool{}
	for _, s := range all {
		made, err := q.parseSchedule(s)
		if err != nil {
			return fmt.Errorf("read the schedule %q: %w", s.Name, err)
		}
		if seen[s.Name] {
			return fmt.Errorf("read the schedule %q: the name is taken", s.Name)
		}
		seen[s.Name] = true
		q.schedules = append(q.schedules, made)
	}
	return nil
}

// parseSchedule returns a validated schedule that is next due after now.
func (q *Queue) parseSchedule(s Schedule) (*schedule, error) {
	switch {
	case s.Name == "":
		return nil, fault.New(fault.InvalidArgument, "A schedule needs a name.").With("field", "name")
	case s.Type == "":
		return nil, fault.New(fault.InvalidArgument, "A schedule needs a type of job.").With("field", "type")
	}
	times, err := parseCron(s.Cron, q.currentTime().UTC())
	if err != nil {
		return nil, err
	}
	payload, err := json.Marshal(s.Payload)
	if err != nil {
		return nil, fmt.Errorf("encode the payload of the schedule %q: %w", s.Name, err)
	}
	made := &schedule{Schedule: s, times: times, payload: string(payload), locks: mustEncode(s.Locks)}
	made.next = q.nextRun(made)
	return made, nil
}

// nextRun returns when the schedule is next due after now, in Unix milliseconds.
func (q *Queue) nextRun(s *schedule) int64 {
	now := q.currentTime().UTC()
	if s.Local {
		now = now.In(time.Local)
	}
	return store.Millis(s.times.Next(now))
}

// initSchedules reads when each schedule is due.
func (q *Queue) initSchedules(ctx context.Context) error {
	for _, s := range q.allSchedules() {
		s.next = q.nextRun(s)
		err := q.store.QueueTx(ctx, "read schedule", func(ctx context.Context) error { return q.storeSchedule(ctx, s) })
		if err != nil {
			return err
		}
	}
	return nil
}

const (
	sqlSchedule = `INSERT INTO job_schedules (name, cron, next_at) VALUES (?, ?, ?) ON CONFLICT (name) DO UPDATE
	SET cron = excluded.cron, next_at = excluded.next_at WHERE job_schedules.cron <> excluded.cron`
	sqlScheduled = `UPDATE job_schedules SET type = ?, payload = ?, locks = ? WHERE name = ?`
	// scheduleSlack is how much later than its next run a schedule may be due: "@every" counts from the clock of the node that stored it.
	scheduleSlack = 5000
)

// storeSchedule stores a schedule. A new or changed one is next due after now, another when it was before.
func (q *Queue) storeSchedule(ctx context.Context, s *schedule) error {
	db := q.store.Writer(ctx)
	err := db.Exec(sqlSchedule, s.Name, s.timesKey(), s.next).Error
	if err == nil && s.shared {
		err = db.Exec(sqlScheduled, s.Type, s.payload, s.locks, s.Name).Error
	}
	if err == nil {
		err = db.Raw(`SELECT next_at FROM job_schedules WHERE name = ?`, s.Name).Scan(&s.next).Error
	}
	if err != nil {
		return fmt.Errorf("read the schedule %q: %w", s.Name, err)
	}
	return q.repairSchedule(ctx, s)
}

// repairSchedule sets back a schedule that is due later than its next run after now, as after a wrong clock, with a warning. Of several
// processes the first does.
func (q *Queue) repairSchedule(ctx context.Context, s *schedule) error {
	latest := q.nextRun(s)
	if s.next <= latest+scheduleSlack {
		return nil
	}
	moved := q.store.Writer(ctx).Exec(`UPDATE job_schedules SET next_at = ? WHERE name = ? AND next_at > ?`, latest, s.Name, latest)
	if moved.Error != nil {
		return fmt.Errorf("set back the schedule %q: %w", s.Name, moved.Error)
	}
	q.log.Warn("schedule corrected, the clock was wrong", "schedule", s.Name,
		"was", store.FromMillis(s.next), "due", store.FromMillis(latest))
	s.next = latest
	return nil
}

// localCron stands before the stored times of a schedule that are in the time zone of the server.
const localCron = "CRON_TZ=Local "

// timesKey returns the times of the schedule as a text that changes with them.
func (s *schedule) timesKey() string {
	if s.Local {
		return localCron + s.Cron
	}
	return s.Cron
}

// runSchedules submits the jobs of schedules when they are due, until the queue stops.
func (q *Queue) runSchedules() {
	failing := q.newOutage()
	for {
		timer := time.NewTimer(q.fireDue(q.claiming, failing))
		select {
		case <-q.claiming.Done():
			timer.Stop()
			return
		case <-timer.C:
		}
	}
}

// fireDue submits the jobs that are due and returns how long to wait for the next, at most Config.Poll, or longer while that fails.
func (q *Queue) fireDue(ctx context.Context, failing *outage) time.Duration {
	wait, failed := q.cfg.Poll, false
	for _, s := range q.allSchedules() {
		if err := q.fireIfDue(ctx, s); err != nil {
			if ctx.Err() == nil {
				failed = true
				failing.fail("submit a scheduled job", err, "schedule", s.Name)
			}
			continue
		}
		wait = min(wait, time.Duration(s.next-q.nowMillis())*time.Millisecond)
	}
	if failed {
		return failing.pause(q.cfg.Poll)
	}
	failing.end()
	return max(wait, 10*time.Millisecond)
}

// fireIfDue submits the job of a schedule that is due. One that is due later than it can be is set back first.
func (q *Queue) fireIfDue(ctx context.Context, s *schedule) error {
	// While the disk is full, only jobs that delete are submitted: the others would take the space that deletions need.
	if h := q.handlers[s.Type]; h != nil && h.Deletes {
		ctx = store.Essential(ctx)
	}
	if s.next > q.nextRun(s)+scheduleSlack {
		if err := q.store.QueueTx(ctx, "repair schedule", func(ctx context.Context) error { return q.repairSchedule(ctx, s) }); err != nil {
			return err
		}
	}
	if s.next > q.nowMillis() {
		return nil
	}
	return q.fireSchedule(ctx, s)
}

// fireSchedule advances the schedule and submits its job in one transaction. Of several processes the one that
// advances it submits.
func (q *Queue) fireSchedule(ctx context.Context, s *schedule) error {
	next := q.nextRun(s)
	stored := []int64{next}
	err := q.store.QueueTx(ctx, "fire schedule", func(ctx context.Context) error {
		moved := q.store.Writer(ctx).Exec(`UPDATE job_schedules SET next_at = ? WHERE name = ? AND next_at = ?`, next, s.Name, s.next)
		if moved.Error != nil {
			return moved.Error
		}
		if moved.RowsAffected == 0 {
			return q.store.DB(ctx).Raw(`SELECT next_at FROM job_schedules WHERE name = ?`, s.Name).Scan(&stored).Error
		}
		_, reused, err := q.Submit(ctx, Submission{Type: s.Type, DedupKey: "schedule/" + s.Name, Locks: s.Locks, Payload: s.Payload,
			Actor: "schedule"})
		if fault.CodeOf(err) == fault.Conflict {
			q.log.Info("scheduled run skipped, another job holds the lock", "schedule", s.Name)
			return nil
		}
		if reused {
			q.log.Debug("a scheduled job is still unfinished", "schedule", s.Name)
		}
		return err
	})
	switch {
	case err != nil:
		return err
	case len(stored) == 0: // it was removed by another process
		s.next = next
	default:
		s.next = stored[0]
	}
	return nil
}
