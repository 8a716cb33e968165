// Package lifecycle starts, stops and restarts services and stacks, and reports whether they run.
package lifecycle

import (
	"context"
	"slices"

	"github.com/hashicorp/go-hclog"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/httpd/api"
	"github.com/patchbay-dev/patchbay/core/services/containers/host"
	"github.com/patchbay-dev/patchbay/core/services/containers/project"
	"github.com/patchbay-dev/patchbay/core/services/containers/record"
	"github.com/patchbay-dev/patchbay/core/services/containers/work"
	"github.com/patchbay-dev/patchbay/sdk/engine"
)

// The actions of the lifecycle.
const (
	ActionStart   = "start"
	ActionStop    = "stop"
	ActionRestart = "restart"
)

// Lifecycle starts, stops and restarts services and stacks.
type Lifecycle struct{ cfg Config }

// Config is what the lifecycle needs.
type Config struct {
	Store    *record.Store
	Host     *host.Host
	Projects *project.Projects
	Jobs     *work.Queue
	// Locks has a lock for each stack.
	Locks  *work.KeyedMutex
	Logger hclog.Logger
	// ComposeBin returns the compose command in use.
	ComposeBin func() string
}

// New returns the lifecycle.
func New(cfg Config) *Lifecycle { return &Lifecycle{cfg} }

// ServiceLifecycle is whether a service runs, and what works on it.
type ServiceLifecycle struct {
	State             record.LifecycleState        `json:"state" enum:"running,stopped,partial,unknown"`
	ActiveJob         api.Optional[work.ActiveJob] `json:"activeJob"`
	UnavailableReason *string                      `json:"unavailableReason" doc:"Why it cannot be started or stopped here; null if it can."`
}

// StackLifecycle is whether a stack runs, and what works on its services.
type StackLifecycle struct {
	State             record.LifecycleState `json:"state" enum:"running,stopped,partial,unknown"`
	ActiveJobs        []work.ActiveJob      `json:"activeJobs"`
	UnavailableReason *string               `json:"unavailableReason" doc:"Why it cannot be started or stopped here; null if it can."`
}

// Why there is no ordinary lifecycle.
const (
	unavailableSelf     = "managed_via_supervisor"
	unavailableArchived = "archived"
	unavailableNone     = "container_missing_for_compose_v1"
	unavailableEngine   = "lifecycle_status_unavailable"
)

// ServiceLifecycle reports whether a service runs. The engine is asked; if it does not answer the state is unknown.
func (l *Lifecycle) ServiceLifecycle(ctx context.Context, id string) (ServiceLifecycle, error) {
	inv, err := l.cfg.Projects.LoadInventory(ctx)
	if err != nil {
		return ServiceLifecycle{}, err
	}
	svc := inv.Services[id]
	if svc == nil {
		return ServiceLifecycle{}, fault.New(fault.NotFound, record.NoService)
	}
	jobs, err := l.cfg.Jobs.ActiveJobs(ctx, []string{id})
	if err != nil {
		return ServiceLifecycle{}, err
	}
	out := ServiceLifecycle{}
	if len(jobs) > 0 {
		out.ActiveJob.Of = &jobs[0]
	}
	states, why := l.serviceStates(ctx, inv, []*record.Service{svc})
	out.State = states[id]
	if inv.IsSelf(svc) {
		why = unavailableSelf
	} else if inv.IsArchived(svc) {
		why = unavailableArchived
	} else if why == "" {
		why = l.cannotStart(ctx, inv, svc)
	}
	out.UnavailableReason = pointerTo(why)
	return out, nil
}

