package queue

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/patchbay-dev/patchbay/core/event"
	"github.com/patchbay-dev/patchbay/core/lists"
	"github.com/patchbay-dev/patchbay/core/store"
)

// Types of events that the queue itself writes. Handlers may add their own.
const (
	// EventQueued: the job was submitted.
	EventQueued = "queued"
	// EventRunning: a worker began an attempt; data has "attempt".
	EventRunning = "running"
	// EventLog: a line of text; data has "text".
	EventLog = "log"
	// EventStep: another step began; data has "step".
	EventStep = "step"
	// EventProgress: data has "percent".
	EventProgress = "progress"
	// EventCancel: a running job was asked to stop.
	EventCancel = "cancel_requested"
	// EventRetry: an attempt failed and another follows; data has "attempt", "code", "message" and "run_at".
	EventRetry = "retry"
	// EventRequeued: the job was put back without being at fault; data has "reason".
	EventRequeued = "requeued"
	// EventFinished is the last event of every job; data has "state", "result" if there is one, and "code", "message" and
	// "reason" if the job did not succeed.
	EventFinished = "finished"
)

// Event is one entry of a job's history.
type Event struct {
	// ID grows over all jobs, without gaps, and readers never see an id before a smaller one. Ids of deleted events are not used
	// again. On PostgreSQL an event gets its id after its transaction: until then it is 0, in Events and on the bus, and EventsAfter
	// and FollowAll do not return the event.
	ID    int64
	JobID string
	// JobType is the type of the job.
	JobType string
	// Seq counts from 1 for each job, without gaps.
	Seq  int64
	At   time.Time
	Type string
	Data json.RawMessage
}

// TopicOf is the topic on which a job's events are published; their Data is an Event, or nil if they come from another node. "job/" stands
// for all jobs.
func TopicOf(jobID string) string { return "job/" + jobID }

// eventRow is an event as it is stored.
type eventRow struct {
	ID      int64
	JobID   string
	JobType string
	Seq     int64
	At      int64
	Type    string
	Data    string
}

const eventColumns = `id, job_id, job_type, seq, at, type, data`

// TableName implements gorm's Tabler.
func (eventRow) TableName() string { return "job_events" }

func (r *eventRow) toEvent() Event {
	return Event{ID: r.ID, JobID: r.JobID, JobType: r.JobType, Seq: r.Seq, At: store.FromMillis(r.At), Type: r.Type,
		Data: json.RawMessage(r.Data)}
}

// sqlAddEvent returns the id on SQLite, which has one writer at a time. On PostgreSQL the event has none until numberEvents gives it one.
const sqlAddEvent = `INSERT INTO job_events (job_id, seq, job_type, at, type, data) VALUES (?, ?, ?, ?, ?, ?) RETURNING COALESCE(id, 0)`

// addEvent writes an event of a job under its LastSeq, which the caller raised in the same transaction.
func (q *Queue) addEvent(ctx context.Context, job *row, kind string, data any) error {
	text, err := json.Marshal(data)
	if err != nil {
		return fmt.Errorf("encode the event %s of %s: %w", kind, job.ID, err)
	}
	r := &eventRow{JobID: job.ID, JobType: job.Type, Seq: job.LastSeq, At: q.nowMillis(), Type: kind, Data: string(text)}
	err = q.store.Writer(ctx).Raw(sqlAddEvent, r.JobID, r.Seq, r.JobType, r.At, r.Type, r.Data).Scan(&r.ID).Error
	if err != nil {
		return fmt.Errorf("write the event %s of %s: %w", kind, job.ID, err)
	}
	q.store.AfterCommit(ctx, func() { q.publishEvent(*r) })
	return nil
}

// publishEvent tells followers of an event that has been committed, here and at other nodes.
func (q *Queue) publishEvent(r eventRow) {
	q.relay.Publish(TopicOf(r.JobID), event.Event{Seq: r.Seq, Type: r.Type, Data: r.toEvent()})
}

// maxEvents is the most that one call of Events returns.
const maxEvents = 500

const sqlEvents = `SELECT ` + eventColumns + ` FROM job_events WHERE job_id = ? AND seq > ? ORDER BY seq`

// Events returns a job's events after a sequence number, oldest first, at most limit (0 and more than 500 mean 500).
func (q *Queue) Events(ctx context.Context, jobID string, afterSeq int64, limit int) ([]Event, error) {
	if limit <= 0 || limit > maxEvents {
		limit = maxEvents
	}
	var rows []eventRow
	if err := q.store.DB(ctx).Raw(sqlEvents+store.Limit(limit), jobID, afterSeq).Scan(&rows).Error; err != nil {
		return nil, fmt.Errorf("read the events of %s: %w", jobID, err)
	}
	return toEvents(rows), nil
}

func toEvents(rows []eventRow) []Event {
	return lists.ConvertAll(rows, func(r eventRow) Event { return r.toEvent() })
}
