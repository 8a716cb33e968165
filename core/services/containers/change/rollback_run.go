package change

import (
	"cmp"
	"context"
	"fmt"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/httpd/api"
	"github.com/patchbay-dev/patchbay/core/queue"
	"github.com/patchbay-dev/patchbay/core/services/containers/project"
	"github.com/patchbay-dev/patchbay/core/services/containers/record"
	"github.com/patchbay-dev/patchbay/core/services/containers/work"
	"github.com/patchbay-dev/patchbay/core/store"
)

// RollbackTarget is what a rollback of a service would bring back.
type RollbackTarget struct {
	Available         bool     `json:"available"`
	CurrentDigest     string   `json:"currentDigest,omitempty"`
	CurrentTag        string   `json:"currentDisplayTag,omitempty"`
	TargetDigest      string   `json:"targetDigest,omitempty"`
	TargetTag         string   `json:"targetDisplayTag,omitempty"`
	SourceUpdateJobID string   `json:"sourceUpdateJobId,omitempty"`
	SourceFinishedAt  api.Time `json:"sourceFinishedAt,omitempty,omitzero"`
	UnavailableReason string   `json:"unavailableReason,omitempty" enum:"no_update,changed_since,image_gone,managed_via_supervisor,archived,busy,runs_once"`
	ActiveJobID       string   `json:"activeJobId,omitempty"`
	ActiveJobStatus   string   `json:"activeJobStatus,omitempty"`

	change *record.Change
}

// RollbackTarget tells what a rollback of a service would bring back: the image from before its last change that is
// in force.
func (x *Changes) RollbackTarget(ctx context.Context, id string) (RollbackTarget, error) {
	inv, err := x.cfg.Projects.LoadInventory(ctx)
	if err != nil {
		return RollbackTarget{}, err
	}
	svc := inv.Services[id]
	if svc == nil {
		return RollbackTarget{}, fault.New(fault.NotFound, record.NoService)
	}
	out := RollbackTarget{CurrentDigest: svc.RuntimeDigest, CurrentTag: cmp.Or(svc.RuntimeVersion, svc.Tag)}
	holders, err := x.cfg.Jobs.Holders(ctx, []string{work.ServiceLock(id)})
	if err != nil {
		return out, err
	}
	if job, ok := holders[work.ServiceLock(id)]; ok {
		out.ActiveJobID, out.ActiveJobStatus = job.ID, string(job.State)
	}
	last, err := x.store.LastChange(ctx, svc)
	if err != nil {
		return out, err
	}
	switch {
	case inv.IsSelf(svc):
		out.UnavailableReason = "managed_via_supervisor"
	case inv.IsArchived(svc):
		out.UnavailableReason = "archived"
	case last == nil || last.FromImage == "":
		out.UnavailableReason = "no_update"
	case last.RunsOnce != "":
		out.UnavailableReason = "runs_once"
	case svc.RuntimeImage != "" && last.ToImage != svc.RuntimeImage, last.Image != svc.Image:
		out.UnavailableReason = "changed_since"
	}
	if last == nil || out.UnavailableReason == "no_update" {
		return out, nil
	}
	out.change = last
	out.TargetDigest, out.TargetTag, out.SourceUpdateJobID = last.FromDigest, cmp.Or(last.FromVersion, svc.Tag), last.JobID
	out.SourceFinishedAt = api.TimeOfMillis(last.FinishedAt)
	if out.UnavailableReason == "" && last.FromDigest == "" {
		// Without a digest the image cannot be fetched again: it must still be there.
		found, err := x.cfg.Host.Engine().Images(ctx, []string{last.FromImage})
		if err != nil {
			return out, err
		}
		if len(found) != 1 || found[0] == nil {
			out.UnavailableReason = "image_gone"
		}
	}
	if out.UnavailableReason == "" && out.ActiveJobID != "" {
		out.UnavailableReason = "busy"
	}
	out.Available = out.UnavailableReason == ""
	return out, nil
}

