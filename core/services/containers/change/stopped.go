package change

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/queue"
	"github.com/patchbay-dev/patchbay/core/services/containers/failure"
	"github.com/patchbay-dev/patchbay/core/services/containers/health"
	"github.com/patchbay-dev/patchbay/core/services/containers/host"
	"github.com/patchbay-dev/patchbay/core/services/containers/project"
	"github.com/patchbay-dev/patchbay/core/services/containers/record"
	"github.com/patchbay-dev/patchbay/core/services/containers/work"
	"github.com/patchbay-dev/patchbay/sdk/engine"
)

// startTime bounds how long a job that may have been cancelled starts what an outage has stopped.
const startTime = 15 * time.Minute

// restart is a service that must run at the end of a job.
type restart struct {
	svc record.Service
	// imageID is the image of its containers; others are left as they are. Empty for any.
	imageID string
	// of is the change that brought the service to its image; nil without one.
	of *change
}

// startStopped starts what an outage of the engine during the job has stopped: the services that its changes have left to
// run, and others of
// the job that ran when it began. Containers that stop for another reason, or never ran, stay as they are.
func (x *Changes) startStopped(ctx context.Context, r *work.Reporter, st *record.Stack, changes []*change, others []record.Service) error {
	if work.IsHandover(ctx) || !r.Resumed && x.cfg.Host.OutageCount() == r.Outages {
		return nil
	}
	ctx, cancel := work.OutlastJob(ctx, startTime)
	defer cancel()
	var failed error
	for _, item := range x.toRestart(ctx, changes, others) {
		err := x.cfg.Host.RepeatAfterOutage(ctx, r, st.Project+" / "+item.svc.Name, func(ctx context.Context) error { return x.restartService(ctx, r, st, item) })
		if err != nil {
			r.LogError(ctx, "%s / %s is not running after the engine came back: %s", st.Project, item.svc.Name, failure.Text(err))
			failed = fault.Wrap(err, fault.Conflict,
				"%s / %s is not running after the engine came back: %s", st.Project, item.svc.Name, failure.Text(err))
		}
	}
	return failed
}

// toRestart lists what must run, providers of namespaces before their dependents.
func (x *Changes) toRestart(ctx context.Context, changes []*change, others []record.Service) (out []restart) {
	for _, c := range changes {
		switch {
		case c.rec.RunsOnce != "" || c.staysStopped():
		case c.rec.Status == record.ChangeSuccess:
			out = append(out, restart{svc: c.svc, imageID: c.rec.ToImage, of: c})
		case c.rec.FromState != record.StateStopped && c.rec.FromImage != "":
			out = append(out, restart{svc: c.svc, imageID: c.rec.FromImage, of: c})
		}
		for _, d := range c.rec.Dependents {
			if svc, err := x.store.FindService(ctx, d.ServiceID); err == nil && !d.Stopped {
				out = append(out, restart{svc: svc, imageID: d.ImageID})
			}
		}
	}
	for _, svc := range others {
		out = append(out, restart{svc: svc})
	}
	return out
}

// restartService starts a service of which a container does not run, and waits until it is healthy.
func (x *Changes) restartService(ctx context.Context, r *work.Reporter, st *record.Stack, item restart) error {
	list, err := x.cfg.Host.ContainersOf(ctx, st.Project, item.svc.Name)
	if err != nil {
		return err
	}
	stopped := slices.ContainsFunc(list, func(c engine.Container) bool { return c.State == "exited" || c.State == "created" || c.State == "dead" })
	other := slices.ContainsFunc(list, func(c engine.Container) bool {
		return item.imageID != "" && c.ImageID != item.imageID || c.ImageID != list[0].ImageID
	})
	if !stopped || other {
		return nil
	}
	r.LogWarning(ctx, "%s / %s was stopped while the engine was away, and is started again", st.Project, item.svc.Name)
	call := host.ComposeCall{Action: engine.ActionStart, Services: []string{item.svc.Name}, Scale: map[string]int{item.svc.Name: len(list)}}
	if _, err := x.cfg.Host.RunCompose(ctx, r, st, call); err != nil {
		return err
	}
	if item.of != nil {
		item.of.dependentSteps().restartDependents(ctx)
	}
	return x.health.WaitHealthy(ctx, r, st, &item.svc, health.Wanted{ImageID: list[0].ImageID, Replicas: len(list)})
}

// othersThatRan are the services of a job's stack, besides one, that ran when the job began which this one goes on for.
func (x *Changes) othersThatRan(ctx context.Context, spec changeOptions, besides *record.Service) (out []record.Service) {
	for _, id := range spec.Ran {
		svc, err := x.store.FindService(ctx, id)
		if err == nil && id != besides.ID && svc.StackID == besides.StackID {
			out = append(out, svc)
		}
	}
	return out
}

// recreateLeft recreates the dependents that changes have left to later ones which did not come to it: they still share namespaces or
// volumes with containers that are gone.
func (x *Changes) recreateLeft(ctx context.Context, changes []*change) error {
	if work.IsHandover(ctx) {
		return nil
	}
	var failed error
	for _, c := range changes {
		for _, d := range c.rec.Dependents {
			if !d.Follows {
				continue
			}
			if err := c.dependentSteps().recreateOutdated(ctx, d); err != nil {
				c.r.LogError(ctx, "%s: %s, which shares namespaces or volumes with it, is not running as before: %s", c.displayName(), d.Name, failure.Text(err))
				failed = fault.Wrap(err, fault.Conflict, "%s / %s is not running as before: %s", c.stack.Project, d.Name, failure.Text(err))
			}
		}
	}
	return failed
}

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
