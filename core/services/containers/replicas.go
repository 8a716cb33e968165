package containers

import (
	"context"
	"fmt"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/sdk/engine"
)

// scaleOf returns the number of containers that services of a stack have now, by name. A service without any is left
// out: it gets as many as its files say.
func (s *Service) scaleOf(ctx context.Context, st *stackRecord, services ...string) (map[string]int, error) {
	list, err := s.containersOf(ctx, st.Project, "")
	if err != nil {
		return nil, err
	}
	out := map[string]int{}
	for _, name := range services {
		for _, c := range list {
			if c.Labels[labelService] == name {
				out[name]++
			}
		}
	}
	return out, nil
}

// replicasInFiles is the number of containers that the files give to a service; 0 where they cannot be read.
func (s *Service) replicasInFiles(ctx context.Context, st *stackRecord, name string) int {
	p, err := s.load(ctx, st)
	if err != nil {
		return 0
	}
	if svc := p.Service(name); svc != nil {
		return svc.Replicas
	}
	return 0
}

// completeRecord gives the number of containers to a record that a version without it has written.
func (s *Service) completeRecord(ctx context.Context, rec *changeRecord) error {
	if rec.Replicas > 0 {
		return nil
	}
	ctx = detached(ctx)
	svc, err := s.repo.service(ctx, rec.ServiceID)
	if err != nil {
		return err
	}
	st, err := s.repo.stack(ctx, svc.StackID)
	if err != nil {
		return err
	}
	running, err := s.runningImage(ctx, &st, &svc)
	if err != nil {
		return err
	}
	rec.Replicas = running.replicas
	return s.repo.saveChange(ctx, rec)
}

// wantedContainers is what a service is to consist of.
type wantedContainers struct {
	imageID string
	// digest, if given, must be among the image's own.
	digest   string
	replicas int
}

// missing says what is not as wanted in the number and the names of a service's containers, leftovers of interrupted
// commands included; it is empty when all is.
func (w wantedContainers) missing(list []engine.Container) string {
	repairs := engine.Repair(list)
	switch {
	case len(repairs.Remove) > 0:
		return fmt.Sprintf("the container %s is left of an interrupted command", repairs.Remove[0].Name)
	case len(list) != w.replicas:
		return fmt.Sprintf("there are %d of %d containers", len(list), w.replicas)
	}
	for _, c := range list {
		if name := engine.ProperName(&c); name != c.Name {
			return fmt.Sprintf("the container %s should be named %s", c.Name, name)
		}
	}
	return ""
}

// checkStopped makes sure that a service that does not run consists of the wanted containers.
func (s *Service) checkStopped(ctx context.Context, st *stackRecord, svc *serviceRecord, want wantedContainers) error {
	list, err := s.allContainersOf(ctx, st.Project, svc.Name)
	if err != nil {
		return err
	}
	if missing := want.missing(list); missing != "" {
		return fault.New(fault.Conflict, "%s is not as it was: %s.", svc.Name, missing)
	}
	for _, c := range list {
		if c.ImageID != want.imageID {
			return fault.New(fault.Conflict, "The container %s has image %s instead of %s.", c.Name, short(c.ImageID), short(want.imageID))
		}
	}
	return nil
}
