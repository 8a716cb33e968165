package containers

import (
	"cmp"
	"context"
	"fmt"

	"gorm.io/gorm"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/queue"
	"github.com/patchbay-dev/patchbay/core/services/containers/failure"
	"github.com/patchbay-dev/patchbay/core/services/containers/record"
)

// endAbandonedChanges ends the changes that a job has left open which has ended, as when the core ended in it again and again. How they ended is
// not known, and they say so; the engine is then looked at, which tells what runs.
func (s *Service) endAbandonedChanges(ctx context.Context, job *queue.Job) error {
	open, err := s.repo.openChanges(ctx, job.ID)
	if err != nil || len(open) == 0 {
		return err
	}
	why, reason := "The core ended while it ran.", failure.Otherwise
	if job.Failure != nil {
		why, reason = cmp.Or(job.Failure.Message, why), cmp.Or(job.Failure.Reason, reason)
	}
	return s.repo.Write(ctx, "end abandoned changes", func(ctx context.Context, _ *gorm.DB) error {
		for i := range open {
			rec := &open[i]
			if err := s.repo.failOpenBackups(ctx, rec.JobID, rec.ServiceID, s.now()); err != nil {
				return err
			}
			rec.Status, rec.Reason, rec.FinishedAt = record.ChangeFailed, reason, s.now()
			rec.Error = fmt.Sprintf("%s It had come to the step %s, and how that ended is not known: look at what runs before you try again.", why, rec.Step)
			if err := s.repo.finishChange(ctx, rec, rec.ServiceID, s.now()); err != nil {
				return err
			}
		}
		s.cfg.Store.AfterCommit(ctx, s.NoteEngineChange)
		return nil
	})
}

// endChangesOfEndedJobs ends the changes that were not ended with their jobs.
func (s *Service) endChangesOfEndedJobs(ctx context.Context) error {
	ids, err := s.repo.jobsOfOpenChanges(ctx)
	if err != nil {
		return err
	}
	for _, id := range ids {
		job, err := s.queue.Get(ctx, id)
		switch {
		case fault.CodeOf(err) == fault.NotFound:
			job = queue.Job{ID: id}
		case err != nil:
			return err
		case !job.State.Final():
			continue
		}
		if err := s.endAbandonedChanges(ctx, &job); err != nil {
			return err
		}
	}
	return nil
}

// jobsOfOpenChanges returns the ids of the jobs with changes that have not ended.
func (r *repository) jobsOfOpenChanges(ctx context.Context) (ids []string, err error) {
	err = r.DB(ctx).Model(&record.Change{}).Distinct("job_id").Where("status = ? AND waits_since = 0", record.ChangeRunning).Order("job_id").Pluck("job_id", &ids).Error
	return ids, err
}
