package change

import (
	"context"
	"slices"
	"time"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/services/containers/failure"
	"github.com/patchbay-dev/patchbay/core/services/containers/health"
	"github.com/patchbay-dev/patchbay/core/services/containers/host"
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
			r.LogError(ctx, "%s / %s does not run after the engine was away: %s", st.Project, item.svc.Name, failure.Text(err))
			failed = fault.Wrap(err, fault.Conflict, "%s / %s does not run after the engine was away: %s", st.Project, item.svc.Name, failure.Text(err))
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
