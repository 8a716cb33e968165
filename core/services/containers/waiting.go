package containers

import (
	"context"
	"fmt"
	"slices"

	"gorm.io/gorm"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/queue"
	"github.com/patchbay-dev/patchbay/core/services/containers/failure"
	"github.com/patchbay-dev/patchbay/core/services/containers/project"
	"github.com/patchbay-dev/patchbay/core/services/containers/record"
	"github.com/patchbay-dev/patchbay/core/services/containers/work"
)

// runStep does a step of the change, again where the engine was away meanwhile.
func (c *change) runStep(ctx context.Context, do func(context.Context) error) error {
	return c.s.RepeatAfterOutage(ctx, c.r, c.displayName(), do)
}

// awaitNextJob leaves the change open at its step, because the engine did not come back within the time that a job waits. Once it answers
// another job goes on from there. The error is that of this job.
func (c *change) awaitNextJob(ctx context.Context, cause error) error {
	ctx = context.WithoutCancel(ctx)
	c.rec.WaitsSince = c.s.now()
	if err := c.s.repo.saveChange(ctx, c.rec); err != nil {
		return fmt.Errorf("write the journal: %w", err)
	}
	c.s.waiting.Store(true)
	c.r.LogError(ctx, "%s: the engine did not come back at the step %s (%s); another job goes on when it does", c.displayName(), c.rec.Step, failure.Text(cause))
	return fault.Wrap(failure.ErrEngineAway, fault.Conflict, "%s: The engine did not come back within %s. Another job goes on at the step %s when it does.", c.displayName(), c.s.OutageWait(), c.rec.Step).
		With("reason", failure.EngineAway)
}

// addWaiting adds a change that is left open to the summary.
func (sum *StackSummary) addWaiting(c *change, cause error) {
	sum.addFailure(ServiceFailure{ServiceID: c.svc.ID, FailureStep: c.rec.Step, LastError: failure.Text(cause), Reason: failure.Code(cause)}, nil)
	sum.Backup = append(sum.Backup, c.outcome.Backups...)
}

// summarizeWaiting is summarizeChange for a change that is left open.
func (c *change) summarizeWaiting(cause error) UpdateSummary {
	sum := newStackSummary(&c.stack)
	sum.addWaiting(c, cause)
	return UpdateSummary{Mode: ModeApply, Targets: []project.Target{}, Stacks: []StackSummary{*sum}}
}

// resumeWaiting queues a job for each change that waits for the engine, which answers again. One whose service something else works on
// is left for the next time.
func (s *Service) resumeWaiting(ctx context.Context) error {
	if !s.waiting.Swap(false) {
		return nil
	}
	list, err := s.repo.waitingChanges(ctx)
	for i := range list {
		if err == nil {
			err = s.resumeChange(ctx, &list[i])
		}
		if fault.CodeOf(err) == fault.Conflict {
			s.waiting.Store(true)
			err = nil
		}
	}
	if err != nil {
		s.waiting.Store(true)
	}
	return err
}

// resumeChange queues the job that goes on with a change, in the name of whoever asked for it.
func (s *Service) resumeChange(ctx context.Context, rec *record.Change) error {
	inv, err := s.LoadInventory(ctx)
	if err != nil {
		return err
	}
	svc := inv.Services[rec.ServiceID]
	if svc == nil || inv.Stacks[svc.StackID] == nil {
		return s.endWaiting(ctx, rec, "The service is gone.")
	}
	sub := work.Submission{Kind: work.JobUpdate, Key: "resume/" + rec.ID, Actor: work.ActorSchedule, Services: []string{svc.ID}, Stacks: []string{svc.StackID}}
	// The payloads of both types of jobs are parts of this one.
	payload := struct {
		updateJob
		ChangeID string `json:"changeId,omitempty"`
	}{}
	if rec.Kind == record.ChangeRollback {
		sub.Kind = work.JobRollback
	}
	job, err := s.queue.Get(ctx, rec.JobID)
	switch {
	case err == nil:
		if err := job.Decode(&payload); err != nil {
			return fmt.Errorf("read the job: %w", err)
		}
		sub.Actor = job.Actor
		if len(job.Checkpoint) > 0 {
			if err := record.DecodeColumn(job.Checkpoint, &payload.Ran); err != nil {
				return fmt.Errorf("read the job: %w", err)
			}
		}
	case fault.CodeOf(err) != fault.NotFound:
		return err
	}
	payload.Scope, payload.StackID, payload.ServiceID, payload.Mode, payload.Resumes = work.ScopeService, svc.StackID, svc.ID, ModeApply, rec.ID
	payload.Targets = slices.DeleteFunc(payload.Targets, func(t project.Target) bool { return t.ServiceID != svc.ID })
	sub.Payload = payload
	sub.Locks = []string{work.ServiceLock(svc.ID)}
	for _, d := range rec.Dependents {
		sub.Locks = work.AddLocks(sub.Locks, []string{work.ServiceLock(d.ServiceID)})
	}
	_, _, err = s.queue.SubmitJob(ctx, sub)
	return err
}

