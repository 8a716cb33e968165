package containers

import (
	"context"
	"fmt"

	"github.com/patchbay-dev/patchbay/sdk/engine"
)

// RunningContainers returns the ids of the managed services, by those of their containers that run.
func (s *Service) RunningContainers(ctx context.Context) (map[string]string, error) {
	list, err := s.engine().Containers(ctx, engine.Filter{Labels: []string{labelProject}})
	if err != nil {
		return nil, fmt.Errorf("list the containers: %w", err)
	}
	dirs, err := s.repo.ListWorkingDirs(ctx)
	if err != nil {
		return nil, fmt.Errorf("read the stacks: %w", err)
	}
	list, _ = splitForeign(list, dirs)
	byName, err := s.repo.ListServiceIDs(ctx)
	if err != nil {
		return nil, fmt.Errorf("read the services: %w", err)
	}
	owner := map[string]string{}
	for _, c := range list {
		id := byName[[2]string{c.Labels[labelProject], c.Labels[labelService]}]
		if id != "" && c.State == "running" && !oneOff(c) {
			owner[c.ID] = id
		}
	}
	return owner, nil
}
