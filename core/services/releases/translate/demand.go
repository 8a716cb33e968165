package translate

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/patchbay-dev/patchbay/core/queue"
	"github.com/patchbay-dev/patchbay/core/services/releases/translate/prose"
	"github.com/patchbay-dev/patchbay/core/store"
	"github.com/patchbay-dev/patchbay/sdk/translator"
)

// retryPause is how long a work that failed for a passing reason is not tried again by merely being asked for.
const retryPause = time.Minute

// Demand returns the works for demands, in their order. Works that are not known are queued; one that another caller has asked for is
// the same. Without a translator, and when the budget is reached, works that are not ready are disabled, and nothing is queued.
func (t *Translations) Demand(ctx context.Context, demands []Demand) (works []Work, err error) {
	set := t.cfg.Settings()
	left, err := t.budgetLeft(ctx, set)
	if err != nil {
		return nil, err
	}
	err = t.store.Tx(ctx, "demand translations", func(ctx context.Context) error {
		works = make([]Work, len(demands))
		soonest, queued := time.Time{}, false
		for i, d := range demands {
			w, err := t.demandOne(ctx, d, set, left)
			if err != nil {
				return err
			}
			works[i] = w
			if due := store.FromMillis(max(w.Deadline, w.RunAt)); w.State == Queued && (!queued || due.Before(soonest)) {
				soonest, queued = due, true
			}
		}
		if !queued {
			return nil
		}
		return t.submitJob(ctx, soonest)
	})
	return works, err
}

// demandOne returns the work for a demand. left is how many tokens of the day are left.
func (t *Translations) demandOne(ctx context.Context, d Demand, set Settings, left int64) (w Work, err error) {
	now := t.cfg.Now()
	key := d.key()
	found, err := t.findWork(ctx, "work_key = ?", key)
	switch {
	case err != nil && !errors.Is(err, errNoWork):
		return w, err
	case err == nil && !t.asksAgain(found, d, now):
		return t.hurryWork(ctx, found, d, now)
	case set.Translator == nil:
		return d.disabledWork(CodeNotConfigured), nil
	}
	tokens := translator.EstimateTokens(d.Title) + translator.EstimateTokens(prose.MaskMarkdown(d.Body).Text) + 1
	if answerFactor*tokens > left {
		return d.disabledWork(CodeBudget), nil
	}
	w = Work{
		ID: found.ID, WorkKey: key, Task: d.Task, Language: d.Language, Title: d.Title, Body: d.Body, ReleaseID: d.ReleaseID,
		Tokens: tokens, State: Queued, Priority: d.Priority, Deadline: store.Millis(now.Add(d.Linger)), RunAt: store.Millis(now),
		Progress:  found.Progress,
		CreatedAt: store.Millis(now), UpdatedAt: store.Millis(now),
	}
	saved, err := t.saveDemanded(ctx, &w, found.State)
	if err == nil && !saved {
		return t.findWork(ctx, "work_key = ?", key)
	}
	t.publishAfterCommit(ctx, w.ID)
	return w, err
}

// asksAgain reports whether a demand has a work tried once more that has ended.
func (t *Translations) asksAgain(w Work, d Demand, now time.Time) bool {
	switch {
	case !w.State.Final():
		return false
	case w.Outcome == Disabled:
		return true
	case w.Outcome != Failure:
		return false
	}
	return d.Retry || w.retriable() && now.Sub(store.FromMillis(w.UpdatedAt)) > retryPause
}

// hurryWork has a work that waits come earlier, if a demand wants it sooner.
func (t *Translations) hurryWork(ctx context.Context, w Work, d Demand, now time.Time) (Work, error) {
	deadline := store.Millis(now.Add(d.Linger))
	if w.State != Queued || w.Priority <= d.Priority && w.Deadline <= deadline {
		return w, nil
	}
	w.Priority, w.Deadline = min(w.Priority, d.Priority), min(w.Deadline, deadline)
	return w, t.store.Writer(ctx).Exec("UPDATE release_translations SET priority = ?, deadline = ? WHERE id = ? AND state = ?", w.Priority,
		w.Deadline, w.ID, Queued).Error
}

// jobsEvery is the grain of the times at which jobs begin.
const jobsEvery = 50 * time.Millisecond

// submitJob has a job look for works at a time. Jobs of the same moment are one, as long as it has not begun.
func (t *Translations) submitJob(ctx context.Context, at time.Time) error {
	at = at.Truncate(jobsEvery).Add(jobsEvery)
	for n := range 3 {
		sub := queue.Submission{Type: JobType, DedupKey: fmt.Sprintf("%d/%d", at.UnixMilli(), n), RunAt: at}
		job, reused, err := t.cfg.Queue.Submit(ctx, sub)
		if err != nil || !reused || job.State == queue.Queued {
			return err
		}
	}
	return nil
}

// SubmitLeftOver has works translated that wait without a job, such as after a crash at the wrong moment.
func (t *Translations) SubmitLeftOver(ctx context.Context) error {
	now := t.cfg.Now()
	_, err := t.findWork(ctx, "state = ? AND run_at <= ? AND deadline <= ?", Queued, store.Millis(now), store.Millis(now))
	if errors.Is(err, errNoWork) {
		return nil
	}
	if err != nil || t.cfg.Settings().Translator == nil {
		return err
	}
	return t.submitJob(ctx, now)
}
