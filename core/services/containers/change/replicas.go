package change

import (
	"context"
	"errors"
	"fmt"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/services/containers/record"
	"github.com/patchbay-dev/patchbay/sdk/engine"
)

// completeRecord gives the number of containers to a record that a version without it has written.
func (x *Changes) completeRecord(ctx context.Context, rec *record.Change) error {
	if rec.Replicas > 0 {
		return nil
	}
	ctx = context.WithoutCancel(ctx)
	svc, err := x.store.FindService(ctx, rec.ServiceID)
	if err != nil {
		return err
	}
	st, err := x.store.FindStack(ctx, svc.StackID)
	if err != nil {
		return err
	}
	running, err := x.cfg.Projects.RunningImage(ctx, &st, &svc)
	if err != nil {
		return err
	}
	rec.Replicas = running.Replicas
	return x.store.saveChange(ctx, rec)
}

// wantedContainers is what a service is to consist of.
type wantedContainers struct {
	imageID string
	// digest, if given, must be among the image's own.
	digest   string
	replicas int
	// runsOnce says why they are to end by themselves; "" if they are to run.
	runsOnce string
}

// errNotRunning tells that a container does not run that should.
var errNotRunning = errors.New("a container does not run")

// errLeftover tells that interrupted commands have left something: the next compose command puts it in order.
var errLeftover = errors.New("there are leftovers of an interrupted compose command")

// checkReplicas checks that a service has as many containers as wanted, under their names. It returns what is missing, or
// "".
func (w wantedContainers) checkReplicas(list []engine.Container) (missing string, err error) {
	repairs := engine.Repair(list)
	switch {
	case len(repairs.Remove) > 0:
		return "", fault.Wrap(errLeftover, fault.Conflict, "The container %s is left of an interrupted command.", repairs.Remove[0].Name)
	case len(repairs.Rename) > 0:
		return "", fault.Wrap(errLeftover, fault.Conflict, "An interrupted command has left a container under a temporary name.")
	case len(list) != w.replicas:
		return fmt.Sprintf("there are %d of %d containers", len(list), w.replicas), nil
	}
	return "", nil
}

// requireReplicas returns an error unless a service has as many containers as wanted.
func (w wantedContainers) requireReplicas(service string, list []engine.Container) error {
	missing, err := w.checkReplicas(list)
	if missing != "" {
		err = fault.New(fault.Conflict, "%s is not as it was: %s.", service, missing)
	}
	return err
}

// checkStopped makes sure that a service that does not run consists of the wanted containers.
func (h *healthChecker) checkStopped(ctx context.Context, st *record.Stack, svc *record.Service, want wantedContainers) error {
	list, err := h.cfg.Host.AllContainersOf(ctx, st.Project, svc.Name)
	if err != nil {
		return err
	}
	if err := want.requireReplicas(svc.Name, list); err != nil {
		return err
	}
	for _, c := range list {
		if c.ImageID != want.imageID {
			return fault.New(fault.Conflict, "The container %s has image %s instead of %s.", c.Name, record.ShortDigest(c.ImageID), record.ShortDigest(want.imageID))
		}
	}
	return nil
}

// awaitHealthy waits until the wanted containers and those of dependents are healthy. What a request of an interrupted compose command has
// created after the repair is put in order by recreate, and so is what an outage of the engine has stopped: containers that it ended say
// nothing about their image.
func (c *change) awaitHealthy(ctx context.Context, want wantedContainers, recreate func(context.Context) error) error {
	await := func() error {
		// Whoever only waits leaves its place to another one.
		c.place.Leave()
		defer c.place.Return()
		if err := c.s.health.waitHealthy(ctx, c.r, &c.stack, &c.svc, want); err != nil {
			return err
		}
		return c.dependentSteps().awaitDependents(ctx)
	}
	if c.recreated >= 0 && c.recreated != c.s.cfg.Host.OutageCount() {
		if err := recreate(ctx); err != nil {
			return err
		}
	}
	err := await()
	// Nobody has seen what happened between two attempts of a job: the engine may have been away then.
	if unseen := c.recreated < 0 && errors.Is(err, errNotRunning); !unseen && !errors.Is(err, errLeftover) {
		return err
	}
	if err := recreate(ctx); err != nil {
		return err
	}
	return await()
}
