package change

import (
	"context"
	"slices"

	"github.com/patchbay-dev/patchbay/core/services/containers/project"
	"github.com/patchbay-dev/patchbay/core/services/containers/record"
	"github.com/patchbay-dev/patchbay/core/services/containers/work"
)

// Dependent is a service that lives in namespaces, or uses volumes, of another's containers. It is recreated with them.
type Dependent struct {
	ServiceID string `json:"serviceId"`
	Name      string `json:"name" example:"client"`
}

// dependentLocks are the locks of the services that are recreated with a service. This instance itself is not recreated.
func (x *Changes) dependentLocks(ctx context.Context, inv *project.Inventory, svc *record.Service) ([]string, error) {
	dependents, err := x.cfg.Host.DependentServices(ctx, inv.Stacks[svc.StackID], svc.Name)
	if err != nil {
		return nil, err
	}
	var locks []string
	for i := range dependents {
		if inv.IsSelf(&dependents[i]) {
			return nil, record.ProtectedError(dependents[i].Name)
		}
		locks = append(locks, work.ServiceLock(dependents[i].ID))
	}
	return locks, nil
}

// dependentRecords are the dependents of a service as they are now.
func (x *Changes) dependentRecords(ctx context.Context, st *record.Stack, svc *record.Service) ([]record.Dependent, error) {
	dependents, err := x.cfg.Host.DependentServices(ctx, st, svc.Name)
	if err != nil {
		return nil, err
	}
	var out []record.Dependent
	for i := range dependents {
		now, err := x.cfg.Projects.RunningImage(ctx, st, &dependents[i])
		if err != nil {
			return nil, err
		}
		out = append(out, record.Dependent{ServiceID: dependents[i].ID, Name: dependents[i].Name, ImageID: now.ID, Replicas: now.Replicas, Stopped: now.State == record.StateStopped})
	}
	return out, nil
}

// markFollowers marks the dependents that are targets of the job themselves. Such a dependent follows the service that it depends on: it is
// recreated once, with its own new image, and not before that with the former one. Its image is pulled before anything is recreated, so
// that it is away for a short time only.
func markFollowers(dependents []record.Dependent, targets []project.Target) []record.Dependent {
	for i, d := range dependents {
		dependents[i].Follows = slices.ContainsFunc(targets, func(t project.Target) bool { return t.ServiceID == d.ServiceID })
	}
	return dependents
}
