package translate

import (
	"context"
	"errors"
	"time"

	"github.com/patchbay-dev/patchbay/core/queue"
	"github.com/patchbay-dev/patchbay/core/store"
	"github.com/patchbay-dev/patchbay/sdk/translator"
)

// Batch is a number of works that are translated together, as it is stored.
type Batch struct {
	ID    string `gorm:"primaryKey"`
	JobID string
	State State
	// Reason is why it was closed: "tokens" for a full one, "deadline", or "asked" for works that somebody waits for by name.
	Reason     string
	Works      int
	Tokens     int64
	CreatedAt  int64 `gorm:"autoCreateTime:false"`
	FinishedAt int64
}

// TableName implements gorm's Tabler.
func (Batch) TableName() string { return "release_translation_batches" }

const (
	reasonTokens   = "tokens"
	reasonDeadline = "deadline"
	reasonAsked    = "asked"
	// consideredAtOnce is how many works that wait are looked at for a batch.
	consideredAtOnce = 200
	defaultTokens    = 1800
)

// runJob translates what waits, batch after batch. A job that runs again goes on with the works that it has.
func (t *Translations) runJob(ctx context.Context, job *queue.Job, _ queue.Progress) (any, error) {
	result := struct {
		Batches int `json:"batches"`
		Works   int `json:"works"`
	}{}
	for {
		works, err := t.listWorks(ctx, job.ID)
		if err == nil && len(works) == 0 {
			works, err = t.claimBatch(ctx, job.ID)
		}
		if err != nil || len(works) == 0 {
			return result, err
		}
		result.Batches++
		result.Works += len(works)
		if err := t.runBatch(ctx, job.ID, works); err != nil {
			return result, err
		}
	}
}

// listWorks returns the works that a job has begun and not ended, of one batch.
func (t *Translations) listWorks(ctx context.Context, jobID string) (works []Work, err error) {
	err = t.store.DB(ctx).Where("job_id = ? AND state IN (?, ?)", jobID, Batched, Running).Order("batch_id, created_at, id").Find(&works).Error
	for i := range works {
		if works[i].BatchID != works[0].BatchID {
			return works[:i], err
		}
	}
	return works, err
}

// claimBatch makes the next batch of works that wait: the most urgent one, and those of the same task and language with which it is
// full. It returns nothing if none is due, and has another job begin if more are.
func (t *Translations) claimBatch(ctx context.Context, jobID string) (claimed []Work, err error) {
	now := t.cfg.Now()
	until, err := t.pausedUntil(ctx)
	if err != nil {
		return nil, err
	}
	if !until.IsZero() {
		return nil, t.submitJob(ctx, until)
	}
	err = t.store.Tx(ctx, "claim translations", func(ctx context.Context) error {
		claimed = nil
		var waiting []Work
		err := t.store.DB(ctx).Where("state = ? AND run_at <= ?", Queued,
			store.Millis(now)).Order("priority, deadline, created_at, id").Limit(consideredAtOnce).Find(&waiting).Error
		if err != nil || len(waiting) == 0 {
			return err
		}
		batch, reason, rest := t.fillBatch(waiting, now)
		if reason == "" {
			return t.submitJob(ctx, store.FromMillis(rest))
		}
		if claimed, err = t.claimWorks(ctx, jobID, reason, batch); err != nil || rest == 0 {
			return err
		}
		return t.submitJob(ctx, store.FromMillis(rest))
	})
	return claimed, err
}

// fillBatch chooses works for a batch. reason is "" if the batch is neither full nor due; next is when the works that are left over
// want a job, 0 if there are none.
func (t *Translations) fillBatch(waiting []Work, now time.Time) (batch []Work, reason string, next int64) {
	first := waiting[0]
	budget, sum := t.batchTokens(), int64(0)
	due := false
	for _, w := range waiting {
		if w.Task != first.Task || w.Language != first.Language || len(batch) > 0 && (sum+w.Tokens > budget || w.Task == translator.Summarize) ||
			reason == reasonTokens {
			if next == 0 || w.Deadline < next {
				next = max(w.Deadline, 1)
			}
			continue
		}
		batch = append(batch, w)
		sum += w.Tokens
		due = due || w.Deadline <= store.Millis(now)
		if sum >= budget || w.Task == translator.Summarize {
			reason = reasonTokens
		}
	}
	if reason == "" && due {
		reason = reasonDeadline
	}
	if reason == "" {
		for _, w := range batch {
			if next == 0 || w.Deadline < next {
				next = max(w.Deadline, 1)
			}
		}
	}
	return batch, reason, next
}