// changedSince is why a change is not gone on with.
const changedSince = "Another job has changed the service since."

// runResumed goes on with the change that an earlier job has left.
func (s *Service) runResumed(ctx context.Context, job *queue.Job, spec changeOptions, r *work.Reporter) (any, error) {
	rec, err := s.repo.adoptChange(context.WithoutCancel(ctx), spec.Resumes, job.ID)
	if err != nil {
		return nil, err
	}
	newer, err := s.repo.changesOf(ctx, rec.ServiceID, 1)
	if err != nil && ctx.Err() == nil {
		return nil, err
	}
	if rec.Status == record.ChangeRunning && len(newer) > 0 && newer[0].ID != rec.ID {
		if err := s.endWaiting(ctx, rec, changedSince); err != nil {
			return nil, err
		}
		return nil, fault.New(fault.Conflict, changedSince)
	}
	r.Resumed = true
	if rec.Status == record.ChangeRunning {
		r.LogInfo(ctx, "The engine is back; the change goes on at the step %s.", rec.Step)
	}
	return s.settleChanges(ctx, spec, r, []record.Change{*rec})
}

// endWaiting ends a change that waited and cannot be gone on with.
func (s *Service) endWaiting(ctx context.Context, rec *record.Change, why string) error {
	rec.Status, rec.Reason, rec.FinishedAt, rec.WaitsSince = record.ChangeFailed, failure.EngineAway, s.now(), 0
	rec.Error = fmt.Sprintf("The engine did not come back at the step %s. %s", rec.Step, why)
	return s.repo.finishChange(context.WithoutCancel(ctx), rec, rec.ServiceID, s.now())
}

// waitingChanges are the changes that wait for the engine.
func (r *repository) waitingChanges(ctx context.Context) (out []record.Change, err error) {
	err = r.DB(ctx).Where("status = ? AND waits_since > 0", record.ChangeRunning).Order("started_at, id").Find(&out).Error
	return out, err
}

// waitingChange is the change of a service that waits for the engine, nil without one.
func (r *repository) waitingChange(ctx context.Context, serviceID string) (*record.Change, error) {
	var rows []record.Change
	err := r.DB(ctx).Where("service_id = ? AND status = ? AND waits_since > 0", serviceID, record.ChangeRunning).Limit(1).Find(&rows).Error
	if err != nil || len(rows) == 0 {
		return nil, err
	}
	return &rows[0], nil
}

// keepRunning makes a service count as running that was stopped only because the engine went away: in this job, or in one before whose
// change still waits. ran are the services that ran when the job began.
func (s *Service) keepRunning(ctx context.Context, r *work.Reporter, ran []string, serviceID string, running *project.RunningImage) error {
	if running.State != record.StateStopped {
		return nil
	}
	waits, err := s.repo.waitingChange(ctx, serviceID)
	if err != nil {
		return fmt.Errorf("read the journal: %w", err)
	}
	disturbed := r.Resumed || s.OutageCount() != r.Outages
	if waits != nil && waits.FromState != record.StateStopped || disturbed && slices.Contains(ran, serviceID) {
		running.State = record.StateRunning
	}
	return nil
}

// adoptChange makes a change that waits one of a job.
func (r *repository) adoptChange(ctx context.Context, id, jobID string) (*record.Change, error) {
	var rec record.Change
	err := r.Write(ctx, "take a change over", func(_ context.Context, w *gorm.DB) error {
		columns := map[string]any{"job_id": jobID, "waits_since": 0}
		if err := w.Model(&record.Change{}).Where("id = ? AND waits_since > 0", id).Updates(columns).Error; err != nil {
			return err
		}
		return w.Where("id = ? AND job_id = ?", id, jobID).Take(&rec).Error
	})
	if err != nil {
		return nil, fmt.Errorf("take a change over: %w", err)
	}
	return &rec, nil
}
