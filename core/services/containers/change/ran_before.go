package change

import (
	"context"
	"fmt"
	"slices"

	"github.com/patchbay-dev/patchbay/core/queue"
	"github.com/patchbay-dev/patchbay/core/services/containers/project"
	"github.com/patchbay-dev/patchbay/core/services/containers/record"
	"github.com/patchbay-dev/patchbay/core/services/containers/work"
)

// ranBefore returns the services of a job's targets that ran when it began, also in a later attempt.
func (x *Changes) ranBefore(ctx context.Context, job *queue.Job, targets []project.Target, r *work.Reporter, inv *project.Inventory) (ran []string, err error) {
	if len(job.Checkpoint) > 0 {
		r.Resumed = true
		return ran, record.DecodeColumn(job.Checkpoint, &ran)
	}
	var o *project.Observed
	err = x.cfg.Host.ThroughOutage(ctx, func() (err error) {
		o, _, err = x.cfg.Projects.ObserveEngine(ctx, "")
		return err
	})
	if err != nil {
		return nil, err
	}
	ran = []string{}
	for _, t := range targets {
		svc := inv.Services[t.ServiceID]
		if svc != nil && inv.Stacks[svc.StackID] != nil && o.StateOf(inv.Stacks[svc.StackID].Project, svc).State != record.StateStopped {
			ran = append(ran, svc.ID)
		}
	}
	return ran, r.Progress.Checkpoint(ctx, ran)
}

// keepRunning makes a service count as running that was stopped only because the engine went away: in this job, or in one before whose
// change still waits. ran are the services that ran when the job began.
func (x *Changes) keepRunning(ctx context.Context, r *work.Reporter, ran []string, serviceID string, running *project.RunningImage) error {
	if running.State != record.StateStopped {
		return nil
	}
	waits, err := x.store.waitingChange(ctx, serviceID)
	if err != nil {
		return fmt.Errorf("read the journal: %w", err)
	}
	disturbed := r.Resumed || x.cfg.Host.OutageCount() != r.Outages
	if waits != nil && waits.FromState != record.StateStopped || disturbed && slices.Contains(ran, serviceID) {
		running.State = record.StateRunning
	}
	return nil
}
