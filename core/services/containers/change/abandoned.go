package change

import (
	"cmp"
	"context"
	"fmt"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/queue"
	"github.com/patchbay-dev/patchbay/core/services/containers/failure"
	"github.com/patchbay-dev/patchbay/core/services/containers/record"
)

// EndAbandoned ends the changes that a job has left open which has ended, as when the core ended in it again and again. How they ended is
// not known, and they say so; the engine is then looked at, which tells what runs.
func (x *Changes) EndAbandoned(ctx context.Context, job *queue.Job) error {
	open, err := x.store.OpenChanges(ctx, job.ID)
	if err != nil || len(open) == 0 {
		return err
	}
	why, reason := "The core ended while it ran.", failure.Otherwise
	if job.Failure != nil {
		why, reason = cmp.Or(job.Failure.Message, why), cmp.Or(job.Failure.Reason, reason)
	}
	return x.store.Tx(ctx, "end abandoned changes", func(ctx context.Context) error {
		for i := range open {
			rec := &open[i]
			if err := x.cfg.Backups.FailOpenBackups(ctx, rec.JobID, rec.ServiceID); err != nil {
				return err
			}
			rec.Status, rec.Reason, rec.FinishedAt = record.ChangeFailed, reason, x.now()
			rec.Error = fmt.Sprintf("%s It had come to the step %s, and how that ended is not known: look at what runs before you try again.", why, rec.Step)
			if err := x.store.finishChange(ctx, rec, rec.ServiceID, x.now()); err != nil {
				return err
			}
		}
		x.cfg.Store.AfterCommit(ctx, x.cfg.NoteEngineChange)
		return nil
	})
}

// EndLeftOpen ends the changes that were not ended with their jobs.
func (x *Changes) EndLeftOpen(ctx context.Context) error {
	ids, err := x.store.jobsOfOpenChanges(ctx)
	if err != nil {
		return err
	}
	for _, id := range ids {
		job, err := x.cfg.Jobs.Get(ctx, id)
		switch {
		case fault.CodeOf(err) == fault.NotFound:
			job = queue.Job{ID: id}
		case err != nil:
			return err
		case !job.State.Final():
			continue
		}
		if err := x.EndAbandoned(ctx, &job); err != nil {
			return err
		}
	}
	return nil
}
