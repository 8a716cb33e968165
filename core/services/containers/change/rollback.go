package change

import (
	"context"
	"errors"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/services/containers/failure"
	"github.com/patchbay-dev/patchbay/core/services/containers/record"
	"github.com/patchbay-dev/patchbay/core/services/containers/work"
)

// rollBack brings the exact former image back: its id gets the name in the project, and compose recreates the service.
func (c rollbackSteps) rollBack(ctx context.Context, trigger string) error {
	c.outcome.Trigger, c.rec.Error = trigger, trigger
	outer := ctx
	ctx, cancel := work.OutlastJob(ctx, rollbackTime)
	defer cancel()
	if c.rec.FromImage == "" {
		return c.finishChange(ctx, record.ChangeFailed, fault.New(fault.Conflict, "There is no previous image to roll back to."))
	}
	c.r.LogWarning(ctx, "%s: rolling back to %s", c.displayName(), record.ShortDigest(c.rec.FromImage))
	steps := []struct {
		name string
		do   func(context.Context) error
	}{
		{StepRollbackTag, func(ctx context.Context) error {
			c.reportProgress(ctx, 0.85, "rolling back")
			return c.s.cfg.Host.RetryStep(ctx, func() error { return c.s.cfg.Host.Engine().Tag(ctx, c.rec.FromImage, c.svc.ImageRef().String()) })
		}},
		{StepRollbackUp, c.recreateFormer},
		{StepRollbackWait, c.awaitFormer},
	}
	for _, step := range steps {
		if err := c.journalStep(ctx, step.name); err != nil {
			return err
		}
		if err := c.runStep(ctx, step.do); err != nil {
			if work.IsHandover(outer) {
				return context.Cause(outer)
			}
			if errors.Is(err, failure.ErrEngineAway) {
				return c.awaitNextJob(ctx, err)
			}
			c.r.LogError(ctx, "%s: the rollback failed: %s", c.displayName(), failure.Text(err))
			c.reportOutput(ctx, c.rec.FromImage)
			return c.finishChange(ctx, record.ChangeFailed, fault.New(fault.Conflict, "The update failed (%s), and so did the rollback: %s", trigger, failure.Text(err)).With("reason", "rollback_failed"))
		}
	}
	if c.staysStopped() {
		c.r.LogWarning(ctx, "%s: rolled back to the former image, and stays stopped", c.displayName())
	} else {
		c.r.LogWarning(ctx, "%s: rolled back, it runs the former image", c.displayName())
	}
	return c.finishChange(ctx, record.ChangeRolledBack, nil)
}

// recreateFormer stops the service before it is recreated. The engine goes on stopping a container after the compose
// command was interrupted that asked for it: one that still runs could end once it was found healthy.
func (c rollbackSteps) recreateFormer(ctx context.Context) error {
	c.reportProgress(ctx, 0.9, "recreating "+c.svc.Name+" as it was")
	if err := c.stopService(ctx); err != nil {
		return err
	}
	return c.recreateWithDependents(ctx)
}

// awaitFormer waits until the former version is healthy; a service that did not run before is stopped again instead.
func (c rollbackSteps) awaitFormer(ctx context.Context) error {
	if c.staysStopped() {
		return c.s.health.CheckStopped(ctx, &c.stack, &c.svc, c.wantedAfter(c.rec.FromImage, ""))
	}
	c.reportProgress(ctx, 0.95, "waiting until the former version is healthy")
	return c.awaitHealthy(ctx, c.wantedAfter(c.rec.FromImage, ""), c.recreateFormer)
}

// rollbackSteps are the steps of a change that bring a former image back.
type rollbackSteps struct{ *change }

func (c *change) rollbackSteps() rollbackSteps { return rollbackSteps{c} }
