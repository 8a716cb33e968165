package queue

import (
	"context"
	"fmt"
)

// Limits of what a report may hold, in bytes.
const (
	maxLogText = 16 << 10
	maxStep    = 200
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
	p.report(ctx, EventLog, map[string]any{"text": clean(text, maxLogText)}, "")
}

// Step implements Progress.
func (p *progress) Step(ctx context.Context, name string) {
	name = clean(name, maxStep)
	p.report(ctx, EventStep, map[string]any{"step": name}, "step = ?,", name)
}

// Percent implements Progress.
func (p *progress) Percent(ctx context.Context, percent int) {
	percent = min(max(percent, 0), 100)
	p.report(ctx, EventProgress, map[string]any{"percent": percent}, "percent = ?,", percent)
}

// Emit implements Progress.
func (p *progress) Emit(ctx context.Context, eventType string, data any) {
	if eventType == EventFinished {
		eventType += "_" // only the queue tells the end
	}
	p.report(ctx, eventType, data, "")
}

// report takes the next number from the job's row, which also tells whether the job is still this run's.
func (p *progress) report(ctx context.Context, kind string, data any, set string, values ...any) {
	q, own := p.queue, p.run.row
	if !q.store.InTx(ctx) {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(context.WithoutCancel(ctx), writeTimeout)
		defer cancel()
	}
	err := q.store.QueueTx(ctx, "report progress", func(ctx context.Context) error {
		sql := "UPDATE jobs SET " + set + " last_seq = last_seq + 1 WHERE id = ? AND owner = ? AND claims = ? AND state = 'running' RETURNING *"
		r, err := q.change(ctx, sql, append(values, own.ID, q.owner, own.Claims)...)
		if err != nil {
			return err
		}
		if r == nil {
			return ErrLost
		}
		return q.addEvent(ctx, r.ID, r.LastSeq, kind, data)
	})
	if err != nil {
		q.log.Warn("a job's progress was not stored", "job", own.ID, "event", kind, "error", err)
	}
}
