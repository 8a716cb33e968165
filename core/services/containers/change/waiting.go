package change

import (
	"context"
	"fmt"
	"slices"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/queue"
	"github.com/patchbay-dev/patchbay/core/services/containers/failure"
	"github.com/patchbay-dev/patchbay/core/services/containers/project"
	"github.com/patchbay-dev/patchbay/core/services/containers/record"
	"github.com/patchbay-dev/patchbay/core/services/containers/work"
)

// ResumeWaiting queues a job for each change that waits for the engine, which answers again. One whose service something else works on
// is left for the next time.
func (x *Changes) ResumeWaiting(ctx context.Context) error {
	if !x.waiting.Swap(false) {
		return nil
	}
	list, err := x.store.waitingChanges(ctx)
	for i := range list {
		if err == nil {
			err = x.resumeChange(ctx, &list[i])
		}
		if fault.CodeOf(err) == fault.Conflict {
			x.waiting.Store(true)
			err = nil
		}
	}
	if err != nil {
		x.waiting.Store(true)
	}
	return err
}

// resumeChange queues the job that goes on with a change, in the name of whoever asked for it.
func (x *Changes) resumeChange(ctx context.Context, rec *record.Change) error {
	inv, err := x.cfg.Projects.LoadInventory(ctx)
	if err != nil {
		return err
	}
	svc := inv.Services[rec.ServiceID]
	if svc == nil || inv.Stacks[svc.StackID] == nil {
		return x.endWaiting(ctx, rec, "The service is gone.")
	}
	sub := work.Submission{Kind: work.JobUpdate, Key: "resume/" + rec.ID, Actor: work.ActorSchedule, Services: []string{svc.ID}, Stacks: []string{svc.StackID}}
	// The payloads of both types of jobs are parts of this one.
	payload := struct {
		UpdateJob
		ChangeID string `json:"changeId,omitempty"`
	}{}
	if rec.Kind == record.ChangeRollback {
		sub.Kind = work.JobRollback
	}
	job, err := x.cfg.Jobs.Get(ctx, rec.JobID)
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
	_, _, err = x.cfg.Jobs.SubmitJob(ctx, sub)
	return err
}

// ChangedSince is why a change is not gone on with.
const ChangedSince = "Another job has changed the service since."

// runResumed goes on with the change that an earlier job has left.
func (x *Changes) runResumed(ctx context.Context, job *queue.Job, spec changeOptions, r *work.Reporter) (any, error) {
	rec, err := x.store.adoptChange(context.WithoutCancel(ctx), spec.Resumes, job.ID)
	if err != nil {
		return nil, err
	}
	newer, err := x.store.ChangesOf(ctx, rec.ServiceID, 1)
	if err != nil && ctx.Err() == nil {
		return nil, err
	}
	if rec.Status == record.ChangeRunning && len(newer) > 0 && newer[0].ID != rec.ID {
		if err := x.endWaiting(ctx, rec, ChangedSince); err != nil {
			return nil, err
		}
		return nil, fault.New(fault.Conflict, ChangedSince)
	}
	r.Resumed = true
	if rec.Status == record.ChangeRunning {
		r.LogInfo(ctx, "The engine is back; the change goes on at the step %s.", rec.Step)
	}
	return x.settleChanges(ctx, spec, r, []record.Change{*rec})
}

// endWaiting ends a change that waited and cannot be gone on with.
func (x *Changes) endWaiting(ctx context.Context, rec *record.Change, why string) error {
	rec.Status, rec.Reason, rec.FinishedAt, rec.WaitsSince = record.ChangeFailed, failure.EngineAway, x.now(), 0
	rec.Error = fmt.Sprintf("The engine did not come back at the step %s. %s", rec.Step, why)
	return x.store.finishChange(context.WithoutCancel(ctx), rec, rec.ServiceID, x.now())
}
