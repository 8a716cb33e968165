package supervisor

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/patchbay-dev/patchbay/core/plugin/client"
)

// run is the work on one operation.
type run struct {
	s  *Supervisor
	op *Operation
}

// carryOut does the steps of the operation from the one that it stands at. When ctx ends, nothing more is written: the next start
// goes on.
func (r *run) carryOut(ctx context.Context) {
	if r.op.Step == StepRollback || r.op.Step == StepRollbackWait {
		r.rollBack(ctx)
		return
	}
	if !r.op.mayHaveChanged() && len(r.op.Logs) > 0 {
		// Nothing was changed yet, and what was found then may be out of date.
		r.noteLine("warn", "The supervisor was interrupted; beginning again")
		r.restoreName(ctx)
	} else if r.op.mayHaveChanged() {
		r.noteLine("warn", "The supervisor was interrupted; going on")
	}
	err := r.replaceCore(ctx)
	switch {
	case ctx.Err() != nil:
	case err == nil:
	case r.op.mayHaveChanged() && r.op.Request.RollbackOnFailure:
		r.op.Failure = client.FailureText(err)
		r.noteLine("error", r.op.Failure)
		r.rollBack(ctx)
	default:
		if !r.op.mayHaveChanged() {
			r.restoreName(ctx)
		}
		r.endOperation(Failed, client.FailureText(err), "error")
	}
}

// replaceCore does the steps of an upgrade.
func (r *run) replaceCore(ctx context.Context) error {
	if !r.op.mayHaveChanged() {
		if done, err := r.prepareImage(ctx); done || err != nil {
			return err
		}
		if err := r.awaitJobs(ctx); err != nil {
			return err
		}
	}
	if err := r.enterStep(StepApply, "Replacing the core"); err != nil {
		return err
	}
	if err := r.recreateCore(ctx, r.op.Target, r.overrideFor(r.op.Target)); err != nil {
		return err
	}
	if err := r.enterStep(StepWait, "Waiting until the new core answers"); err != nil {
		return err
	}
	version, err := r.awaitCore(ctx, r.op.Target)
	if err != nil {
		return err
	}
	r.op.Target.Version = version
	r.endOperation(Succeeded, "The core runs version "+version, "info")
	return nil
}

// prepareImage does what changes nothing: it finds the core, pulls the image and has it tell its version. The operation may have ended then.
func (r *run) prepareImage(ctx context.Context) (ended bool, err error) {
	if err := r.enterStep(StepPrecheck, "Looking at what runs"); err != nil {
		return false, err
	}
	if err := r.s.awaitEngine(ctx); err != nil {
		return false, err
	}
	if err := r.lookAtCore(ctx); err != nil {
		return false, err
	}
	if err := r.enterStep(StepPull, "Pulling "+r.op.Target.Ref); err != nil {
		return false, err
	}
	if err := r.pullTarget(ctx); err != nil {
		return false, err
	}
	switch {
	case r.op.Target.ID == r.op.Previous.ID:
		r.endOperation(Succeeded, "The core runs this image already", "info")
		return true, nil
	}
	if err := r.checkImage(ctx); err != nil {
		return false, err
	}
	if r.op.Request.Mode == DryRun {
		r.endOperation(Succeeded, r.describePlan(), "info")
		return true, nil
	}
	return false, nil
}

// describePlan tells what an upgrade would do.
func (r *run) describePlan() string {
	text := fmt.Sprintf("Would replace %s by %s in the service %s of the project %s", describeImage(r.op.Previous), describeImage(r.op.Target), r.op.Place.Service, r.op.Place.Project)
	if r.overrideFor(r.op.Target) != "" {
		text += ", by an override of its image"
	}
	return text
}

// describeImage names an image for people.
func describeImage(i Image) string {
	parts := []string{}
	if i.Version != "" {
		parts = append(parts, "version "+i.Version)
	}
	if i.Tag != "" {
		parts = append(parts, "tag "+i.Tag)
	}
	id := strings.TrimPrefix(i.ID, "sha256:")
	return strings.Join(append(parts, "image "+id[:min(12, len(id))]), ", ")
}

// rollbackAttempts is how often a rollback recreates the former core: it may be killed, or taken away, before it answers.
const rollbackAttempts = 3

// rollBack brings the former image back, and the name and the override that it had.
func (r *run) rollBack(ctx context.Context) {
	err := r.recreateFormer(ctx)
	for attempt := 1; err != nil && ctx.Err() == nil && attempt < rollbackAttempts; attempt++ {
		r.noteLine("warn", client.FailureText(err))
		err = r.recreateFormer(ctx)
	}
	switch {
	case ctx.Err() != nil:
	case err != nil:
		r.endOperation(Failed, "The former core could not be brought back: "+client.FailureText(err), "error")
	default:
		r.endOperation(RolledBack, "The former core runs again. "+r.op.Failure, "warn")
	}
}

// recreateFormer recreates the former core and waits until it answers.
func (r *run) recreateFormer(ctx context.Context) error {
	if err := r.enterStep(StepRollback, "Bringing the former core back"); err != nil {
		return err
	}
	if err := r.s.awaitEngine(ctx); err != nil {
		return err
	}
	r.restoreName(ctx)
	if err := r.recreateCore(ctx, r.op.Previous, r.op.Place.Override); err != nil {
		return err
	}
	if err := r.enterStep(StepRollbackWait, "Waiting until the former core answers"); err != nil {
		return err
	}
	_, err := r.awaitCore(ctx, r.op.Previous)
	return err
}

// enterStep stores that a step begins.
func (r *run) enterStep(step Step, message string) error {
	r.op.Step, r.op.Message = step, message
	return r.recordLine("info", message)
}

// endOperation stores the end of the operation. If that is not possible, the next start finds it running, and looks at the engine
// again.
func (r *run) endOperation(status Status, message, level string) {
	r.op.Status, r.op.Message = status, message
	if status != Failed {
		r.op.Step = StepDone
	}
	r.noteLine(level, message)
}

// noteLine is recordLine for what may be lost.
func (r *run) noteLine(level, message string) {
	if err := r.recordLine(level, message); err != nil {
		r.s.log.Error("the state file was not written", "operation", r.op.ID, "error", err)
	}
}

// recordLine adds a line to the log of the operation and stores the operation.
func (r *run) recordLine(level, message string) error {
	r.op.Updated = time.Now().UTC()
	r.op.addLog(r.op.Updated, level, message)
	r.s.log.Log(hclogLevel(level), message, "operation", r.op.ID, "step", string(r.op.Step))
	if err := r.s.journal.Put(*r.op); err != nil {
		return fmt.Errorf("store the step: %w", err)
	}
	return nil
}
