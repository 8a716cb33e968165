package lifecycle

import (
	"context"
	"maps"
	"slices"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/lists"
	"github.com/patchbay-dev/patchbay/core/queue"
	"github.com/patchbay-dev/patchbay/core/services/containers/health"
	"github.com/patchbay-dev/patchbay/core/services/containers/host"
	"github.com/patchbay-dev/patchbay/core/services/containers/project"
	"github.com/patchbay-dev/patchbay/core/services/containers/record"
	"github.com/patchbay-dev/patchbay/core/services/containers/work"
	"github.com/patchbay-dev/patchbay/sdk/engine"
)

// RunLifecycle runs the compose command, and reads afterwards what runs. It may be repeated: the commands lead to a state.
func (l *Lifecycle) RunLifecycle(ctx context.Context, job *queue.Job, spec Job, r *work.Reporter) (any, error) {
	st, err := l.cfg.Store.FindStack(ctx, spec.StackID)
	if err != nil {
		return nil, err
	}
	services, err := l.cfg.Store.ListStackServices(ctx, st.ID)
	if err != nil {
		return nil, err
	}
	services = slices.DeleteFunc(services, func(svc record.Service) bool { return svc.ArchivedAt != 0 || !spec.SelectsService(&svc) })
	var names, ids []string
	for _, svc := range services {
		ids = append(ids, svc.ID)
		if spec.Scope == work.ScopeService {
			names = append(names, svc.Name)
		}
	}
	if len(ids) == 0 {
		return nil, fault.New(fault.Conflict, "There is no service left to act on.")
	}
	unlock, err := l.cfg.Locks.LockKey(ctx, st.ID)
	if err != nil {
		return nil, err
	}
	defer unlock()
	r.UpdateProgress(ctx, func(p *work.ProgressState) {
		p.Phase, p.Message, p.CurrentTarget = "apply", "compose "+spec.Action, st.Project
	})
	scale, err := l.lifecycleScale(ctx, job, r, &st, services)
	if err != nil {
		return nil, err
	}
	res, err := l.cfg.Host.RunCompose(ctx, r, &st, host.ComposeCall{Action: spec.Action, Services: names, Scale: scale})
	if err == nil && spec.Action != ActionStop {
		err = l.checkScale(ctx, &st, scale)
	}
	l.cfg.Projects.RefreshServices(context.WithoutCancel(ctx), ids)
	out := Summary{Action: spec.Action, Command: []string{}, State: record.StateUnknown}
	if res != nil {
		out.Command = res.Command
	}
	if err != nil {
		return out, err
	}
	states := map[string]record.LifecycleState{}
	if services, err = l.cfg.Store.ListStackServices(ctx, st.ID); err != nil {
		return out, err
	}
	for _, svc := range services {
		if slices.Contains(ids, svc.ID) {
			states[svc.ID] = svc.State
		}
	}
	out.State = project.SumStates(states)
	return out, nil
}

// lifecycleScale is the number of containers that the services had when the job began, also in a later attempt.
func (l *Lifecycle) lifecycleScale(ctx context.Context, job *queue.Job, r *work.Reporter, st *record.Stack, services []record.Service) (map[string]int, error) {
	scale := map[string]int{}
	if len(job.Checkpoint) > 0 {
		return scale, record.DecodeColumn(job.Checkpoint, &scale)
	}
	names := lists.ConvertAll(services, func(s record.Service) string { return s.Name })
	scale, err := l.cfg.Host.ScaleOf(ctx, st, names...)
	if err != nil {
		return nil, err
	}
	return scale, r.Progress.Checkpoint(ctx, scale)
}

// checkScale makes sure that services have the containers that they had, under their names, and nothing beside them.
func (l *Lifecycle) checkScale(ctx context.Context, st *record.Stack, scale map[string]int) error {
	all, err := l.cfg.Host.AllContainersOf(ctx, st.Project, "")
	if err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(scale)) {
		list := slices.DeleteFunc(slices.Clone(all), func(c engine.Container) bool { return c.Labels[host.LabelService] != name })
		if err := (health.Wanted{Replicas: scale[name]}).RequireReplicas(name, list); err != nil {
			return err
		}
	}
	return nil
}
