package queue

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// topicSchedules is that of news about schedules.
const topicSchedules = "queue.schedule"

// announceSchedules has the other nodes read the schedules once the transaction in ctx has committed.
func announceSchedules(ctx context.Context, q *Queue) error {
	if !sharesDatabase(q) {
		return nil
	}
	return q.cfg.Cluster.Publish(ctx, topicSchedules, "")
}

// followSchedules takes in the schedules that other nodes set and remove, until the queue stops.
func followSchedules(q *Queue) {
	failing := q.newOutage()
	q.cfg.Cluster.Follow(q.claiming, topicSchedules, func(ctx context.Context, _ []string) {
		if err := readSchedules(ctx, q); err != nil && ctx.Err() == nil {
			failing.fail("read the schedules of other nodes", err)
			return
		}
		failing.end()
	})
}

// scheduleRow is a schedule that was set while a queue ran, as it is stored.
type scheduleRow struct {
	Name, Cron, Type, Payload, Locks string
	NextAt                           int64
}

// readSchedules makes the schedules of this process those of the database. The ones of its program stay.
func readSchedules(ctx context.Context, q *Queue) error {
	known := q.allSchedules()
	var rows []scheduleRow
	if err := q.store.DB(ctx).Raw(`SELECT name, cron, type, payload, locks, next_at FROM job_schedules ORDER BY name`).Scan(&rows).Error; err != nil {
		return fmt.Errorf("read the schedules: %w", err)
	}
	stored := map[string]bool{}
	for _, r := range rows {
		runs := q.handlers[r.Type] != nil
		stored[r.Name] = runs || r.Type == ""
		if !runs || slices.ContainsFunc(known, r.matchesSchedule) {
			continue
		}
		made, err := q.parseSchedule(r.toSchedule())
		if err != nil {
			return fmt.Errorf("read the schedule %q: %w", r.Name, err)
		}
		made.shared, made.next = true, r.NextAt
		q.putSchedule(made)
	}
	for _, s := range known {
		if s.shared && !stored[s.Name] {
			dropSchedule(q, s.Name)
		}
	}
	return nil
}

// matchesSchedule reports whether s is the schedule of the row.
func (r scheduleRow) matchesSchedule(s *schedule) bool {
	return s.Name == r.Name && s.timesKey() == r.Cron && s.Type == r.Type && s.payload == r.Payload && s.locks == r.Locks
}

func (r scheduleRow) toSchedule() Schedule {
	s := Schedule{Name: r.Name, Type: r.Type, Payload: json.RawMessage(r.Payload)}
	s.Cron, s.Local = strings.CutPrefix(r.Cron, localCron)
	_ = json.Unmarshal([]byte(r.Locks), &s.Locks) // as storeSchedule wrote them
	return s
}
