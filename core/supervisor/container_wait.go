package supervisor

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/sdk/engine"
)

// watchCore implements deployment: exactly one container of the core must run the image, be healthy, and answer with the image's version.
func (d *container) watchCore(r *run, want Image) func(ctx context.Context) (version, state string, err error) {
	first := map[string]*engine.Detail{}
	return func(ctx context.Context) (version, state string, err error) { return d.lookOnce(ctx, r, want, first) }
}

// lookOnce looks at the core's containers. state is what is awaited; "" when all is well.
func (d *container) lookOnce(ctx context.Context, r *run, want Image, first map[string]*engine.Detail) (version, state string, err error) {
	labels := []string{engine.LabelProject + "=" + r.op.Place.Project, engine.LabelService + "=" + r.op.Place.Service}
	list, err := d.engine.Containers(ctx, engine.Filter{Labels: labels})
	if err != nil {
		return "", "", err
	}
	list = slices.DeleteFunc(list, func(c engine.Container) bool { return strings.EqualFold(c.Labels[engine.LabelOneOff], "true") })
	if len(list) != 1 {
		return "", fmt.Sprintf("there are %d containers of the core", len(list)), nil
	}
	c, err := d.engine.Inspect(ctx, list[0].ID)
	if fault.CodeOf(err) == fault.NotFound {
		return "", "the container was replaced", nil
	}
	if err != nil {
		return "", "", err
	}
	if state, err := d.checkContainer(c, want, first); state != "" || err != nil {
		return "", state, err
	}
	version, err = probeVersion(ctx, d.listURLs(c))
	return checkAnswer(version, err, want)
}

// checkContainer returns what a container is waiting for, "" if it is healthy, or an error if it will not become so.
func (d *container) checkContainer(c *engine.Detail, want Image, first map[string]*engine.Detail) (state string, err error) {
	if first[c.ID] == nil {
		first[c.ID] = c
	}
	switch {
	case c.ImageID != want.ID:
		return "", fault.New(fault.Conflict, "The container %s runs a different image than %s.", c.Name, describeImage(want))
	case c.State == "exited" || c.State == "dead" || c.Error != "":
		return "", fault.New(fault.Conflict, "The container %s ended with the exit code %d.%s", c.Name, c.ExitCode, addedSentence(c.Error))
	case c.State == "restarting" || c.RestartCount > first[c.ID].RestartCount:
		return "", fault.New(fault.Conflict, "The container %s keeps restarting.", c.Name)
	case c.State != "running":
		return "the container is " + c.State, nil
	case c.Health == "unhealthy":
		return "", fault.New(fault.Conflict, "The container %s is unhealthy.%s", c.Name, addedSentence(c.HealthLog))
	case c.Health == "starting":
		return "its health check has not passed yet", nil
	case c.Health == "" && time.Since(time.UnixMilli(c.StartedAt)) < min(settleTime, d.s.cfg.HealthTimeout/2):
		return "it has just begun", nil
	}
	return "", nil
}
