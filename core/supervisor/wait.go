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

// awaitCore waits until exactly one container of the core runs an image, is healthy, and answers with the image's version, which
// is returned. It fails at once when the container cannot become healthy any more. The time in which the engine is away does not count.
func (r *run) awaitCore(ctx context.Context, want Image) (version string, failure error) {
	first := map[string]*engine.Detail{}
	waited := r.s.engine.waited.Load()
	for began := time.Now(); ; {
		version, state, err := r.lookOnce(ctx, want, first)
		if err != nil || state == "" {
			return version, err
		}
		if away := time.Duration(r.s.engine.waited.Load() - waited); time.Since(began) > r.s.cfg.HealthTimeout+away {
			return "", fault.New(fault.Conflict, "The core did not answer as it should within %s: %s", r.s.cfg.HealthTimeout, state)
		}
		if err := sleep(ctx, lookEvery); err != nil {
			return "", err
		}
	}
}

// lookOnce looks at the core's containers. state is what is awaited; "" when all is well.
func (r *run) lookOnce(ctx context.Context, want Image, first map[string]*engine.Detail) (version, state string, err error) {
	labels := []string{engine.LabelProject + "=" + r.op.Place.Project, engine.LabelService + "=" + r.op.Place.Service}
	list, err := r.s.engine.Containers(ctx, engine.Filter{Labels: labels})
	if err != nil {
		return "", "", err
	}
	list = slices.DeleteFunc(list, func(c engine.Container) bool { return strings.EqualFold(c.Labels[engine.LabelOneOff], "true") })
	if len(list) != 1 {
		return "", fmt.Sprintf("there are %d containers of the core", len(list)), nil
	}
	c, err := r.s.engine.Inspect(ctx, list[0].ID)
	if fault.CodeOf(err) == fault.NotFound {
		return "", "the container was replaced", nil
	}
	if err != nil {
		return "", "", err
	}
	if state, err := r.checkContainer(c, want, first); state != "" || err != nil {
		return "", state, err
	}
	version, err = probeVersion(ctx, r.s.urlsOf(c))
	switch {
	case err != nil:
		return "", "it does not answer: " + err.Error(), nil
	case want.Version != "" && version != want.Version:
		return "", "", fault.New(fault.Conflict, "The core answers that it has the version %s instead of %s.", version, want.Version)
	}
	return version, "", nil
}

// checkContainer returns what a container is waiting for, "" if it is healthy, or an error if it will not become so.
func (r *run) checkContainer(c *engine.Detail, want Image, first map[string]*engine.Detail) (state string, err error) {
	if first[c.ID] == nil {
		first[c.ID] = c
	}
	switch {
	case c.ImageID != want.ID:
		return "", fault.New(fault.Conflict, "The container %s runs another image than %s.", c.Name, describeImage(want))
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
	case c.Health == "" && time.Since(time.UnixMilli(c.StartedAt)) < min(settleTime, r.s.cfg.HealthTimeout/2):
		return "it has just begun", nil
	}
	return "", nil
}

// addedSentence returns what an engine adds to a message, after a space; "" for nothing.
func addedSentence(text string) string {
	if text = lastLines(text); text != "" {
		return " " + text
	}
	return ""
}

// maxTail is how much of the output of compose stands in a message, in bytes.
const maxTail = 500

// lastLines returns the end of an output, in one line.
func lastLines(tail string) string {
	tail = strings.Join(strings.Fields(tail), " ")
	if n := len(tail) - maxTail; n > 0 {
		tail = "…" + strings.ToValidUTF8(tail[n:], "")
	}
	return tail
}
