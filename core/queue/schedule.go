package queue

import (
	"context"
	"fmt"
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
	// Cron is five fields in UTC, "@every 1h30m", or a name such as "@daily". "CRON_TZ=Europe/Berlin " may stand before
	// the fields.
	Cron    string
	Type    string
	Payload any
	// Locks are the job's. While one is held, the run is left out.
	Locks []string
}

// schedule is a Schedule that was understood.
type schedule struct {
	Schedule
	times cron.Schedule
	next  int64
}

func (q *Queue) addSchedules(all []Schedule) error {
	seen := map[string]bool{}
	for _, s := range all {
		times, err := cron.ParseStandard(s.Cron)
		if err != nil {
			return fmt.Errorf("read the schedule %q: %w", s.Name, err)
		}
		if s.Name == "" || s.Type == "" || seen[s.Name] {
			return fmt.Errorf("read the schedule %q: it needs a type and a name of its own", s.Name)
		}
		if times.Next(q.cfg.Now().UTC()).IsZero() {
			return fmt.Errorf("read the schedule %q: the time %q never comes", s.Name, s.Cron)
		}
		seen[s.Name] = true
		q.schedules = append(q.schedules, &schedule{Schedule: s, times: times})
	}
	return nil
}

func (q *Queue) after(s *schedule) int64 { return store.Millis(s.times.Next(q.cfg.Now().UTC())) }

// initSchedules reads when each schedule is due; a new or changed one counts from now.
func (q *Queue) initSchedules(ctx context.Context) error {
	for _, s := range q.schedules {
		err := q.store.QueueTx(ctx, "read schedule", func(ctx context.Context) error {
			s.next = q.after(s)
			db := q.store.Writer(ctx)
			err := db.Exec(`INSERT INTO job_schedules (name, cron, next_at) VALUES (?, ?, ?) ON CONFLICT (name) DO UPDATE
				SET cron = excluded.cron, next_at = excluded.next_at WHERE job_schedules.cron <> excluded.cron`, s.Name, s.Cron, s.next).Error
			if err != nil {
				return err
			}
			return db.Raw(`SELECT next_at FROM job_schedules WHERE name = ?`, s.Name).Scan(&s.next).Error
		})
		if err != nil {
			return fmt.Errorf("read the schedule %q: %w", s.Name, err)
		}
	}
	return nil
}

func (q *Queue) keepSchedules() {
	for len(q.schedules) > 0 {
		timer := time.NewTimer(q.fireDue(q.claiming))
		select {
		case <-q.claiming.Done():
			timer.Stop()
			return
		case <-timer.C:
		}
	}
}

// fireDue submits what is due and says how long to wait for the next, at most Config.Poll.
func (q *Queue) fireDue(ctx context.Context) time.Duration {
	wait := q.cfg.Poll
	for _, s := range q.schedules {
		if s.next <= q.now() {
			if err := q.fire(ctx, s); err != nil && ctx.Err() == nil {
				q.log.Error("submit a scheduled job", "schedule", s.Name, "error", err)
			}
		}
		wait = min(wait, time.Duration(s.next-q.now())*time.Millisecond)
	}
	return max(wait, 10*time.Millisecond)
}

// fire moves the schedule on and submits its job in one transaction. The one process that moves it is the one that
// submits.
func (q *Queue) fire(ctx context.Context, s *schedule) error {
	next := q.after(s)
	stored := []int64{next}
	err := q.store.QueueTx(ctx, "fire schedule", func(ctx context.Context) error {
		moved := q.store.Writer(ctx).Exec(`UPDATE job_schedules SET next_at = ? WHERE name = ? AND next_at = ?`, next, s.Name, s.next)
		if moved.Error != nil {
			return moved.Error
		}
		if moved.RowsAffected == 0 {
			return q.store.DB(ctx).Raw(`SELECT next_at FROM job_schedules WHERE name = ?`, s.Name).Scan(&stored).Error
		}
		_, reused, err := q.Submit(ctx, Submission{Type: s.Type, DedupKey: "schedule/" + s.Name, Locks: s.Locks, Payload: s.Payload, Actor: "schedule"})
		if fault.CodeOf(err) == fault.Conflict {
			q.log.Info("left out a scheduled run, since a lock is held", "schedule", s.Name)
			return nil
		}
		if reused {
			q.log.Debug("a scheduled job is still unfinished", "schedule", s.Name)
		}
		return err
	})
	if err == nil && len(stored) > 0 {
		s.next = stored[0]
	}
	return err
}