// Rollback queues a rollback of a service to the image from before its last change. allowDrift is as in UpdateRequest.
func (x *Changes) Rollback(ctx context.Context, id string, allowDrift bool) (string, error) {
	t, err := x.RollbackTarget(ctx, id)
	if err != nil {
		return "", err
	}
	if !t.Available {
		f := fault.New(fault.Conflict, "The service cannot be rolled back: %s.", t.UnavailableReason).With("reason", t.UnavailableReason)
		if t.ActiveJobID != "" {
			f = f.With("existingJobId", t.ActiveJobID)
		}
		return "", f
	}
	svc, err := x.store.FindService(ctx, id)
	if err != nil {
		return "", err
	}
	inv, err := x.cfg.Projects.LoadInventory(ctx)
	if err != nil {
		return "", err
	}
	if err := x.refuseDrift(ctx, inv, []string{id}, allowDrift); err != nil {
		return "", err
	}
	more, err := x.dependentLocks(ctx, inv, &svc)
	if err != nil {
		return "", err
	}
	return x.cfg.Jobs.SubmitNew(ctx, work.Submission{
		Kind: work.JobRollback, Locks: work.AddLocks([]string{work.ServiceLock(id)}, more), Services: []string{id}, Stacks: []string{svc.StackID},
		Payload: RollbackJob{
			Subject:       work.Subject{Scope: work.ScopeService, StackID: svc.StackID, ServiceID: id, Reason: work.ReasonUI},
			changeOptions: changeOptions{AllowDrift: allowDrift}, ChangeID: t.change.ID,
		},
	})
}

// RunRollback brings the image from before a change back.
func (x *Changes) RunRollback(ctx context.Context, job *queue.Job, spec RollbackJob, r *work.Reporter) (any, error) {
	if spec.Resumes != "" {
		return x.runResumed(ctx, job, spec.changeOptions, r)
	}
	open, err := x.begunChanges(ctx, job, r)
	if err != nil {
		return nil, err
	}
	if len(open) > 0 && ctx.Err() != nil && !work.IsHandover(ctx) {
		return x.settleChanges(ctx, spec.changeOptions, r, open)
	}
	source, err := x.store.changeByID(ctx, spec.ChangeID)
	if err != nil {
		return nil, err
	}
	svc, err := x.store.FindService(ctx, spec.ServiceID)
	if err != nil {
		return nil, err
	}
	st, err := x.store.FindStack(ctx, svc.StackID)
	if err != nil {
		return nil, err
	}
	unlock, err := x.cfg.Locks.LockKey(ctx, st.ID)
	if err != nil {
		return nil, err
	}
	defer unlock()
	var rec *record.Change
	err = x.cfg.Host.ThroughOutage(ctx, func() (err error) {
		rec, err = x.beginRollback(ctx, job, r, &st, &svc, &source)
		return err
	})
	if err != nil {
		return nil, err
	}
	c := x.newChange(r, rec, svc, st, spec.changeOptions, project.Target{})
	c.share = 100
	if rec.Status == record.ChangeRunning {
		if err := c.rollbackSteps().backTo(ctx); err != nil {
			return c.summarizeWaiting(err), err
		}
	}
	err = x.startStopped(ctx, r, &st, []*change{c}, nil)
	return c.summarizeChange(ctx), cmp.Or(jobResult(ctx, []*change{c}), err)
}

// beginRollback writes what is there before anything is changed. After a crash it finds the record of the attempt before.
func (x *Changes) beginRollback(ctx context.Context, job *queue.Job, r *work.Reporter, st *record.Stack, svc *record.Service, source *record.Change) (*record.Change, error) {
	rec, err := x.store.ChangeOf(ctx, job.ID, svc.ID)
	if err != nil {
		return nil, fmt.Errorf("read the journal: %w", err)
	}
	if rec != nil {
		return rec, nil
	}
	running, err := x.cfg.Projects.RunningImage(ctx, st, svc)
	if err != nil {
		return nil, err
	}
	if running.ID != "" && running.ID != source.ToImage {
		return nil, fault.New(fault.Conflict, "%s now runs a different image.", svc.Name).With("reason", "changed_since")
	}
	if err := x.keepRunning(ctx, r, nil, svc.ID, &running); err != nil {
		return nil, err
	}
	dependents, err := x.dependentRecords(ctx, st, svc)
	if err != nil {
		return nil, err
	}
	return x.store.BeginChange(ctx, &record.Change{
		ID: store.NewID("chg"), JobID: job.ID, Kind: record.ChangeRollback, StackID: st.ID, ServiceID: svc.ID, Status: record.ChangeRunning, Step: StepPull,
		Image: source.Image, FromImage: running.ID, FromDigest: running.Digest, FromVersion: svc.RuntimeVersion, FromState: running.State,
		ToImage: source.FromImage, ToDigest: source.FromDigest, ToVersion: source.FromVersion, StartedAt: x.now(), Replicas: running.Replicas, Dependents: dependents,
	})
}
