package change

import (
	"context"
	"time"

	"github.com/patchbay-dev/patchbay/core/services/containers/failure"
	"github.com/patchbay-dev/patchbay/core/services/containers/host"
	"github.com/patchbay-dev/patchbay/core/services/containers/record"
	"github.com/patchbay-dev/patchbay/core/services/containers/work"
	"github.com/patchbay-dev/patchbay/sdk/engine"
)

// stopDetached is stop for a job that may have been cancelled.
func (c *change) stopDetached(ctx context.Context) error {
	ctx, cancel := work.OutlastJob(ctx, 5*time.Minute)
	defer cancel()
	return c.stopService(ctx)
}

func (c *change) stopService(ctx context.Context) error {
	_, err := c.s.cfg.Host.RunCompose(ctx, c.r, &c.stack, host.ComposeCall{Action: engine.ActionStop, Services: []string{c.svc.Name}})
	return err
}

// startAgain starts a service that was stopped for a backup or a restore. It is tried even if the job was cancelled.
func (c *change) startAgain(ctx context.Context) {
	if c.rec.FromState == record.StateStopped {
		return
	}
	ctx, cancel := work.OutlastJob(ctx, 5*time.Minute)
	defer cancel()
	if _, err := c.s.cfg.Host.RunCompose(ctx, c.r, &c.stack, c.composeCall(engine.ActionStart)); err != nil {
		c.r.LogError(ctx, "%s: it could not be started again: %s", c.displayName(), failure.Text(err))
		return
	}
	c.dependentSteps().restartDependents(ctx)
}
