package change

import (
	"context"
	"errors"

	"github.com/patchbay-dev/patchbay/core/queue"
	"github.com/patchbay-dev/patchbay/core/services/containers/failure"
	"github.com/patchbay-dev/patchbay/core/services/containers/host"
	"github.com/patchbay-dev/patchbay/core/services/containers/record"
	"github.com/patchbay-dev/patchbay/core/services/containers/work"
)

// handleFailure undoes the change after a failed step. Before the image was tagged nothing is to be undone; after that the
// former image is brought back.
func (c *change) handleFailure(ctx context.Context, step string, err error) error {
	if ctx.Err() != nil && work.IsHandover(ctx) {
		return context.Cause(ctx)
	}
	c.outcome.FailureStep = step
	if ctx.Err() == nil && errors.Is(err, failure.ErrEngineAway) {
		return c.awaitNextJob(ctx, err)
	}
	if refused := (precheckError{}); errors.As(err, &refused) {
		c.outcome.FailureStep = stepPrecheck
	}
	if ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	c.rec.Reason = failure.Code(err)
	if errors.Is(err, queue.ErrCanceled) {
		c.r.LogWarning(ctx, "%s: canceled at the step %s", c.displayName(), step)
	} else {
		c.r.LogError(ctx, "%s: %s failed: %s", c.displayName(), c.outcome.FailureStep, failure.Text(err))
	}
	if ctx.Err() == nil && (step == StepUp || step == StepHealth) {
		c.reportOutput(ctx, c.rec.ToImage)
	}
	switch {
	case step == StepExtraTags && errors.Is(err, queue.ErrCanceled):
		// The update is done; what was left is only told.
		c.outcome.Cut = true
		return c.finishChange(ctx, record.ChangeSuccess, nil)
	case stepOrder(step) >= stepOrder(StepSync):
		// The service runs and is healthy: only names of images are behind.
		return c.finishChange(ctx, record.ChangeFailed, err)
	case step == StepBackup:
		if err := c.s.cfg.Backups.FailOpenBackups(context.WithoutCancel(ctx), c.rec.JobID, c.svc.ID); err != nil {
			c.r.LogWarning(ctx, "%s: a backup that was begun could not be closed: %s", c.displayName(), failure.Text(err))
		}
		c.startAgain(ctx)
		return c.finishChange(ctx, record.ChangeFailed, err)
	case stepOrder(step) < stepOrder(StepTag):
		return c.finishChange(ctx, record.ChangeFailed, err)
	case step == StepTag || step == StepUp && errors.Is(err, host.ErrFiles):
		c.restoreTag(ctx)
		return c.finishChange(ctx, record.ChangeFailed, err)
	case c.rec.RunsOnce != "":
		return c.leaveFailedRun(ctx, err)
	case !c.svc.AutoRollback && step == StepUp && !c.hasNewImage(ctx):
		c.r.LogWarning(ctx, "%s: no container was replaced; the former one goes on.", c.displayName())
		if err := c.stopDetached(ctx); err != nil {
			c.r.LogWarning(ctx, "%s: it could not be stopped before it is started again: %s", c.displayName(), failure.Text(err))
		}
		c.restoreTag(ctx)
		return c.finishChange(ctx, record.ChangeFailed, err)
	case !c.svc.AutoRollback && ctx.Err() == nil:
		c.r.LogWarning(ctx, "%s: automatic rollback is switched off; the new container stays as it is.", c.displayName())
		return c.finishChange(ctx, record.ChangeFailed, err)
	}
	return c.rollbackSteps().rollBack(ctx, failure.Text(err))
}

// leaveFailedRun ends the change of a service that ends by itself and has failed. Its former image gets its name back and is not run.
func (c *change) leaveFailedRun(ctx context.Context, cause error) error {
	c.r.LogWarning(ctx, "%s: it ends by itself, so its former image is not run again", c.displayName())
	c.nameFormer(ctx)
	return c.finishChange(ctx, record.ChangeFailed, cause)
}