func (t *Translations) batchTokens() int64 {
	if n := t.cfg.Settings().BatchTokens; n > 0 {
		return n
	}
	return defaultTokens
}

// claimWorks gives works that wait to a job, as a batch. Works that another job has taken meanwhile are left out.
func (t *Translations) claimWorks(ctx context.Context, jobID, reason string, works []Work) (claimed []Work, err error) {
	now := store.Millis(t.cfg.Now())
	batch := Batch{ID: t.ids.New("batch"), JobID: jobID, State: Running, Reason: reason, CreatedAt: now}
	var ids []string
	for _, w := range works {
		res := t.store.Writer(ctx).Exec("UPDATE release_translations SET state = ?, batch_id = ?, job_id = ?, updated_at = ? WHERE id = ? AND state = ?", Batched, batch.ID, jobID, now, w.ID, Queued)
		if res.Error != nil {
			return nil, res.Error
		}
		if res.RowsAffected == 0 {
			continue
		}
		w.State, w.BatchID, w.JobID = Batched, batch.ID, jobID
		claimed, ids = append(claimed, w), append(ids, w.ID)
		batch.Works++
		batch.Tokens += w.Tokens
	}
	if len(claimed) == 0 {
		return nil, nil
	}
	t.publishAfterCommit(ctx, ids...)
	return claimed, t.store.Writer(ctx).Create(&batch).Error
}

// Finish translates works at once, as a part of a job, and returns when all have ended. Those that another job has begun are waited
// for.
func (t *Translations) Finish(ctx context.Context, jobID string, ids []string) error {
	waiting, err := t.List(ctx, ids)
	if err != nil {
		return err
	}
	err = t.store.Tx(ctx, "claim translations", func(ctx context.Context) error {
		_, err := t.claimWorks(ctx, jobID, reasonAsked, waiting)
		return err
	})
	for err == nil {
		var works []Work
		if works, err = t.listWorks(ctx, jobID); err != nil || len(works) == 0 {
			break
		}
		err = t.runBatch(ctx, jobID, works)
	}
	if err != nil {
		return err
	}
	return t.Follow(ctx, ids, func(Work) error { return nil })
}

// finishBatch notes that a batch has ended.
func (t *Translations) finishBatch(ctx context.Context, id string, state State) error {
	return t.store.Tx(ctx, "finish batch", func(ctx context.Context) error {
		return t.store.Writer(ctx).Exec("UPDATE release_translation_batches SET state = ?, finished_at = ? WHERE id = ?", state,
			store.Millis(t.cfg.Now()), id).Error
	})
}

// runBatch translates the works of a batch, and stores each one as soon as it has ended.
func (t *Translations) runBatch(ctx context.Context, jobID string, works []Work) error {
	if t.cfg.Settings().Translator == nil {
		return t.disableWorks(ctx, jobID, works, CodeNotConfigured)
	}
	r := &run{Translations: t, jobID: jobID, batchID: works[0].BatchID}
	for i := range works {
		works[i].State = Running
		if _, err := t.saveWork(ctx, &works[i], jobID); err != nil {
			return err
		}
		r.addWork(&works[i])
	}
	err := r.callAll(ctx)
	state := Completed
	if err != nil {
		state = Failed
	}
	return errors.Join(err, t.finishBatch(context.WithoutCancel(ctx), r.batchID, state))
}

// disableWorks ends works that are not translated, with the reason.
func (t *Translations) disableWorks(ctx context.Context, jobID string, works []Work, reason string) error {
	for i := range works {
		w := &works[i]
		w.State, w.Outcome, w.ErrorCode, w.JobID = Completed, Disabled, reason, ""
		if _, err := t.saveWork(ctx, w, jobID); err != nil {
			return err
		}
	}
	return nil
}
