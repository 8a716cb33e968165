package change

import (
	"context"

	"github.com/patchbay-dev/patchbay/core/services/containers/compose"
	"github.com/patchbay-dev/patchbay/core/services/containers/health"
	"github.com/patchbay-dev/patchbay/core/services/containers/project"
	"github.com/patchbay-dev/patchbay/core/services/containers/record"
)

// whyRunsOnce returns why a service ends by itself; "" if it does not. running is what there is of it.
func (x *Changes) whyRunsOnce(ctx context.Context, st *record.Stack, svc *record.Service, running *project.RunningImage) (string, error) {
	p, err := x.cfg.Host.LoadProject(ctx, st)
	if err != nil {
		// The checks before the change say what is wrong with the files.
		p = &compose.Project{}
	}
	if named := p.Service(svc.Name); named != nil && named.Awaited {
		return health.RunsAwaited, nil
	}
	if running.State != record.StateStopped || running.ID == "" {
		return "", nil
	}
	ended := svc.Ended
	if svc.State != record.StateStopped || svc.RuntimeImage != running.ID || ended == "" {
		list, err := x.cfg.Host.ContainersOf(ctx, st.Project, svc.Name)
		if err != nil {
			return "", err
		}
		if ended, err = x.cfg.Projects.HowEnded(ctx, list); err != nil {
			return "", err
		}
	}
	if ended == record.EndedWell {
		return health.RunsAsBefore, nil
	}
	return "", nil
}
