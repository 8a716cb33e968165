package change

import (
	"context"
	"fmt"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/services/containers/record"
)

// changeStep is one step of a change.
type changeStep struct {
	name string
	do   func(context.Context) error
}

// runSteps updates the service to its target, beginning with the step in the journal. The outcome is stored in the record; an
// error is returned only if the whole job must end.
func (c *change) runSteps(ctx context.Context) error {
	return c.runFromJournal(ctx, []changeStep{{StepPull, c.pullAllowed}, {StepBackup, c.backupMounts}, {StepTag, c.tagTarget}, {StepUp, c.composeUp},
		{StepHealth, c.awaitHealth}, {StepSync, c.syncTag}, {StepExtraTags, c.pullSteps().extraTags}})
}

// backTo is the way of a manual rollback: the image is there or fetched, named, run and watched; if it does not become
// healthy, what ran before comes back.
func (c rollbackSteps) backTo(ctx context.Context) error {
	return c.runFromJournal(ctx, []changeStep{{StepPull, c.ensureFormer}, {StepTag, c.tagTarget}, {StepUp, c.composeUp},
		{StepHealth, c.awaitHealth}, {StepSync, c.syncTag}})
}

// runFromJournal runs the steps from the one in the journal on. A change that was being rolled back is rolled back.
func (c *change) runFromJournal(ctx context.Context, steps []changeStep) error {
	unlock, err := c.imageLock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	if stepOrder(c.rec.Step) < 0 {
		return c.rollbackSteps().rollBack(ctx, c.rec.Error)
	}
	for _, step := range steps {
		if stepOrder(step.name) < stepOrder(c.rec.Step) {
			continue
		}
		if err := c.journalStep(ctx, step.name); err != nil {
			return err
		}
		if err := c.runStep(ctx, step.do); err != nil {
			return c.handleFailure(ctx, step.name, err)
		}
	}
	return c.finishChange(ctx, record.ChangeSuccess, nil)
}

// ensureFormer makes sure that the engine has the image to go back to.
func (c rollbackSteps) ensureFormer(ctx context.Context) error {
	if err := c.checkAllowed(ctx); err != nil {
		return err
	}
	found, err := c.s.cfg.Host.Engine().Images(ctx, []string{c.rec.ToImage})
	if err != nil {
		return err
	}
	if len(found) == 1 && found[0] != nil {
		return nil
	}
	if c.rec.ToDigest == "" {
		return fault.New(fault.Conflict, "The previous image %s is gone.", record.ShortDigest(c.rec.ToImage))
	}
	c.target.TargetDigest = c.rec.ToDigest
	want := c.rec.ToImage
	if err := c.pullSteps().pullTarget(ctx); err != nil {
		return err
	}
	if c.rec.ToImage != want {
		return fmt.Errorf("the registry gave image %s instead of %s", record.ShortDigest(c.rec.ToImage), record.ShortDigest(want))
	}
	return nil
}
