package health

import (
	"errors"
	"fmt"
	"time"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/services/containers/project"
	"github.com/patchbay-dev/patchbay/core/services/containers/record"
	"github.com/patchbay-dev/patchbay/sdk/engine"
)

// Wanted is what a service is to consist of.
type Wanted struct {
	// ImageID is the image that each is made from.
	ImageID string
	// Digest, if given, must be among the image's own.
	Digest   string
	Replicas int
	// RunsOnce says why they are to end by themselves; "" if they are to run.
	RunsOnce string
}

// ErrNotRunning tells that a container does not run that should.
var ErrNotRunning = errors.New("a container does not run")

// ErrLeftover tells that interrupted commands have left something: the next compose command puts it in order.
var ErrLeftover = errors.New("there are leftovers of an interrupted compose command")

// checkReplicas checks that a service has as many containers as wanted, under their names. It returns what is missing, or
// "".
func (w Wanted) checkReplicas(list []engine.Container) (missing string, err error) {
	repairs := engine.Repair(list)
	switch {
	case len(repairs.Remove) > 0:
		return "", fault.Wrap(ErrLeftover, fault.Conflict, "The container %s is left over from an interrupted command.", repairs.Remove[0].Name)
	case len(repairs.Rename) > 0:
		return "", fault.Wrap(ErrLeftover, fault.Conflict, "An interrupted command left a container with a temporary name.")
	case len(list) != w.Replicas:
		return fmt.Sprintf("there are %d of %d containers", len(list), w.Replicas), nil
	}
	return "", nil
}

// RequireReplicas returns an error unless a service has as many containers as wanted.
func (w Wanted) RequireReplicas(service string, list []engine.Container) error {
	missing, err := w.checkReplicas(list)
	if missing != "" {
		err = fault.New(fault.Conflict, "%s is not as it was: %s.", service, missing)
	}
	return err
}

// Why a service ends by itself, as the journal has it.
const (
	// RunsAwaited: another service waits for its end with success.
	RunsAwaited = "awaited"
	// RunsAsBefore: its containers had ended with 0 by themselves when the change began.
	RunsAsBefore = "before"
)

// awaitedRun is how long a service may run whose end another one waits for, unless its own health timeout says otherwise.
const awaitedRun = 30 * time.Minute

// checkEnded returns what a container is waiting for that is to end by itself, "" if it has ended with success, or an error
// if it has failed.
func checkEnded(d *engine.Detail) (waits string, err error) {
	switch {
	case project.IsComplete(d):
		return "", nil
	case d.State == "exited" || d.State == "dead" || d.Error != "":
		return "", fault.Wrap(ErrNotRunning, fault.Conflict, "The container %s ended with exit code %d%s.", d.Name, d.ExitCode, describeState(d))
	case d.State == "running":
		return stateRunning, nil
	}
	return "the container is " + d.State, nil
}

// runTimeLimit is how long a service that ends by itself may run.
func (w Wanted) runTimeLimit(svc *record.Service, usual time.Duration) time.Duration {
	if w.RunsOnce == RunsAwaited && svc.HealthTimeout == 0 {
		return max(usual, awaitedRun)
	}
	return usual
}

func describeState(d *engine.Detail) string {
	switch {
	case d.OOMKilled:
		return ": it ran out of memory"
	case d.Error != "":
		return ": " + d.Error
	case d.HealthLog != "":
		return ": " + d.HealthLog
	}
	return ""
}

// States of containers that wait for something, besides those in words.
const (
	stateAway    = "the engine does not answer"
	stateCreated = "the container is created"
	stateRunning = "it runs to its end"
)
