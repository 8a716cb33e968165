package queue

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/patchbay-dev/patchbay/core/event"
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
	// EventFinished is the last event of every job; data has "state", and "result" or "code", "message" and "reason".
	EventFinished = "finished"
)

// Event is one entry of a job's history. Seq counts from 1 for each job, without gaps.
type Event struct {
	JobID string
	Seq   int64
	At    time.Time
	Type  string
	Data  json.RawMessage
}

// TopicOf is the topic on which a job's events are published; their Data is an Event. "job/" stands for all jobs.
func TopicOf(jobID string) string { return "job/" + jobID }

// eventRow is an event as it stands in the table.
type eventRow struct {
	JobID string
	Seq   int64
	At    int64
	Type  string
	Data  string
}

// TableName implements gorm's Tabler.
func (eventRow) TableName() string { return "job_events" }

func (r *eventRow) event() Event {
	return Event{JobID: r.JobID, Seq: r.Seq, At: store.FromMillis(r.At), Type: r.Type, Data: json.RawMessage(r.Data)}
}

// addEvent writes an event under a number that the caller took from the job's row in the same transaction.
func (q *Queue) addEvent(ctx context.Context, jobID string, seq int64, kind string, data any) error {
	text, err := json.Marshal(data)
	if err != nil {
		return fmt.Errorf("encode the event %s of %s: %w", kind, jobID, err)
	}
	r := &eventRow{JobID: jobID, Seq: seq, At: q.now(), Type: kind, Data: string(text)}
	if err := q.store.Writer(ctx).Create(r).Error; err != nil {
		return fmt.Errorf("write the event %s of %s: %w", kind, jobID, err)
	}
	q.store.AfterCommit(ctx, func() {
		q.bus.Publish(TopicOf(jobID), event.Event{Seq: seq, Type: kind, Data: r.event()})
	})
	return nil
}

// maxEvents is the most that one call of Events returns.
const maxEvents = 500

const sqlEvents = `SELECT * FROM job_events WHERE job_id = ? AND seq > ? ORDER BY seq LIMIT ?`

// Events returns a job's events after a sequence number, oldest first, at most limit (0 and more than 500 mean 500).
func (q *Queue) Events(ctx context.Context, jobID string, afterSeq int64, limit int) ([]Event, error) {
	if limit <= 0 || limit > maxEvents {
		limit = maxEvents
	}
	var rows []eventRow
	if err := q.store.DB(ctx).Raw(sqlEvents, jobID, afterSeq, limit).Scan(&rows).Error; err != nil {
		return nil, fmt.Errorf("read the events of %s: %w", jobID, err)
	}
	out := make([]Event, len(rows))
	for i := range rows {
		out[i] = rows[i].event()
	}
	return out, nil
}
