package change

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/services/containers/compose"
	"github.com/patchbay-dev/patchbay/core/services/containers/project"
	"github.com/patchbay-dev/patchbay/core/services/containers/record"
	"github.com/patchbay-dev/patchbay/core/services/containers/work"
	"github.com/patchbay-dev/patchbay/sdk/engine"
)

// Why a service ends by itself, as the journal has it.
const (
	// runsAwaited: another service waits for its end with success.
	RunsAwaited = "awaited"
	// runsAsBefore: its containers had ended with 0 by themselves when the change began.
	runsAsBefore = "before"
)

// awaitedRun is how long a service may run whose end another one waits for, unless its own health timeout says otherwise.
const awaitedRun = 30 * time.Minute

// whyRunsOnce returns why a service ends by itself; "" if it does not. running is what there is of it.
func (x *Changes) whyRunsOnce(ctx context.Context, st *record.Stack, svc *record.Service, running *project.RunningImage) (string, error) {
	p, err := x.cfg.Host.LoadProject(ctx, st)
	if err != nil {
		// The checks before the change say what is wrong with the files.
		p = &compose.Project{}
	}
	if named := p.Service(svc.Name); named != nil && named.Awaited {
		return RunsAwaited, nil
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
		return runsAsBefore, nil
	}
	return "", nil
}

// checkEnded returns what a container is waiting for that is to end by itself, "" if it has ended with success, or an error
// if it has failed.
func checkEnded(d *engine.Detail) (waits string, err error) {
	switch {
	case project.IsComplete(d):
		return "", nil
	case d.State == "exited" || d.State == "dead" || d.Error != "":
		return "", fault.Wrap(errNotRunning, fault.Conflict, "The container %s ended with exit code %d%s.", d.Name, d.ExitCode, describeState(d))
	case d.State == "running":
		return stateRunning, nil
	}
	return "the container is " + d.State, nil
}

// runTimeLimit is how long a service that ends by itself may run.
func (w wantedContainers) runTimeLimit(svc *record.Service, usual time.Duration) time.Duration {
	if w.runsOnce == RunsAwaited && svc.HealthTimeout == 0 {
		return max(usual, awaitedRun)
	}
	return usual
}

// hasCompleted reports whether the service ends by itself and has done so with its new image: an earlier attempt of the job has run it.
func (c *change) hasCompleted(ctx context.Context) (bool, error) {
	if c.rec.RunsOnce == "" || c.rec.ToImage == c.rec.FromImage {
		return false, nil
	}
	list, err := c.s.cfg.Host.ContainersOf(ctx, c.stack.Project, c.svc.Name)
	if err != nil || len(list) != c.rec.Replicas {
		return false, err
	}
	for _, ct := range list {
		d, err := c.s.cfg.Host.Engine().Inspect(ctx, ct.ID)
		if err != nil {
			return false, fmt.Errorf("inspect %s: %w", ct.Name, err)
		}
		if d.ImageID != c.rec.ToImage || !project.IsComplete(d) {
			return false, nil
		}
	}
	return true, nil
}

// leaveFailedRun ends the change of a service that ends by itself and has failed. Its former image gets its name back and is not run.
func (c *change) leaveFailedRun(ctx context.Context, cause error) error {
	c.r.LogWarning(ctx, "%s: it ends by itself, so its former image is not run again", c.displayName())
	c.nameFormer(ctx)
	return c.finishChange(ctx, record.ChangeFailed, cause)
}

// completedBefore returns the services that end by themselves, have run with their new versions in this job, and stay so
// when a later change fails.
func completedBefore(done []*change, failed *change) (out []*change) {
	for _, c := range done {
		if c != failed && c.rec.RunsOnce != "" && c.rec.Status == record.ChangeSuccess && c.stack.ID == failed.stack.ID {
			out = append(out, c)
		}
	}
	return out
}

// reportCompleted says which services stay at their new versions though a later one has failed.
func (sum *StackSummary) reportCompleted(ctx context.Context, r *work.Reporter, done []*change, failed *change) {
	for _, c := range completedBefore(done, failed) {
		sum.Update.Completed = append(sum.Update.Completed, c.svc.ID)
		r.LogWarning(ctx, "%s was run with its new version, and stays so", c.displayName())
	}
}

// othersText says the same in the error of a job, and which others have failed beside the one that it is about; "" if there
// is nothing to say.
func othersText(done []*change, failed *change) (text string) {
	var names []string
	for _, c := range completedBefore(done, failed) {
		names = append(names, c.displayName())
	}
	if len(names) > 0 {
		text = " " + strings.Join(names, ", ") + " was run with its new version, and stays so."
	}
	for _, c := range done {
		switch {
		case c == failed || c.stack.ID != failed.stack.ID:
		case c.rec.Status == record.ChangeFailed:
			text += fmt.Sprintf(" %s failed too: %s", c.displayName(), c.rec.Error)
		case c.rec.Status == record.ChangeRolledBack:
			text += fmt.Sprintf(" %s was rolled back too: %s", c.displayName(), c.rec.Error)
		}
	}
	return text
}

// staysStopped reports whether the service did not run when the change began and is not to run after it.
func (c *change) staysStopped() bool {
	return c.rec.FromState == record.StateStopped && c.rec.FromImage != "" && c.rec.RunsOnce == ""
}

// reportSuccess says what there is of the service after its change.
func (c *change) reportSuccess(ctx context.Context) {
	digest := record.ShortDigest(c.rec.ToDigest)
	switch {
	case c.rec.RunsOnce != "":
		c.r.LogInfo(ctx, "%s: was run with %s", c.displayName(), digest)
	case c.staysStopped():
		c.r.LogInfo(ctx, "%s: has %s, and stays stopped", c.displayName(), digest)
	default:
		c.r.LogInfo(ctx, "%s: runs %s", c.displayName(), digest)
	}
}