// pointerTo is nil for "".
func pointerTo(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// serviceStates returns the states of services of one stack, as the engine reports them.
func (l *Lifecycle) serviceStates(ctx context.Context, inv *project.Inventory, services []*record.Service) (map[string]record.LifecycleState, string) {
	out := map[string]record.LifecycleState{}
	if len(services) == 0 {
		return out, ""
	}
	projectName := inv.Stacks[services[0].StackID].Project
	list, err := l.cfg.Host.ContainersOf(ctx, projectName, "")
	for _, svc := range services {
		if err != nil {
			out[svc.ID] = record.StateUnknown
			continue
		}
		own := slices.DeleteFunc(slices.Clone(list), func(c engine.Container) bool { return c.Labels[host.LabelService] != svc.Name })
		out[svc.ID] = project.StateOf(own)
	}
	if err != nil {
		l.cfg.Logger.Warn("cannot list running containers", "project", projectName, "error", err)
		return out, unavailableEngine
	}
	return out, ""
}

// cannotStart tells why a service without containers cannot be started: compose of the first generation starts only what
// is there.
func (l *Lifecycle) cannotStart(ctx context.Context, inv *project.Inventory, svc *record.Service) string {
	list, err := l.cfg.Host.ContainersOf(ctx, inv.Stacks[svc.StackID].Project, svc.Name)
	if err != nil || len(list) > 0 {
		return ""
	}
	info, err := l.cfg.Host.Engine().Info(ctx, l.cfg.ComposeBin())
	if err == nil && info.Compose != nil && !info.Compose.PullPolicy {
		return unavailableNone
	}
	return ""
}

// StackLifecycle sums the states of a stack's services up.
func (l *Lifecycle) StackLifecycle(ctx context.Context, id string) (StackLifecycle, error) {
	inv, err := l.cfg.Projects.LoadInventory(ctx)
	if err != nil {
		return StackLifecycle{}, err
	}
	if inv.Stacks[id] == nil {
		return StackLifecycle{}, fault.New(fault.NotFound, record.NoStack)
	}
	members := inv.MembersOf(id)
	var ids []string
	for _, svc := range members {
		ids = append(ids, svc.ID)
	}
	out := StackLifecycle{}
	if out.ActiveJobs, err = l.cfg.Jobs.ActiveJobs(ctx, ids); err != nil {
		return out, err
	}
	states, why := l.serviceStates(ctx, inv, members)
	out.State = project.SumStates(states)
	if inv.ContainsSelf(id) {
		why = unavailableSelf
	} else if inv.Stacks[id].ArchivedAt != 0 {
		why = unavailableArchived
	}
	out.UnavailableReason = pointerTo(why)
	return out, nil
}

func checkAction(action string) error {
	if action != ActionStart && action != ActionStop && action != ActionRestart {
		return record.InvalidField("action", "The action must be start, stop or restart.")
	}
	return nil
}

// ServiceAction queues the start, stop or restart of a service.
func (l *Lifecycle) ServiceAction(ctx context.Context, id, action string) (string, error) {
	if err := checkAction(action); err != nil {
		return "", err
	}
	inv, err := l.cfg.Projects.LoadInventory(ctx)
	if err != nil {
		return "", err
	}
	svc := inv.Services[id]
	switch {
	case svc == nil:
		return "", fault.New(fault.NotFound, record.NoService)
	case inv.IsSelf(svc):
		return "", record.ProtectedError(svc.Name)
	case inv.IsArchived(svc):
		return "", record.ArchivedError(svc.Name)
	}
	if action == ActionStart {
		if why := l.cannotStart(ctx, inv, svc); why != "" {
			return "", fault.New(fault.Conflict,
				"%s has no container yet, and this compose version starts only existing containers.", svc.Name).With("reason", why)
		}
	}
	return l.cfg.Jobs.SubmitNew(ctx, work.Submission{
		Kind: work.JobServiceLifecycle, Locks: []string{work.ServiceLock(id)}, Services: []string{id}, Stacks: []string{svc.StackID},
		Payload: Job{work.Subject{Scope: work.ScopeService, StackID: svc.StackID, ServiceID: id, Reason: work.ReasonUI}, action},
	})
}

// StackAction queues the start, stop or restart of a stack. It locks all services of it.
func (l *Lifecycle) StackAction(ctx context.Context, id, action string) (string, error) {
	if err := checkAction(action); err != nil {
		return "", err
	}
	inv, err := l.cfg.Projects.LoadInventory(ctx)
	if err != nil {
		return "", err
	}
	st := inv.Stacks[id]
	switch {
	case st == nil:
		return "", fault.New(fault.NotFound, record.NoStack)
	case inv.ContainsSelf(id):
		return "", record.ProtectedError(st.Project)
	case st.ArchivedAt != 0:
		return "", record.ArchivedError(st.Project)
	}
	sub := work.Submission{
		Kind: work.JobStackLifecycle, Stacks: []string{id}, Locks: []string{"containers/stack/" + id},
		Payload: Job{work.Subject{Scope: work.ScopeStack, StackID: id, Reason: work.ReasonUI}, action},
	}
	for _, svc := range inv.MembersOf(id) {
		sub.Locks, sub.Services = append(sub.Locks, work.ServiceLock(svc.ID)), append(sub.Services, svc.ID)
	}
	return l.cfg.Jobs.SubmitNew(ctx, sub)
}

// Job is the payload of JobServiceLifecycle and JobStackLifecycle.
type Job struct {
	work.Subject
	Action string `json:"action,omitempty"`
}

// Summary is the summary of a lifecycle job.
type Summary struct {
	Action  string                `json:"action"`
	Command []string              `json:"command"`
	State   record.LifecycleState `json:"state"`
}
