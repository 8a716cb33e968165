package queue

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/patchbay-dev/patchbay/core/texts"
)

// Limits of what a report may hold, in bytes.
const (
	maxLogText = 16 << 10
	maxStep    = 200
	maxDetail  = 64 << 10
)

// progress writes the reports of one run. Reports of a run that lost its job are dropped.
type progress struct {
	queue *Queue
	run   *run
}

// Log implements Progress.
func (p *progress) Log(ctx context.Context, format string, args ...any) {
	text := format
	if len(args) > 0 {
		text = fmt.Sprintf(format, args...)
	}
	p.reportEvent(ctx, EventLog, map[string]any{"text": texts.Limit(text, maxLogText)}, "")
}

// Step implements Progress.
func (p *progress) Step(ctx context.Context, name string) {
	name = texts.Limit(name, maxStep)
	p.reportEvent(ctx, EventStep, map[string]any{"step": name}, "step = ?,", name)
}

// Percent implements Progress.
func (p *progress) Percent(ctx context.Context, percent int) {
	percent = min(max(percent, 0), 100)
	p.reportEvent(ctx, EventProgress, map[string]any{"percent": percent}, "percent = ?,", percent)
}

// Emit implements Progress.
func (p *progress) Emit(ctx context.Context, eventType string, data any) {
	if eventType == EventFinished {
		eventType += "_" // only the queue tells the end
	}
	p.reportEvent(ctx, eventType, data, "")
}

// reportEvent stores an event under the next number of the job's row, and sets columns of that row. A failure is
// logged.
func (p *progress) reportEvent(ctx context.Context, kind string, data any, set string, values ...any) {
	err := p.updateRow(ctx, set+" last_seq = last_seq + 1", values, func(ctx context.Context, r *row) error {
		return p.queue.addEvent(ctx, r, kind, data)
	})
	if err != nil {
		p.queue.log.Warn("cannot store job progress", "job", p.run.row.ID, "event", kind, "error", err)
	}
}

// Note implements Progress.
func (p *progress) Note(ctx context.Context, v any) {
	text, err := encodeState(v, maxDetail)
	if err == nil {
		err = p.updateRow(ctx, "detail = ?", []any{text}, nil)
	}
	if err != nil {
		p.queue.log.Warn("cannot store a job note", "job", p.run.row.ID, "error", err)
	}
}

// Checkpoint implements Progress.
func (p *progress) Checkpoint(ctx context.Context, v any) error {
	text, err := encodeState(v, maxPayload)
	if err == nil {
		err = p.updateRow(ctx, withClock(p.queue.store, "heartbeat_at = {now}"), nil, func(ctx context.Context, r *row) error {
			return p.queue.store.Writer(ctx).Exec(sqlCheckpoint, r.ID, text).Error
		})
	}
	if err != nil {
		return fmt.Errorf("keep a checkpoint of %s: %w", p.run.row.ID, err)
	}
	return nil
}

// updateRow updates the job's row and calls more in the same transaction. It returns ErrLost if the job is not this
// run's any more. A canceled ctx does not hinder it.
func (p *progress) updateRow(ctx context.Context, set string, values []any, more func(context.Context, *row) error) error {
	q, own := p.queue, p.run.row
	if !q.store.InTx(ctx) {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(context.WithoutCancel(ctx), writeTimeout)
		defer cancel()
	}
	return q.store.QueueTx(ctx, "report progress", func(ctx context.Context) error {
		sql := "UPDATE jobs SET " + set + " WHERE id = ? AND owner = ? AND claims = ? AND state = 'running' RETURNING id, type, last_seq"
		r, err := q.updateOne(ctx, sql, append(values, own.ID, own.Owner, own.Claims)...)
		switch {
		case err != nil:
			return err
		case r == nil:
			return ErrLost
		case more == nil:
			return nil
		}
		return more(ctx, r)
	})
}

func encodeState(v any, limit int) (string, error) {
	text, err := json.Marshal(v)
	if err != nil {
		return "", fmt.Errorf("encode it: %w", err)
	}
	if len(text) > limit {
		return "", fmt.Errorf("it has %d bytes of JSON, more than %d", len(text), limit)
	}
	return string(text), nil
}
