package translate

import (
	"context"
	"errors"
	"time"

	"gorm.io/gorm/clause"

	"github.com/patchbay-dev/patchbay/core/event"
	"github.com/patchbay-dev/patchbay/core/lists"
	"github.com/patchbay-dev/patchbay/core/queue"
	"github.com/patchbay-dev/patchbay/core/store"
)

// errNoWork says that there is no such work.
var errNoWork = errors.New("there is no such work")

// findWork returns a work, or errNoWork.
func (t *Translations) findWork(ctx context.Context, where string, values ...any) (w Work, err error) {
	var rows []Work
	if err := t.store.DB(ctx).Where(where, values...).Limit(1).Find(&rows).Error; err != nil {
		return w, err
	}
	if len(rows) == 0 {
		return w, errNoWork
	}
	return rows[0], nil
}

// List returns the works with ids. Those that do not exist are left out.
func (t *Translations) List(ctx context.Context, ids []string) (works []Work, err error) {
	if len(ids) == 0 {
		return nil, nil
	}
	err = store.WhereIn(t.store.DB(ctx), "id", ids).Find(&works).Error
	return works, err
}

// workTopic is where changes of a work are published.
func workTopic(id string) string { return "work/" + id }

// publishAfterCommit tells who waits that a work has changed.
func (t *Translations) publishAfterCommit(ctx context.Context, ids ...string) {
	t.store.AfterCommit(ctx, func() {
		for _, id := range ids {
			t.relay.Publish(workTopic(id), event.Event{})
		}
	})
}

// pollEvery is how often a work is looked at without news, for changes by another process.
const pollEvery = 5 * time.Second

// Follow calls changed with each of the works as it is, and again whenever it has changed, until all have ended, ctx ends or changed
// returns an error.
func (t *Translations) Follow(ctx context.Context, ids []string, changed func(Work) error) error {
	topics := lists.ConvertAll(ids, workTopic)
	news := t.bus.Subscribe(topics...)
	defer news.Close()
	poll := time.NewTicker(pollEvery)
	defer poll.Stop()
	seen := map[string]State{}
	for {
		open, err := t.tellChanged(ctx, ids, seen, changed)
		if err != nil || !open {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case _, ok := <-news.Events():
			if !ok {
				return context.Canceled
			}
		case <-poll.C:
		}
	}
}

// tellChanged reads the works that have not ended and tells of those whose state has changed. It reports whether some have not ended.
func (t *Translations) tellChanged(ctx context.Context, ids []string, seen map[string]State,
	changed func(Work) error) (open bool, err error) {
	var unfinished []string
	for _, id := range ids {
		if !seen[id].Final() {
			unfinished = append(unfinished, id)
		}
	}
	works, err := t.List(ctx, unfinished)
	if err != nil {
		return false, err
	}
	for _, w := range works {
		if seen[w.ID] != w.State {
			seen[w.ID] = w.State
			if err := changed(w); err != nil {
				return false, err
			}
		}
		open = open || !w.State.Final()
	}
	return open, nil
}

// ReleaseWorks puts back the works of a job that has ended without them.
func (t *Translations) ReleaseWorks(ctx context.Context, job queue.Job) error {
	return t.store.Tx(ctx, "release translations", func(ctx context.Context) error {
		return t.store.Writer(ctx).Exec("UPDATE release_translations SET state = ?, job_id = '' WHERE job_id = ? AND state IN (?, ?)", Queued,
			job.ID, Batched, Running).Error
	})
}

// saveWork stores what has changed in a work of a job. It reports false if the job does not have it any more.
func (t *Translations) saveWork(ctx context.Context, w *Work, jobID string) (saved bool, err error) {
	w.UpdatedAt = store.Millis(t.cfg.Now())
	err = t.store.Tx(ctx, "save translation", func(ctx context.Context) error {
		res := t.store.Writer(ctx).Model(&Work{}).Where("id = ? AND job_id = ?", w.ID, jobID).Select(
			"State", "Outcome", "OutTitle", "OutBody", "ErrorCode", "ErrorDetail", "Model", "BatchID", "JobID", "RunAt", "Attempts", "Progress",
			"UpdatedAt").Updates(w)
		saved = res.RowsAffected > 0
		t.publishAfterCommit(ctx, w.ID)
		return res.Error
	})
	return saved, err
}

// saveDemanded stores a work that is asked for: a new one, without an id, or one that has ended in a state. It reports false if somebody
// else has asked for it at the same moment.
func (t *Translations) saveDemanded(ctx context.Context, w *Work, ended State) (bool, error) {
	put := t.store.Writer(ctx)
	if w.ID == "" {
		w.ID = t.ids.New("tw")
		put = put.Clauses(clause.OnConflict{Columns: []clause.Column{{Name: "work_key"}}, DoNothing: true}).Create(w)
	} else {
		put = put.Model(&Work{}).Where("id = ? AND state = ?", w.ID, ended).Select("*").Updates(w)
	}
	return put.RowsAffected > 0, put.Error
}
